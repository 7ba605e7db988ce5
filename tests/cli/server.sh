# server.sh - functions for test cases that need a server. A case begins with:
#
#     . "$TOP/tests/cli/server.sh"
#
# serve OPTIONS    starts "skmt serve" on a free port, waits until it is ready,
#                  and sets url and server, its process. Its standard error is
#                  in serve.log. The server ends with the shell.
# ask ARGUMENTS    curl, without progress and with a time-out
# stop_server      SIGTERM; its exit status
server=
trap '[ ! "$server" ] || kill -9 "$server" 2>/dev/null' EXIT

serve() {
    : > serve.log
    skmt serve --listen 127.0.0.1:0 "$@" 2> serve.log &
    server=$!
    local tries
    for tries in $(seq 600); do
        url=$(sed -n 's|^skmt: listening on \(.*\)/$|\1|p' serve.log)
        [ ! "$url" ] || return 0
        kill -0 "$server" 2>/dev/null || break
        sleep 0.05
    done
    cat serve.log
    return 1
}
ask() { curl --silent --show-error --max-time 60 "$@"; }
stop_server() {
    kill "$server"
    wait "$server"
    local status=$?
    server=
    return $status
}
