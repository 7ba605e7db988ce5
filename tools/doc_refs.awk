# doc_refs.awk - check that what comments and documents refer to exists.
#
#     awk -f tools/doc_refs.awk docs/method.md FILE ...
#
# The first file is the description of the method; its headings have numbers
# ("### 1.8 Neighbors, lambda and the mixture"). In this file and in all others
# these references are checked:
#
#   method 1.8, method.md 1.8       there must be a heading with this number;
#                                   a line may end between the two words
#   (1.8), (1.7, 1.8)               the same, in method.md, papers.md and
#                                   glossary.md, outside of code
#   `src/tm/bm25.c: share, bar`     in documents (*.md): the file must contain
#                                   each of these names
#
# Paths are relative to the current folder. Prints what is missing as
# FILE:LINE and exits with 1.

BEGIN {
    NUMBER = "[0-9]+\\.[0-9]+"
    REFERENCE = "[Mm]ethod(\\.md)? " NUMBER
    IN_PARENTHESES = "\\(" NUMBER "(, " NUMBER ")*\\)"
    METHOD = ARGV[1]
    while ((getline line < METHOD) > 0)
        if (line ~ "^#+ " NUMBER " ") read_heading(line)
    close(METHOD)
}

function report(text)
{
    print FILENAME ":" FNR ": " text
    failed = 1
}

function read_heading(line)
{
    match(line, NUMBER)
    headings[substr(line, RSTART, RLENGTH)]++
}

# Check that each number in the matches of `pattern` is one of a section.
function check_references(line, pattern,    ref, number)
{
    while (match(line, pattern)) {
        ref = substr(line, RSTART, RLENGTH)
        line = substr(line, RSTART + RLENGTH)
        while (match(ref, NUMBER)) {
            number = substr(ref, RSTART, RLENGTH)
            ref = substr(ref, RSTART + RLENGTH)
            if (!(number in headings))
                report("there is no section " number " in " METHOD)
        }
    }
}

# Collect the words of a source file in words[]. A file is read only once.
function read_words(path,    line, n, i, word)
{
    if (path in words_read) return
    words_read[path] = 0
    while ((getline line < path) > 0) {
        words_read[path] = 1
        n = split(line, word, /[^A-Za-z0-9_]+/)
        for (i = 1; i <= n; i++) words[path, word[i]] = 1
    }
    close(path)
}

function check_names(span,    colon, path, n, i, name)
{
    colon = index(span, ": ")
    path = substr(span, 1, colon - 1)
    read_words(path)
    if (!words_read[path]) {
        report("there is no file " path)
        return
    }
    n = split(substr(span, colon + 2), name, /, */)
    for (i = 1; i <= n; i++)
        if (!((path, name[i]) in words))
            report(path " has no " name[i])
}

FNR == 1 {
    ends_in_method = 0
    open_span = ""
}

{
    line = $0
    if (ends_in_method) {
        sub(/^[ \t*#>\/-]+/, "", line)
        line = "method " line
    }
    check_references(line, REFERENCE)
    if (FILENAME ~ /(method|papers|glossary)\.md$/ && $0 !~ /^    /)
        check_references($0, IN_PARENTHESES)
    ends_in_method = $0 ~ /[Mm]ethod(\.md)?$/
}

# A code span may continue on the next line, but not past an empty line.
FILENAME ~ /\.md$/ {
    text = open_span == "" || $0 == "" ? $0 : open_span " " $0
    n_spans = split(text, spans, "`")
    ends = $0 == "" || n_spans % 2 || $0 ~ /^```/
    open_span = ends ? "" : "`" spans[n_spans]
    for (i = 2; i <= n_spans - (open_span != ""); i += 2) {
        gsub(/[ \t]+/, " ", spans[i])
        if (spans[i] ~ /^[a-z]+\/[A-Za-z0-9_\/.]+: [a-z]/)
            check_names(spans[i])
    }
}

END {
    for (h in headings)
        if (headings[h] > 1) {
            print METHOD ": there are " headings[h] " sections " h
            failed = 1
        }
    exit failed
}
