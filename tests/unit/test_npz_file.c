/* test_npz_file.c - reads arrays that numpy wrote, and refuses damaged ones. */
#include "test.h"

#include "../memory_stream.h"
#include "base/file.h"
#include "convert/npz_file.h"
#include "made_zip.h"

static struct tensor_file *open_path(const char *name)
{
    char path[100];
    struct file_stream *in;
    struct tensor_file *f = NULL;
    struct err e;

    snprintf(path, sizeof path, "../data/npz/%s", name);
    if (CHECK_OK(file_stream_open_path(&in, test_data(path), &e), &e))
        CHECK_OK(npz_file_open(&f, in, &e), &e);
    return f;
}

/* Check shape and type, and read all. */
static const float *values_of(struct tensor_file *f, const char *name,
                              enum element type, int n_dims, int64_t rows,
                              int64_t cols)
{
    static float v[70000];
    struct file_tensor *t = tensor_file_find(f, name);
    struct err e;

    memset(v, 0, sizeof v);
    if (!t) {
        test_fail(__FILE__, __LINE__, "no array %s", name);
        return v;
    }
    CHECK_INT(t->type, type);
    CHECK_INT(t->n_dims, n_dims);
    CHECK_INT(file_tensor_rows(t), rows);
    CHECK_INT(file_tensor_cols(t), cols);
    CHECK_OK(tensor_file_read(f, t, 0, rows, v, &e), &e);
    return v;
}

/* ---- what numpy wrote ---- */

static void check_matrices(struct tensor_file *f)
{
    static const struct { const char *name; enum element type; } all[] = {
        { "f4", ELEMENT_F32 }, { "f2", ELEMENT_F16 }, { "f8", ELEMENT_F64 },
        { "i1", ELEMENT_I8 }, { "i2", ELEMENT_I16 }, { "i4", ELEMENT_I32 },
        { "i8", ELEMENT_I64 },
    };
    const float *v;

    for (size_t i = 0; i < COUNT(all); i++) {
        v = values_of(f, all[i].name, all[i].type, 2, 4, 5);
        for (int k = 0; k < 20; k++)
            CHECK_NEAR(v[k], (k - 8) / (i ? 1.0 : 8.0), 0);
    }
    v = values_of(f, "u1", ELEMENT_U8, 2, 4, 5);
    for (int k = 0; k < 20; k++) CHECK_INT(v[k], ((k - 8) & 255) | 128);
}

static void check_other_shapes(struct tensor_file *f)
{
    const float *v;

    v = values_of(f, "vector", ELEMENT_F32, 1, 1, 3);
    CHECK_NEAR(v[2], 2, 0);
    v = values_of(f, "row", ELEMENT_F32, 2, 1, 3);
    CHECK_NEAR(v[2], 2, 0);
    v = values_of(f, "scalar", ELEMENT_F32, 0, 1, 1);
    CHECK_NEAR(v[0], 2.5, 0);
    values_of(f, "empty", ELEMENT_F32, 2, 0, 3);
    v = values_of(f, "text", ELEMENT_I8, 1, 1, 20);
    CHECK_NEAR(v[0], 't', 0);
    CHECK_NEAR(v[19], 0, 0);
}

/* They are in the list, but cannot be read. */
static void check_unreadable(struct tensor_file *f)
{
    static const char *const names[] = { "cube", "flags", "words" };
    float v[24];
    struct err e;

    for (size_t i = 0; i < COUNT(names); i++) {
        struct file_tensor *t = tensor_file_find(f, names[i]);

        if (CHECK(t != NULL))
            CHECK_INT(tensor_file_read(f, t, 0, 1, v, &e), ST_FORMAT);
    }
}

TEST(arrays_of_numpy)
{
    static const char *const names[] = { "stored.npz", "deflated.npz" };

    for (size_t i = 0; i < COUNT(names); i++) {
        struct tensor_file *f = open_path(names[i]);

        REQUIRE(f);
        check_matrices(f);
        check_other_shapes(f);
        check_unreadable(f);
        tensor_file_close(f);
    }
}

