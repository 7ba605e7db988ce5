/* stream.c - translates a corpus line by line, in batches and on two threads;
 * the results come in the order of the lines.
 *
 *     ./stream de-en.skmt < german.txt > english.txt */
#include <stdio.h>
#include <stdlib.h>

#include <skmt.h>

/* Called for each line, in order, on a thread of the stream. */
static int print_line(void *user, uint64_t number, skmt_result *result,
                      const skmt_error *err)
{
    FILE *out = user;

    if (!result) {
        fprintf(stderr, "line %llu: %s\n", (unsigned long long)number + 1,
                err->message);
        return 1;                       /* cancel the stream */
    }
    fprintf(out, "%s\n", skmt_result_text(result, 0));
    return ferror(out);
}

int main(int argc, char **argv)
{
    skmt_error err;
    skmt_model *model = NULL;
    skmt_options *options = NULL;
    skmt_stream *stream = NULL;
    skmt_status st;
    char *line = NULL;
    size_t cap = 0;
    ssize_t len;

    if (argc != 2) {
        fprintf(stderr, "usage: stream MODEL < TEXT\n");
        return 2;
    }
    st = skmt_options_new(&options, &err);
    if (!st) st = skmt_options_set(options, "threads", "2", &err);
    if (!st) st = skmt_model_open(&model, argv[1], &err);
    if (!st)
        st = skmt_stream_new(&stream, model, options, print_line, stdout,
                             &err);
    while (!st && (len = getline(&line, &cap, stdin)) > 0) {
        if (line[len - 1] == '\n') line[len - 1] = 0;
        st = skmt_stream_push(stream, line, NULL, &err);
    }
    if (!st) st = skmt_stream_flush(stream, &err);
    if (st && st != SKMT_ERR_CANCELED) fprintf(stderr, "%s\n", err.message);

    free(line);
    skmt_stream_free(stream);
    skmt_options_free(options);
    skmt_model_close(model);
    return st ? 1 : 0;
}
