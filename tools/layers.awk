# layers.awk - check the order of the folders: a folder of src/ may include
# headers only of itself and of folders before it in the list below.
#
#     find src apps include -name '*.[ch]' | xargs awk -f tools/layers.awk
#
# A program in apps/ may include headers of include/, of apps/common and of its
# own folder; apps/common only those of include/ and its own. apps/cli may also
# include server/server.h, because it starts the server. include/ may not
# include headers of src/. Prints file:line of each #include that breaks these
# rules, and exits with 1 if there is any.
BEGIN {
    n = split("base text pair tm formats exchange align tensor model" \
              " convert nn knn search metrics engine api", order, " ")
    for (i = 1; i <= n; i++) level[order[i]] = i
}
/^[ \t]*#[ \t]*include[ \t]*"/ {
    split($0, quoted, "\"")
    path = quoted[2]
    split(FILENAME, here, "/")
    folder = path
    if (!sub(/\/.*/, "", folder)) next           # in the same folder
    if (here[1] == "apps" && folder == "common") next
    if (here[1] == "apps" && folder == here[2]) next
    if (here[1] == "apps" && here[2] == "cli" && path == "server/server.h") next
    if (here[1] == "apps")
        complain("apps/" here[2] " may include only what is in include/" \
                 " and apps/common, not " path)
    else if (here[1] != "src")
        complain(here[1] " may include only what is in include/, not " path)
    else if (!(folder in level))
        complain("the folder of " path " is not in the list of tools/layers.awk")
    else if (!(here[2] in level))
        complain("the folder " here[2] " is not in the list of tools/layers.awk")
    else if (level[folder] > level[here[2]])
        complain(here[2] " may not include " path)
}
function complain(what) {
    print FILENAME ":" FNR ": " what
    bad = 1
}
END { exit bad }
