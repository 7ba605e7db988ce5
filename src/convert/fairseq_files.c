/* fairseq_files.c - finds files by their names. Only those at the top of the
 * set count. */
#include "convert/fairseq_files.h"

#include <ctype.h>
#include <string.h>

static bool name_ends(const char *name, const char *end)
{
    size_t n = strlen(name), k = strlen(end);

    return n > k && !strcmp(name + n - k, end);
}

/* Whether a name has a language as one of its words: "spm.de.model" has "de".
 */
static bool name_has_word(const char *name, const char *word)
{
    size_t n = strlen(word);

    for (const char *at = name; n && (at = strstr(at, word)); at++)
        if ((at == name || !isalnum((unsigned char)at[-1])) &&
            !isalnum((unsigned char)at[n]))
            return true;
    return false;
}

/* A file of BPE codes: "ende30k.fastbpe.code", "bpecodes", "bpe.codes". */
static bool names_codes(const char *name)
{
    return strstr(name, "code") && !strchr(name, '/') &&
           strncmp(name, "dict.", 5) && !name_ends(name, ".pt") &&
           !name_ends(name, ".py") && !name_ends(name, ".md") &&
           !name_ends(name, ".json");
}

static bool names_spm(const char *name)
{
    return !strchr(name, '/') &&
           (name_ends(name, ".model") || name_ends(name, ".spm"));
}

typedef bool file_kind_fn(const char *name);

/* How many files of a kind there are; *file is the last one. With a language,
 * only those that have it in their names. */
static int count_files(struct file_set *s, file_kind_fn *kind,
                       const char *language, const char **file)
{
    int n = 0;

    for (int i = 0; i < file_set_count(s); i++) {
        const char *name = file_set_name(s, i);

        if (!kind(name) || (language && !name_has_word(name, language)))
            continue;
        *file = name;
        n++;
    }
    return n;
}

bool fairseq_files_have_codes(struct file_set *s)
{
    const char *file;

    return count_files(s, names_codes, NULL, &file) > 0;
}

bool fairseq_files_have_spm(struct file_set *s)
{
    const char *file;

    return count_files(s, names_spm, NULL, &file) > 0;
}

/* Whether it is clear which of n files is meant. */
static bool choose_codes(const char **file, struct file_set *s, int n,
                         const char *language)
{
    static const char *const usual[] = { "bpecodes", "code", "codes",
                                         "bpe.codes" };
    const char *other;

    if (n <= 1) return n == 1;
    if (count_files(s, names_codes, language, &other) == 1) {
        *file = other;
        return true;
    }
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (file_set_has(s, usual[i], NULL)) {
            *file = usual[i];
            return true;
        }
    return false;
}

enum status fairseq_files_codes(const char **file, struct file_set *s,
                                const char *language, struct err *e)
{
    int n;

    *file = NULL;
    n = count_files(s, names_codes, NULL, file);
    if (choose_codes(file, s, n, language)) return ST_OK;
    if (!n)
        return err_set(e, ST_FORMAT, "%s: there are no BPE codes, such as "
                       "\"bpecodes\"", file_set_path(s));
    return err_set(e, ST_FORMAT, "%s: there are %d files of BPE codes, such as "
                   "\"%.60s\"; keep the one of the model, or call it "
                   "\"bpecodes\"", file_set_path(s), n, *file);
}

const char *fairseq_files_spm(struct file_set *s, const char *language)
{
    const char *file = NULL;

    return count_files(s, names_spm, language, &file) == 1 ? file : NULL;
}
