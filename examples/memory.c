/* memory.c - stores a pair in a translation memory, or finds similar ones.
 *
 *     ./memory my.tm 'Guten Tag, Welt.' 'Good day, world.'   stores the pair
 *     ./memory my.tm 'Guten Tag!'                            finds it
 *
 * For each match it prints the similarity, the target, and the source with the
 * differences marked: [-only in the memory-], {+only in the text+}. */
#include <stdio.h>

#include <skmt.h>

static void print_difference(const skmt_matches *found, int i,
                             const char *text)
{
    size_t begin, end;
    skmt_match m = SKMT_INIT(skmt_match);
    char kind;

    skmt_matches_get(found, i, &m);
    for (int k = 0; skmt_matches_edit(found, i, k, &kind, &begin, &end); k++)
        printf("%s%.*s%s", kind == '-' ? "[-" : kind == '+' ? "{+" : "",
               (int)(end - begin),
               (kind == '+' ? text : m.pair->source) + begin,
               kind == '-' ? "-]" : kind == '+' ? "+}" : "");
    putchar('\n');
}

static skmt_status find(skmt_tm *tm, const char *text, skmt_error *err)
{
    skmt_matches *found;
    skmt_match m = SKMT_INIT(skmt_match);
    skmt_status st;

    /* Without options the search returns the 16 best matches; without a model
     * the similarity counts words instead of pieces. */
    st = skmt_tm_search(tm, text, NULL, NULL, &found, err);
    if (st) return st;
    for (int i = 0; i < skmt_matches_count(found); i++) {
        skmt_matches_get(found, i, &m);
        printf("%.0f%%  %s\n      ", 100 * m.similarity, m.pair->target);
        print_difference(found, i, text);
    }
    skmt_matches_free(found);
    return SKMT_OK;
}

int main(int argc, char **argv)
{
    skmt_tm *tm = NULL;
    skmt_error err;
    skmt_status st;
    int64_t id;

    if (argc != 3 && argc != 4) {
        fprintf(stderr, "usage: memory FILE SOURCE [TARGET]\n");
        return 2;
    }
    st = skmt_tm_open(&tm, argv[1], SKMT_TM_CREATE, &err);
    /* skmt_tm_add() creates a memory if the file has none. */
    if (!st && argc == 4)
        st = skmt_tm_add(tm, NULL, argv[2], argv[3], &id, &err);
    else if (!st)
        st = find(tm, argv[2], &err);
    if (st) fprintf(stderr, "%s\n", err.message);
    skmt_tm_close(tm);
    return st ? 1 : 0;
}
