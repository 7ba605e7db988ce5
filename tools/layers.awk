# layers.awk - a folder of src/ includes only itself and folders above it.
#
#     find src apps include -name '*.[ch]' | xargs awk -f tools/layers.awk
#
# Prints file:line of what breaks the order and fails. apps/ see include/ only
# and their own folder; include/ sees nothing of src/.
BEGIN {
    n = split("base text formats tm tensor model convert nn knn search" \
              " metrics engine api", order, " ")
    for (i = 1; i <= n; i++) level[order[i]] = i
}
/^[ \t]*#[ \t]*include[ \t]*"/ {
    split($0, quoted, "\"")
    path = quoted[2]
    split(FILENAME, here, "/")
    folder = path
    if (!sub(/\/.*/, "", folder)) next           # a file beside this one
    if (here[1] != "src")
        complain(here[1] " may include only what is in include/, not " path)
    else if (!(folder in level))
        complain(path " is in no folder of the order")
    else if (!(here[2] in level))
        complain(here[2] " is no folder of the order")
    else if (level[folder] > level[here[2]])
        complain(here[2] " may not include " path)
}
function complain(what) {
    print FILENAME ":" FNR ": " what
    bad = 1
}
END { exit bad }
