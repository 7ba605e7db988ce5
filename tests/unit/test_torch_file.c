/* test_torch_file.c - reads the files of torch.save() in tests/data/torch,
 * which tools/torch_samples.py and tools/gen_torch_files.py made, and files
 * that are damaged or wrong. */
#include "test.h"

#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <unistd.h>
#include <zlib.h>

#include "../memory_stream.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "convert/torch_file.h"
#include "scratch_dir.h"

static char *read_sample(const char *name, const char *end, size_t *size)
{
    char path[100], *text = NULL;
    struct err e;

    snprintf(path, sizeof path, "../data/torch/%s%s", name, end);
    CHECK_OK(file_read(&text, size, test_data(path), 1 << 20, &e), &e);
    return text;
}

/* ---- files of PyTorch ---- */

static const char *type_name(enum element type)
{
    static const char *const names[] = {
        "float32", "float16", "bfloat16", "float64", "int8", "uint8", "int16",
        "int32", "int64", "other"
    };

    return names[type];
}

/* The values of a tensor of at most two dimensions, read in steps of `rows`
 * rows from the end to the start. */
static void check_values(struct tensor_file *f, const struct file_tensor *t,
                         const json_t *want, int64_t rows)
{
    int64_t n = file_tensor_rows(t), cols = file_tensor_cols(t);
    float *got = calloc((size_t)(n * cols) + 1, sizeof *got);
    struct err e;

    for (int64_t end = n; end > 0; end -= rows) {
        int64_t row = end > rows ? end - rows : 0;

        CHECK_OK(tensor_file_read(f, t, row, end - row, got + row * cols, &e),
                 &e);
    }
    CHECK_INT(json_array_size(want), n * cols);
    for (int64_t i = 0; i < n * cols; i++)
        if (got[i] !=
            (float)json_number_value(json_array_get(want, (size_t)i)))
            test_fail(__FILE__, __LINE__, "%s: element %lld is %g", t->name,
                      (long long)i, got[i]);
    free(got);
}

static void check_torch_tensor(struct tensor_file *f, const char *name,
                               const json_t *want)
{
    const struct file_tensor *t = tensor_file_find(f, name);
    const json_t *shape = json_object_get(want, "shape");
    const char *type = json_string_value(json_object_get(want, "type"));

    if (!t) {
        test_fail(__FILE__, __LINE__, "there is no tensor %s", name);
        return;
    }
    CHECK_STR(type_name(t->type), strcmp(type, "bool") ? type : "uint8");
    CHECK_INT(t->n_dims, json_array_size(shape));
    for (int i = 0; i < FILE_TENSOR_DIMS; i++)
        CHECK_INT(t->shape[i], i < t->n_dims ? json_integer_value(
                                   json_array_get(shape, (size_t)i)) : 1);
    if (t->type == ELEMENT_OTHER || t->n_dims > 2) return;
    for (int64_t rows = 1; rows <= 5; rows += 2)
        check_values(f, t, json_object_get(want, "values"), rows);
}

static void check_torch_file(const char *name, const char *dict)
{
    size_t size, n_text;
    char *bytes = read_sample(name, ".pt", &size);
    char *text = read_sample(name, ".json", &n_text);
    json_t *want = json_loads(text, 0, NULL), *entry;
    struct tensor_file *f;
    const char *key;
    struct err e;

    REQUIRE(bytes && want);
    REQUIRE_OK(torch_file_open(&f, memory_stream_new(bytes, size), dict, &e),
               &e);
    CHECK_INT(f->n, json_object_size(want));
    json_object_foreach(want, key, entry) check_torch_tensor(f, key, entry);
    tensor_file_close(f);
    json_decref(want);
    free(bytes);
    free(text);
}

TEST(reads_the_zip_form)
{
    check_torch_file("real_zip", NULL);
    check_torch_file("real_protocol4", NULL);
    check_torch_file("zip", NULL);
}

TEST(reads_the_older_form)
{
    check_torch_file("real_legacy", NULL);
    check_torch_file("older", NULL);
}