TEST(versions_of_npy)
{
    struct tensor_file *f = open_path("versions.npz");
    char name[] = "v1";

    REQUIRE(f);
    for (; name[1] < '4'; name[1]++)
        CHECK_NEAR(values_of(f, name, ELEMENT_F32, 2, 2, 2)[3], name[1] - '0',
                   0);
    tensor_file_close(f);
}

TEST(rows_in_any_order)
{
    static const int rows[][2] = { { 90, 10 }, { 0, 1 }, { 50, 20 }, { 99, 1 },
                                   { 49, 2 }, { 0, 100 } };
    static float v[70000];
    struct tensor_file *f = open_path("deflated.npz");
    struct file_tensor *t;
    struct err e;

    REQUIRE(f);
    t = tensor_file_find(f, "large");
    for (size_t i = 0; i < COUNT(rows) && CHECK(t != NULL); i++) {
        int at = rows[i][0] * 700, n = rows[i][1] * 700;

        /* Another array in between, so that the entry is opened again. */
        values_of(f, "vector", ELEMENT_F32, 1, 1, 3);
        CHECK_OK(tensor_file_read(f, t, rows[i][0], rows[i][1], v, &e), &e);
        for (int k = 0; k < n; k += 37) CHECK_NEAR(v[k], (at + k) % 7, 0);
    }
    tensor_file_close(f);
}

/* ---- damaged files ---- */

/* Open an archive with one array "a" of these bytes. Returns the status; the
 * message is in *e. */
static enum status open_npy(const void *npy, size_t n, struct err *e)
{
    struct tensor_file *f;
    struct made_zip z;
    enum status st;

    made_zip_init(&z);
    made_zip_add(&z, "a.npy", npy, n);
    made_zip_end(&z);
    st = npz_file_open(&f, memory_stream_new(z.out.data, z.out.len), e);
    CHECK((f == NULL) == (st != ST_OK));
    tensor_file_close(f);
    made_zip_release(&z);
    return st;
}

/* A header of a version, and `n` bytes of data. */
static enum status open_header(int version, const char *header, size_t n,
                               struct err *e)
{
    struct strbuf npy;
    enum status st;

    strbuf_init(&npy, 0);
    CHECK(strbuf_adds(&npy, "\x93NUMPY") && strbuf_addc(&npy, (char)version) &&
          strbuf_addc(&npy, 0));
    made_zip_number(&npy, (uint32_t)strlen(header), version > 1 ? 4 : 2);
    CHECK(strbuf_adds(&npy, header));
    for (size_t i = 0; i < n; i++) CHECK(strbuf_addc(&npy, 0));
    st = open_npy(npy.data, npy.len, e);
    strbuf_release(&npy);
    return st;
}

#define DICT(type, order, shape) \
    "{'descr': '" type "', 'fortran_order': " order ", 'shape': " shape ", }"

TEST(headers_of_all_spellings)
{
    static const char *const good[] = {
        DICT("<f4", "False", "(2, 3)") "   \n",
        DICT("<f4", "False", "(2,3,)"),
        DICT("<f4", "True", "(6,)"),
        DICT("<f4", "False", "(6L, 1L)"),
        "{\"shape\":(3 , 2),\"descr\":\"<f4\",\"fortran_order\":False}",
        "\n{ 'fortran_order' : False , 'shape' : ( 1 , 1 , 1, 1, 6 ) ,"
        "'descr' : '<f4' }",
    };
    struct err e;

    for (size_t i = 0; i < COUNT(good); i++)
        CHECK_OK(open_header(1 + (int)i % 3, good[i], 24, &e), &e);
    CHECK_OK(open_header(1, DICT("<f4", "False", "()"), 4, &e), &e);
}

