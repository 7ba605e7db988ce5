# opaque.awk - check that modules keep their structs to themselves.
#
#     find src tests bench -name '*.[ch]' | xargs awk -f tools/opaque.awk
#
# A header NAME_internal.h may be included only by files of its module, whose
# names are NAME.c, NAME_other.c and so on, and by modules that it names in a line "Also for: a,
# b." of its comment. A struct that a header declares with "struct x; /* opaque
# */" may be defined only in a .c file or in such an internal header. So the
# compiler lets nobody else read its fields. Prints file:line of each violation,
# and exits with 1 if there is any.
function base(path) {
    sub(/.*\//, "", path)
    return path
}
/^[ \t]*#[ \t]*include[ \t]*"[^"]*_internal\.h"/ {
    split($0, quoted, "\"")
    n_includes++
    where[n_includes] = FILENAME ":" FNR
    by[n_includes] = base(FILENAME)
    header[n_includes] = base(quoted[2])
}
base(FILENAME) ~ /_internal\.h$/ && /^ \* Also for: / {
    others[base(FILENAME)] = substr($0, index($0, ": ") + 2)
}
/^struct [a-z0-9_]+;.*opaque/ {
    name = $2
    sub(/;.*/, "", name)
    declared[name] = FILENAME
}
/^struct [a-z0-9_]+ \{/ && FILENAME ~ /\.h$/ && FILENAME !~ /_internal\.h$/ {
    defined[$2] = FILENAME ":" FNR
}
# Whether a file belongs to the module of an internal header.
function belongs(file, internal,    n, i, names) {
    n = split(others[internal], names, /[ ,.]+/)
    names[++n] = substr(internal, 1, length(internal) - length("_internal.h"))
    for (i = 1; i <= n; i++)
        if (names[i] != "" && file ~ "^" names[i] "[_.]") return 1
    return 0
}
END {
    for (i = 1; i <= n_includes; i++)
        if (!belongs(by[i], header[i])) {
            print where[i] ": " header[i] " is for its own module"
            bad = 1
        }
    for (name in declared)
        if (name in defined) {
            print defined[name] ": struct " name " is opaque in " declared[name]
            bad = 1
        }
    exit bad
}