TEST(reads_a_nested_dict)
{
    check_torch_file("real_zip_checkpoint", "model");
    check_torch_file("real_legacy_checkpoint", "model");
    check_torch_file("checkpoint", "model");
}

TEST(gives_what_is_besides_tensors)
{
    static const char *const names[] = { "real_zip_checkpoint",
                                         "real_legacy_checkpoint" };

    for (size_t i = 0; i < COUNT(names); i++) {
        size_t size;
        char *bytes = read_sample(names[i], ".pt", &size);
        const struct pickle_value *root, *args;
        struct tensor_file *f;
        struct err e;
        int64_t layers = 0;

        REQUIRE_OK(torch_file_open(&f, memory_stream_new(bytes, size),
                                   "model", &e), &e);
        root = torch_file_root(f);
        args = pickle_get(root, "args");
        CHECK_STR(pickle_global(args), "argparse.Namespace");
        CHECK(pickle_int(pickle_get(args, "encoder_layers"), &layers) &&
              layers == 6);
        CHECK_STR(pickle_string(pickle_get(args, "arch")), "transformer");
        tensor_file_close(f);
        free(bytes);
    }
}

/* ---- made-up files of the older form ---- */

/* The pickles before the object, with a number of protocol 1001 and the order
 * of bytes as an opcode: 0x88 little-endian, 0x89 big-endian. */
static void put_head(struct strbuf *b, const char *version, char little)
{
    static const char magic[] = "\x80\x02\x8a\nl\xfc\x9c\x46\xf9 j\xa8P\x19.";

    strbuf_add(b, magic, sizeof magic - 1);
    strbuf_adds(b, version);
    strbuf_addf(b, "\x80\x02}X\x0d%c%c%clittle_endian", 0, 0, 0);
    strbuf_addc(b, little);
    strbuf_adds(b, "s.");
}

/* An int, as LONG1. */
static void put_int(struct strbuf *b, int64_t v)
{
    strbuf_adds(b, "\x8a\x08");
    for (int i = 0; i < 8; i++) strbuf_addc(b, (char)(v >> 8 * i));
}

static void put_ints(struct strbuf *b, const int64_t *v, int n)
{
    strbuf_addc(b, '(');
    for (int i = 0; i < n; i++) put_int(b, v[i]);
    strbuf_addc(b, 't');
}

static void put_text(struct strbuf *b, const char *text)
{
    strbuf_addf(b, "U%c%s", (int)strlen(text), text);
}

#define STORED 24               /* elements of most storages */

struct made_tensor {
    const char *make;           /* the function; NULL: _rebuild_tensor_v2 */
    const char *type;           /* of the storage; NULL: FloatStorage */
    int64_t more;               /* elements of the storage - STORED */
    int64_t offset;
    int64_t shape[2], stride[2];
    int fewer_dims;             /* than 2 */
    int64_t part_first, part_n; /* part_n 0: no part */
};

static void put_tensor(struct strbuf *b, const struct made_tensor *t)
{
    strbuf_addf(b, "ctorch._utils\n%s\n(", t->make ? t->make
                                                   : "_rebuild_tensor_v2");
    strbuf_adds(b, "(");
    put_text(b, "storage");
    strbuf_addf(b, "ctorch\n%s\n", t->type ? t->type : "FloatStorage");
    put_text(b, "7");
    put_text(b, "cpu");
    put_int(b, STORED + t->more);
    if (!t->part_n) {
        strbuf_addc(b, 'N');
    } else {
        strbuf_addc(b, '(');
        put_text(b, "8");
        put_int(b, t->part_first);
        put_int(b, t->part_n);
        strbuf_addc(b, 't');
    }
    strbuf_adds(b, "tQ");
    put_int(b, t->offset);
    put_ints(b, t->shape, 2 - t->fewer_dims);
    put_ints(b, t->stride, 2 - t->fewer_dims);
    strbuf_adds(b, "tR");
}

