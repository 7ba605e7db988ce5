# man_options.awk - put the program's option lists into the man page.
#
#     skmt help options | awk -f tools/man_options.awk - docs/man/skmt.1
#
# In the man page the options of a command stand between the comments
# "options of COMMAND" and "end of options". What is between them is replaced.
BEGIN { FS = "\t" }
function roff(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    if (text ~ /^[.']/) text = "\\&" text
    return text
}
FILENAME == "-" {
    off = $4 != "" ? "" : $5 == "on" ? "no\\-" : $5 == "auto" ? "[no\\-]" : ""
    flag = "\\fB\\-\\-" off roff($2) "\\fR"
    if ($3 != "") flag = "\\fB\\-" $3 "\\fR, " flag
    if ($4 != "") flag = flag " \\fI" roff($4) "\\fR"
    help = $6
    if ($4 != "" && $5 != "" && $5 != "default") help = help " (default " $5 ")"
    if ($4 == "" && $5 == "on") help = "do not " help
    list[$1] = list[$1] ".TP\n" flag "\n" roff(help) "\n"
    next
}
/^\.\\" options of / {
    print
    command = $0
    sub(/.* /, "", command)
    printf "%s", list[command]
    inside = 1
    next
}
/^\.\\" end of options/ { inside = 0 }
!inside { print }
