/* steer.c - translates with a memory and explains its influence.
 *
 *     ./steer MODEL my.tm 'Guten Abend, Welt.'
 *
 * Prints the translation, the share of the memory in the probability of each
 * piece, and the similar pairs that were found. */
#include <stdio.h>

#include <skmt.h>

static void print_words(const skmt_result *r)
{
    const char *text = skmt_result_text(r, 0);

    printf("%s\n", text);
    for (int i = 0; i < skmt_result_target_pieces(r, 0, 0); i++) {
        skmt_piece p = SKMT_INIT(skmt_piece);

        skmt_result_target_piece(r, 0, 0, i, &p);
        printf("%4.0f%%  %.*s\n",
               100 * skmt_result_weight(r, 0, 0, i, NULL),
               (int)(p.end - p.begin), text + p.begin);
    }
}

static void print_pairs(const skmt_result *r)
{
    for (int i = 0; i < skmt_result_pairs(r, 0); i++) {
        skmt_found_pair pair = SKMT_INIT(skmt_found_pair);

        skmt_result_pair(r, 0, i, &pair);
        printf("%.0f%% similar%s: %s = %s\n", 100 * pair.similarity,
               pair.exact ? ", reused" : "", pair.source,
               pair.target);
    }
}

int main(int argc, char **argv)
{
    skmt_options *o = NULL;
    skmt_model *model = NULL;
    skmt_tm *tm = NULL;
    skmt_session *s = NULL;
    skmt_result *r = NULL;
    skmt_error err;
    skmt_status st;

    if (argc != 4) {
        fprintf(stderr, "usage: steer MODEL MEMORY TEXT\n");
        return 2;
    }
    st = skmt_model_open(&model, argv[1], &err);
    if (!st) st = skmt_tm_open(&tm, argv[2], SKMT_TM_WRITE, &err);
    if (!st) st = skmt_options_new(&o, &err);
    if (!st) st = skmt_options_set(o, "explain", "1", &err);
    if (!st) st = skmt_session_new(&s, model, o, &err);
    if (!st) st = skmt_session_use(s, tm, NULL, &err);
    if (!st) st = skmt_session_translate(s, argv[3], NULL, &r, &err);
    if (!st) {
        print_words(r);
        print_pairs(r);
    } else {
        fprintf(stderr, "%s\n", err.message);
    }
    skmt_result_free(r);
    skmt_session_free(s);
    skmt_tm_close(tm);
    skmt_model_close(model);
    skmt_options_free(o);
    return st != SKMT_OK;
}
