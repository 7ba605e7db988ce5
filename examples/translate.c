/* translate.c - the shortest program: translates one text.
 *
 *     cc translate.c $(pkg-config --cflags --libs skmt) -o translate
 *     ./translate de-en.skmt 'Guten Morgen!' */
#include <stdio.h>

#include <skmt.h>

int main(int argc, char **argv)
{
    skmt_error err;
    skmt_model *model;
    char *english;

    if (argc != 3) {
        fprintf(stderr, "usage: translate MODEL TEXT\n");
        return 2;
    }
    if (skmt_model_open(&model, argv[1], &err)) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    english = skmt_translate(model, argv[2], &err);
    if (english) puts(english);
    else fprintf(stderr, "%s\n", err.message);
    skmt_free(english);
    skmt_model_close(model);
    return english ? 0 : 1;
}