TEST(damaged_headers)
{
    static const struct { const char *header, *want; } bad[] = {
        { "", "not valid" },
        { "{}", "not valid" },
        { "[]", "not valid" },
        { DICT("<f4", "False", "(2, 3)") "x", "not valid" },
        { DICT("<f4", "False", "(2, -3)"), "not valid" },
        { DICT("<f4", "False", "(2 3)"), "not valid" },
        { DICT("<f4", "False", "(2, 3"), "not valid" },
        { DICT("<f4", "False", "(,)"), "not valid" },
        { DICT("<f4", "False", "6"), "not valid" },
        { DICT("<f4", "None", "(6,)"), "not valid" },
        { DICT("<f4", "False", "(99999999999999999999,)"), "not valid" },
        { DICT("<f4", "False", "(4294967296, 4294967296)"), "not valid" },
        { DICT("a type with a long name", "False", "(6,)"), "not valid" },
        { "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (6,)}",
          "not valid" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (6,), 'x': 1}",
          "not valid" },
        { "{'descr': '<f4', 'descr': '<f4', 'shape': (6,)}", "not valid" },
        { "{'descr': '<f4' 'fortran_order': False, 'shape': (6,)}",
          "not valid" },
        { "{'descr': '<f4', 'shape': (6,)}", "not valid" },
        { DICT("<f4", "True", "(2, 3)"), "Fortran order" },
        { DICT(">f4", "False", "(2, 3)"), "big-endian" },
        { DICT("<f4", "False", "(2, 4)"), "does not match its shape" },
        { DICT("<f8", "False", "(2, 3)"), "does not match its shape" },
        { DICT("<f8", "False", "(4611686018427387904, 2)"),
          "does not match its shape" },
    };

    for (size_t i = 0; i < COUNT(bad); i++) {
        struct err e;

        CHECK_INT(open_header(1, bad[i].header, 24, &e), ST_FORMAT);
        if (!strstr(e.msg, bad[i].want) ||
            !strstr(e.msg, "memory: array \"a\""))
            test_fail(__FILE__, __LINE__, "%s: %s", bad[i].header, e.msg);
    }
}

TEST(other_bytes_than_npy)
{
    struct err e;

    CHECK_INT(open_npy("", 0, &e), ST_FORMAT);
    CHECK(strstr(e.msg, "too short"));
    CHECK_INT(open_npy("\x93NUMPZ\x01\x00\x00\x00{}", 12, &e), ST_FORMAT);
    CHECK(strstr(e.msg, "not an .npy file"));
    CHECK_INT(open_npy("\x93NUMPY\x01\x00\xff\xff{}", 12, &e), ST_FORMAT);
    CHECK(strstr(e.msg, "too long"));
    CHECK_INT(open_npy("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12, &e), ST_FORMAT);
    CHECK(strstr(e.msg, "too long"));
    CHECK_INT(open_header(4, DICT("<f4", "False", "(6,)"), 24, &e), ST_VERSION);
    CHECK(strstr(e.msg, "version 4"));
}

TEST(other_archives_than_npz)
{
    struct tensor_file *f;
    struct made_zip z;
    struct err e;

    made_zip_init(&z);
    made_zip_end(&z);
    CHECK_INT(npz_file_open(&f, memory_stream_new(z.out.data, z.out.len),
                            &e), ST_FORMAT);
    CHECK(f == NULL && e.msg[0]);
    made_zip_release(&z);

    made_zip_init(&z);
    made_zip_add(&z, "README.md", "hello", 5);
    made_zip_end(&z);
    CHECK_INT(npz_file_open(&f, memory_stream_new(z.out.data, z.out.len),
                            &e), ST_FORMAT);
    CHECK(strstr(e.msg, "\"README.md\""));
    made_zip_release(&z);
}

/* Open and read everything. */
static enum status read_all_arrays(const char *bytes, size_t n, struct err *e)
{
    static float v[70000];
    struct tensor_file *f;
    enum status st = npz_file_open(&f, memory_stream_new(bytes, n), e);

    for (int i = 0; !st && i < f->n; i++) {
        const struct file_tensor *t = &f->at[i];

        if (t->type != ELEMENT_OTHER && t->n_dims <= 2)
            st = tensor_file_read(f, t, 0, file_tensor_rows(t), v, e);
    }
    tensor_file_close(f);
    return st;
}

TEST(truncated_files)
{
    char *bytes;
    size_t n;
    struct err e;

    REQUIRE_OK(file_read(&bytes, &n, test_data("../data/npz/deflated.npz"),
                         1 << 20, &e), &e);
    CHECK_OK(read_all_arrays(bytes, n, &e), &e);
    for (size_t k = 0; k < n; k += 97) {
        err_clear(&e);
        CHECK(read_all_arrays(bytes, k, &e) != ST_OK && e.msg[0]);
    }
    free(bytes);
}
