/* session.c - sets options and reads several translations of a text.
 *
 *     ./session de-en.skmt 'Guten Morgen!'
 *
 * prints the best translation, then each of the three best with its score and
 * its pieces with their log-probabilities. */
#include <stdio.h>

#include <skmt.h>

static void print_result(const skmt_result *r)
{
    puts(skmt_result_text(r, 0));
    for (int h = 0; h < skmt_result_hyps(r); h++) {
        printf("%d. %s (%.3f)\n  ", h + 1, skmt_result_text(r, h),
               skmt_result_score(r, h));
        for (int s = 0; s < skmt_result_sentences(r); s++) {
            for (int i = 0; i < skmt_result_target_pieces(r, h, s); i++) {
                skmt_piece p = SKMT_INIT(skmt_piece);

                skmt_result_target_piece(r, h, s, i, &p);
                printf(" %s:%.2f", p.text, p.logprob);
            }
        }
        putchar('\n');
    }
}

int main(int argc, char **argv)
{
    skmt_error err;
    skmt_model *model = NULL;
    skmt_options *options = NULL;
    skmt_session *session = NULL;
    skmt_result *result = NULL;
    skmt_status st;

    if (argc != 3) {
        fprintf(stderr, "usage: session MODEL TEXT\n");
        return 2;
    }
    st = skmt_options_new(&options, &err);
    if (!st) st = skmt_options_set(options, "nbest", "3", &err);
    if (!st) st = skmt_model_open(&model, argv[1], &err);
    if (!st) st = skmt_session_new(&session, model, options, &err);
    /* A session reuses its buffers: translate as many texts as you like. */
    if (!st)
        st = skmt_session_translate(session, argv[2], NULL, &result, &err);
    if (!st) print_result(result);
    else fprintf(stderr, "%s\n", err.message);

    skmt_result_free(result);
    skmt_session_free(session);
    skmt_options_free(options);
    skmt_model_close(model);
    return st ? 1 : 0;
}