/* A file with the tensor "x" and n floats 0, 1, .. in its storage. */
static void put_file(struct strbuf *b, const struct made_tensor *t, int64_t n)
{
    put_head(b, "\x80\x02M\xe9\x03.", (char)0x88);
    strbuf_adds(b, "\x80\x02}U\x01x");
    put_tensor(b, t);
    strbuf_adds(b, "s.\x80\x02]U\x01" "7a.");
    for (int i = 0; i < 8; i++) strbuf_addc(b, (char)(n >> 8 * i));
    for (int64_t i = 0; i < n; i++) {
        float v = (float)i;

        strbuf_add(b, &v, sizeof v);
    }
}

static enum status open_bytes(struct tensor_file **f, const struct strbuf *b,
                              const char *dict, struct err *e)
{
    return torch_file_open(f, memory_stream_new(b->data, b->len), dict, e);
}

static void check_message(const char *got, const char *want)
{
    if (!strstr(got, want))
        test_fail(__FILE__, __LINE__, "\"%s\", want \"%s\"", got, want);
}

#define MADE(...) (&(struct made_tensor){ __VA_ARGS__ })

/* The file with this tensor and STORED floats is refused. */
static void refused(const struct made_tensor *t, const char *why)
{
    struct tensor_file *f;
    struct strbuf b;
    struct err e = { 0 };

    strbuf_init(&b, 0);
    put_file(&b, t, STORED);
    CHECK_INT(open_bytes(&f, &b, NULL, &e), ST_FORMAT);
    CHECK(!f);
    check_message(e.msg, why);
    tensor_file_close(f);
    strbuf_release(&b);
}

static void reads_as(const struct made_tensor *t, const float *want, int n)
{
    struct tensor_file *f = NULL;
    struct strbuf b;
    struct err e;
    float got[STORED];

    strbuf_init(&b, 0);
    put_file(&b, t, STORED);
    if (CHECK_OK(open_bytes(&f, &b, NULL, &e), &e)) {
        CHECK_INT(file_tensor_rows(f->at) * file_tensor_cols(f->at), n);
        CHECK_OK(tensor_file_read(f, f->at, 0, file_tensor_rows(f->at), got,
                                  &e), &e);
        CHECK_MEM(got, want, (size_t)n * sizeof *want);
    }
    tensor_file_close(f);
    strbuf_release(&b);
}

#define READS(t, ...)                                                       \
    reads_as(t, (const float[]){ __VA_ARGS__ },                             \
             (int)COUNT(((const float[]){ __VA_ARGS__ })))

TEST(views_follow_their_strides)
{
    READS(MADE(.shape = { 2, 3 }, .stride = { 3, 1 }), 0, 1, 2, 3, 4, 5);
    READS(MADE(.shape = { 2, 3 }, .stride = { 6, 1 }), 0, 1, 2, 6, 7, 8);
    READS(MADE(.shape = { 2, 3 }, .stride = { 1, 2 }), 0, 2, 4, 1, 3, 5);
    READS(MADE(.shape = { 3, 1 }, .stride = { 5, 9 }), 0, 5, 10);
    READS(MADE(.shape = { 1, 3 }, .stride = { 99, 7 }), 0, 7, 14);
    READS(MADE(.shape = { 2, 2 }, .stride = { 0, 0 }, .offset = 23),
          23, 23, 23, 23);
    READS(MADE(.shape = { 2, 2 }, .stride = { 0, 3 }), 0, 3, 0, 3);
    READS(MADE(.shape = { 3 }, .stride = { 11 }, .fewer_dims = 1, .offset = 1),
          1, 12, 23);
    READS(MADE(.fewer_dims = 2, .offset = 23), 23);
    READS(MADE(.shape = { 2, 2 }, .stride = { 2, 1 }, .offset = 1,
               .part_first = 19, .part_n = 5), 20, 21, 22, 23);
}

