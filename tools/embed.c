/* embed.c - writes files as C source, so that they become part of the program.
 *
 *     embed FILE... > page_files.c
 *
 * The result is the list `page_files` of apps/server/page_files.h, in the order
 * of the arguments. A file of an unknown type is an error. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char *const types[][2] = {
    { ".html", "text/html; charset=utf-8" },
    { ".js", "text/javascript; charset=utf-8" },
    { ".css", "text/css; charset=utf-8" },
    { ".svg", "image/svg+xml" },
    { ".png", "image/png" },
    { ".json", "application/json" },
    { ".txt", "text/plain; charset=utf-8" },
    { NULL, NULL }
};

static const char *embed_base(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static const char *embed_type(const char *path)
{
    const char *dot = strrchr(path, '.');

    for (int i = 0; dot && types[i][0]; i++)
        if (!strcmp(dot, types[i][0])) return types[i][1];
    fprintf(stderr, "embed: %s: unknown type of file\n", path);
    return NULL;
}

/* Prints the bytes of a file as array number i; *hash gets their FNV-1a. */
static int embed_bytes(const char *path, int i, uint64_t *hash)
{
    FILE *f = fopen(path, "rb");
    size_t n = 0;
    int c;

    if (!f) {
        perror(path);
        return 0;
    }
    *hash = 14695981039346656037u;
    printf("static const unsigned char file%d[] = {", i);
    for (; (c = getc(f)) != EOF; n++) {
        printf("%s%d,", n % 20 ? "" : "\n", c);
        *hash = (*hash ^ (unsigned)c) * 1099511628211u;
    }
    printf("\n0 };\n");
    return !fclose(f);
}

int main(int argc, char **argv)
{
    uint64_t hash[256];

    if (argc > 256) return 2;
    printf("/* page_files.c - written by tools/embed.c. */\n"
           "#include \"server/page_files.h\"\n\n");
    for (int i = 1; i < argc; i++)
        if (!embed_bytes(argv[i], i, &hash[i])) return 1;
    printf("const struct page_file page_files[] = {\n");
    for (int i = 1; i < argc; i++) {
        const char *type = embed_type(argv[i]);

        if (!type) return 1;
        printf("    { \"%s\", \"%s\", file%d, sizeof file%d - 1,\n"
               "      \"%016llx\" },\n",
               embed_base(argv[i]), type, i, i, (unsigned long long)hash[i]);
    }
    printf("    { 0, 0, 0, 0, 0 }\n};\n");
    return ferror(stdout) || fflush(stdout);
}