TEST(views_outside_their_storage_are_refused)
{
    const char *outside = "tensor \"x\" lies outside its storage";
    const char *shape = "tensor \"x\" has a shape that is not valid";

    refused(MADE(.shape = { 5, 5 }, .stride = { 5, 1 }), outside);
    refused(MADE(.shape = { 4, 6 }, .stride = { 6, 1 }, .offset = 1), outside);
    refused(MADE(.shape = { 1 }, .stride = { 1 }, .fewer_dims = 1,
                 .offset = STORED), outside);
    refused(MADE(.shape = { 2, 2 }, .stride = { 2, 1 }, .offset = 2,
                 .part_first = 19, .part_n = 5), outside);
    refused(MADE(.shape = { 2, 2 }, .stride = { 2, 1 }, .part_first = 20,
                 .part_n = 5), "tensor \"x\" shows a part that lies outside");
    refused(MADE(.shape = { -1, 2 }, .stride = { 2, 1 }), shape);
    refused(MADE(.shape = { 2, 2 }, .stride = { -2, 1 }), shape);
    refused(MADE(.shape = { 2, 2 }, .stride = { 2, 1 }, .offset = -1), shape);
    refused(MADE(.shape = { INT64_MAX, 3 }, .stride = { 0, 0 }), shape);
    refused(MADE(.shape = { 3, 3 }, .stride = { INT64_MAX, INT64_MAX }),
            shape);
    refused(MADE(.shape = { 3, 2 }, .stride = { INT64_MAX, 1 }), outside);
    refused(MADE(.shape = { 1 << 30, 1 }, .stride = { 0, 0 }),
            "tensor \"x\" shows its elements too often");
    refused(MADE(.more = -STORED - 1), "external data that are no storage");
    refused(MADE(.more = 1), "the storage \"7\" has another size than the "
                           "values say");
    refused(MADE(.type = "StrangeStorage"),
            "the storage \"7\" has the unknown type torch.StrangeStorage");
}

TEST(empty_tensors_are_read)
{
    struct tensor_file *f = NULL;
    struct strbuf b;
    struct err e;

    strbuf_init(&b, 0);
    put_file(&b, MADE(.shape = { 0, INT64_MAX }, .stride = { INT64_MAX, 1 },
                      .more = -STORED, .offset = INT64_MAX), 0);
    REQUIRE_OK(open_bytes(&f, &b, NULL, &e), &e);
    CHECK_INT(f->at[0].shape[0], 0);
    tensor_file_close(f);
    strbuf_release(&b);
}

TEST(tensors_of_unknown_kinds_are_listed)
{
    static const char *const kinds[] = { "_rebuild_qtensor",
                                         "_rebuild_sparse_tensor" };

    for (size_t i = 0; i < COUNT(kinds); i++) {
        struct tensor_file *f = NULL;
        struct strbuf b;
        struct err e;
        float v;

        strbuf_init(&b, 0);
        put_file(&b, MADE(.make = kinds[i]), STORED);
        REQUIRE_OK(open_bytes(&f, &b, NULL, &e), &e);
        CHECK_INT(f->at[0].type, ELEMENT_OTHER);
        CHECK_INT(tensor_file_read(f, f->at, 0, 1, &v, &e), ST_FORMAT);
        CHECK_STR(e.msg, "memory: tensor \"x\" has a type that cannot be "
                         "read");
        tensor_file_close(f);
        strbuf_release(&b);
    }
}

/* A file of the older form whose object is this pickle. */
static void refused_object(const char *object, const char *dict,
                           const char *why)
{
    struct tensor_file *f;
    struct strbuf b;
    struct err e = { 0 };

    strbuf_init(&b, 0);
    put_head(&b, "\x80\x02M\xe9\x03.", (char)0x88);
    strbuf_adds(&b, object);
    strbuf_adds(&b, "\x80\x02].");
    CHECK_INT(open_bytes(&f, &b, dict, &e), ST_FORMAT);
    check_message(e.msg, why);
    tensor_file_close(f);
    strbuf_release(&b);
}

TEST(files_without_tensors_are_refused)
{
    refused_object("}.", NULL, "it contains no tensors");
    refused_object("}.", "model", "the file has no dict \"model\"");
    refused_object("}U\x05modelNs.", "model",
                   "the file has no dict \"model\"");
    refused_object("cos\nsystem\nU\x02ls\x85R.", NULL,
                   "the file does not contain a dict of tensors, but an "
                   "object os.system");
    refused_object("].", NULL, "but a list");
    refused_object("}U\x01xcos\nsystem\nU\x02ls\x85Rs.", NULL,
                   "it contains no tensors");
}

/* What would run a program is an object that nobody looks at. */
TEST(nothing_is_executed)
{
    struct tensor_file *f = NULL;
    struct scratch s;
    struct strbuf b;
    struct err e;

    REQUIRE(scratch_make(&s));
    strbuf_init(&b, 0);
    put_head(&b, "\x80\x02M\xe9\x03.", (char)0x88);
    strbuf_adds(&b, "\x80\x02}U\x01" "acos\nsystem\n");
    strbuf_addf(&b, "X%c%c%c%ctouch %s/owned", (int)strlen(s.dir) + 12, 0, 0,
                0, s.dir);
    strbuf_adds(&b, "\x85RsU\x01x");
    put_tensor(&b, MADE(.shape = { 2, 2 }, .stride = { 2, 1 },
                        .more = 4 - STORED));
    strbuf_adds(&b, "s.\x80\x02]U\x01" "7a.");
    strbuf_add(&b, "\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 24);
    REQUIRE_OK(open_bytes(&f, &b, NULL, &e), &e);
    CHECK_INT(f->n, 1);
    CHECK_STR(pickle_global(pickle_get(torch_file_root(f), "a")),
              "os.system");
    CHECK(access(scratch_path(&s, "owned"), F_OK));
    tensor_file_close(f);
    strbuf_release(&b);
    scratch_remove(&s);
}

/* ---- heads ---- */

static void refused_head(const char *version, char little, enum status st,
                         const char *why)
{
    struct tensor_file *f;
    struct strbuf b;
    struct err e = { 0 };

    strbuf_init(&b, 0);
    put_head(&b, version, little);
    CHECK_INT(open_bytes(&f, &b, NULL, &e), st);
    check_message(e.msg, why);
    tensor_file_close(f);
    strbuf_release(&b);
}

TEST(other_files_are_refused)
{
    static const char *const others[] = { "", "{\"a\": 1}\n", "\x80\x02K\x01.",
                                          "PK\x03\x04", "PK\x05\x06" };

    for (size_t i = 0; i < COUNT(others); i++) {
        struct strbuf b;
        struct tensor_file *f;
        struct err e = { 0 };

        strbuf_init(&b, 0);
        strbuf_adds(&b, others[i]);
        CHECK_INT(open_bytes(&f, &b, NULL, &e), ST_FORMAT);
        CHECK(!f && !strncmp(e.msg, "memory: ", 8));
        strbuf_release(&b);
    }
    refused_head("\x80\x02K\x01.", (char)0x88, ST_VERSION,
                 "version 1 of PyTorch's files is not known");
    refused_head("\x80\x02M\xe9\x03.", (char)0x89, ST_FORMAT,
                 "its numbers are not in little-endian order");
    refused_head("\x80\x02M\xe9\x03.", (char)0x88, ST_FORMAT, "truncated");
}

static uint32_t sum_of(const char *bytes, size_t n)
{
    return (uint32_t)crc32(0, (const void *)bytes, (unsigned)n);
}

/* Replace all that is `from`, and all checksums of it. */
static void replace_entry(char *bytes, size_t size, const char *from,
                          const char *to)
{
    size_t n = strlen(from);
    uint32_t old = sum_of(from, n), new = sum_of(to, n);
    int replaced = 0;

    for (size_t i = 0; i + n <= size; i++) {
        if (!memcmp(bytes + i, from, n)) memcpy(bytes + i, to, n);
        if (i + 4 > size || memcmp(bytes + i, &old, 4)) continue;
        memcpy(bytes + i, &new, 4);
        replaced++;
    }
    CHECK_INT(replaced, 2);
}

TEST(big_endian_archives_are_refused)
{
    size_t size;
    char *bytes = read_sample("zip", ".pt", &size);
    struct tensor_file *f;
    struct err e = { 0 };

    replace_entry(bytes, size, "little", "bigend");
    CHECK_INT(torch_file_open(&f, memory_stream_new(bytes, size), NULL, &e),
              ST_FORMAT);
    check_message(e.msg, "not in little-endian order");
    free(bytes);
}

/* ---- damage ---- */

/* Open the bytes and read all tensors. Returns whether all went well. */
static bool try_bytes(const char *bytes, size_t size, const char *dict)
{
    /* A copy without spare bytes, so that a read behind it is noticed. */
    char *copy = malloc(size + !size);
    struct tensor_file *f;
    struct err e = { 0 };
    bool good;

    memcpy(copy, bytes, size);
    good = !torch_file_open(&f, memory_stream_new(copy, size), dict, &e);
    CHECK(good == (f != NULL) && good == !e.msg[0]);
    for (int i = 0; f && i < f->n; i++) {
        struct file_tensor *t = &f->at[i];
        size_t n = (size_t)(file_tensor_rows(t) * file_tensor_cols(t));
        float *v = calloc(n + 1, sizeof *v);

        if (tensor_file_read(f, t, 0, file_tensor_rows(t), v, &e))
            good = false;
        free(v);
    }
    tensor_file_close(f);
    free(copy);
    return good;
}

static const struct { const char *name, *dict; } damaged[] = {
    { "zip", NULL }, { "older", NULL }, { "checkpoint", "model" },
    { "real_legacy_checkpoint", "model" }
};

TEST(truncated_torch_files_are_refused)
{
    for (size_t i = 0; i < COUNT(damaged); i++) {
        size_t size;
        char *bytes = read_sample(damaged[i].name, ".pt", &size);

        for (size_t n = 0; n < size; n++)
            if (try_bytes(bytes, n, damaged[i].dict))
                test_fail(__FILE__, __LINE__, "%s: %zu of %zu bytes",
                          damaged[i].name, n, size);
        free(bytes);
    }
}

TEST(damaged_torch_files_are_read_or_refused)
{
    for (size_t i = 0; i < COUNT(damaged); i++) {
        size_t size, refusals = 0;
        char *bytes = read_sample(damaged[i].name, ".pt", &size);

        for (size_t k = 0; k < size; k++)
            for (int bit = k % 3; bit < 8; bit += 3) {
                bytes[k] ^= (char)(1 << bit);
                refusals += !try_bytes(bytes, size, damaged[i].dict);
                bytes[k] ^= (char)(1 << bit);
            }
        CHECK(refusals > size);
        free(bytes);
    }
}

/* ---- size ---- */

/* A file of 5 GB, which is almost only a hole. Were the data read or mapped
 * when it is opened, this would take long. */
TEST(reads_the_end_of_a_large_file)
{
    int64_t cols = 1 << 20, rows = 1250;
    struct tensor_file *f = NULL;
    struct file_stream *in;
    struct scratch s;
    struct strbuf b;
    struct err e;
    float v[4] = { 1, 2, 3, 4 };
    uint64_t n = (uint64_t)(rows * cols);
    float *row;
    int fd;

    REQUIRE(scratch_make(&s));
    strbuf_init(&b, 0);
    put_file(&b, MADE(.shape = { rows, cols }, .stride = { cols, 1 },
                      .more = rows * cols - STORED), 0);
    for (size_t i = 0; i < 8; i++)
        b.data[b.len - 8 + i] = (char)(n >> 8 * i);
    fd = open(scratch_path(&s, "large.pt"), O_CREAT | O_WRONLY, 0600);
    CHECK(write(fd, b.data, b.len) == (ssize_t)b.len);
    CHECK(pwrite(fd, v, sizeof v, (off_t)(b.len + n * 4 - sizeof v)) ==
          sizeof v);
    close(fd);
    CHECK_OK(file_stream_open_path(&in, scratch_path(&s, "large.pt"), &e), &e);
    REQUIRE_OK(torch_file_open(&f, in, NULL, &e), &e);
    row = malloc((size_t)cols * sizeof *row);
    CHECK_OK(tensor_file_read(f, f->at, rows - 1, 1, row, &e), &e);
    CHECK(row[0] == 0 && row[cols - 5] == 0);
    CHECK_MEM(row + cols - 4, v, sizeof v);
    free(row);
    tensor_file_close(f);
    strbuf_release(&b);
    scratch_remove(&s);
}
