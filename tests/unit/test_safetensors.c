/* test_safetensors.c - the reader of safetensors files: headers that are
 * refused, rows of all types, and files that are cut off. */
#include <unistd.h>

#include "../../tools/tiny_model.h"
#include "base/file.h"
#include "read_tensors.h"
#include "scratch_dir.h"
#include "test.h"

static bool put_file(const char *path, const void *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");

    if (!CHECK(f != NULL)) return false;
    fwrite(bytes, 1, n, f);
    return CHECK(!fclose(f));
}

/* Write and open a file with this header and n bytes of data. */
static enum status open_header(struct tensor_file **out,
                               const struct scratch *s, const char *json,
                               const void *data, size_t n, struct err *e)
{
    uint8_t bytes[4096] = { (uint8_t)strlen(json),
                            (uint8_t)(strlen(json) >> 8) };
    const char *path = scratch_path(s, "model.safetensors");

    memcpy(bytes + 8, json, strlen(json));
    memcpy(bytes + 8 + strlen(json), data, n);
    put_file(path, bytes, 8 + strlen(json) + n);
    return tensors_open(out, path, e);
}

#define T(name, type, shape, at) \
    "\"" name "\":{\"dtype\":\"" type "\",\"shape\":" shape \
    ",\"data_offsets\":" at "}"

TEST(safetensors_checks_its_header)
{
    static const struct { const char *json; size_t n; const char *says; }
    bad[] = {
        { "[1]", 0, "not a JSON object" },
        { "{", 0, "not a JSON object" },
        { "{" T("a", "Q4", "[2]", "[0,16]") "}", 16, "unknown dtype" },
        { "{" T("a", "F32", "7", "[0,4]") "}", 4, "shape" },
        { "{" T("a", "F32", "[-2]", "[0,8]") "}", 8, "shape" },
        { "{" T("a", "F32", "[4294967296,4294967296]", "[0,0]") "}", 0,
          "shape" },
        { "{" T("a", "F32", "[2.0]", "[0,8]") "}", 8, "shape" },
        { "{" T("a", "F32", "[2]", "[0,8]") "}", 4, "outside the file" },
        { "{" T("a", "F32", "[2]", "[8,0]") "}", 8, "outside the file" },
        { "{" T("a", "F32", "[2]", "[-8,0]") "}", 8, "outside the file" },
        { "{" T("a", "F32", "[2]", "[0]") "}", 8, "outside the file" },
        { "{" T("a", "F32", "[3]", "[0,8]") "}", 8, "not match its shape" },
        { "{" T("a", "F32", "[2]", "[4,12]") "}", 12, "does not begin" },
        { "{" T("a", "F32", "[2]", "[0,8]") "," T("b", "F32", "[2]", "[4,12]")
          "}", 12, "does not begin" },
        { "{" T("a", "F32", "[2]", "[0,8]") "}", 9, "have 8 bytes" },
        { "{" T("a", "F32", "[2]", "[0,8]") "," T("a", "F32", "[2]", "[0,8]")
          "}", 8, "duplicate" },
        { "{\"a\":3}", 0, "dtype" },
    };
    static const uint8_t zeros[16];
    struct tensor_file *f;
    struct scratch s;
    struct err e;

    REQUIRE(scratch_make(&s));
    for (size_t i = 0; i < COUNT(bad); i++) {
        CHECK_INT(open_header(&f, &s, bad[i].json, zeros, bad[i].n, &e),
                  ST_FORMAT);
        CHECK(f == NULL);
        if (!strstr(e.msg, bad[i].says) || !strstr(e.msg, "model.safetensors"))
            test_fail(__FILE__, __LINE__, "%zu: \"%s\" lacks \"%s\"", i, e.msg,
                      bad[i].says);
    }
    scratch_remove(&s);
}

TEST(safetensors_reads_rows)
{
    static const float values[] = { 1, 2, 3, 4, 5, 6 };
    uint8_t data[6 * 4 + 3 * 2 + 2 + 4];
    static const uint8_t rest[] = { 0x80, 0x3f, 0x40, 0xc0, 0, 0x80,
                                    0xff, 2, 9, 9, 9, 9 };
    struct tensor_file *f;
    struct scratch s;
    struct err e;
    float v[6] = { 0 };

    memcpy(data, values, sizeof values);
    memcpy(data + sizeof values, rest, sizeof rest);
    REQUIRE(scratch_make(&s));
    REQUIRE_OK(open_header(&f, &s, "{\"__metadata__\":{\"a\":\"b\"},"
                           T("h", "BF16", "[3]", "[24,30]") ","
                           T("i", "I8", "[2]", "[30,32]") ","
                           T("o", "F8_E5M2", "[1,4]", "[32,36]") ","
                           T("m", "F32", "[3,2]", "[0,24]") "}", data,
                           sizeof data, &e), &e);
    CHECK_INT(f->n, 4);
    REQUIRE_OK(tensor_file_read(f, tensor_file_find(f, "m"), 1, 2, v, &e), &e);
    CHECK_MEM(v, values + 2, 4 * sizeof *v);
    REQUIRE_OK(tensor_file_read(f, tensor_file_find(f, "h"), 0, 1, v, &e), &e);
    CHECK(v[0] == 1 && v[1] == -3 && v[2] == 0);
    REQUIRE_OK(tensor_file_read(f, tensor_file_find(f, "i"), 0, 1, v, &e), &e);
    CHECK(v[0] == -1 && v[1] == 2);
    CHECK_INT(tensor_file_read(f, tensor_file_find(f, "o"), 0, 1, v, &e),
              ST_FORMAT);
    CHECK(strstr(e.msg, "\"o\" has a type that cannot be read"));
    tensor_file_close(f);
    scratch_remove(&s);
}

TEST(safetensors_survives_truncation)
{
    struct tiny o = TINY_DEFAULT;
    struct tensor_file *f;
    struct scratch s;
    struct err e;
    const char *path;
    char *all;
    size_t n;

    REQUIRE(scratch_make(&s));
    REQUIRE(tiny_write(s.dir, &o));
    path = scratch_path(&s, "model.safetensors");
    REQUIRE_OK(file_read(&all, &n, path, 1 << 28, &e), &e);
    for (size_t cut = 0; cut < n; cut += cut < 64 ? 1 : 4001) {
        put_file(path, all, cut);
        CHECK(tensors_open(&f, path, &e) == ST_FORMAT);
        CHECK(f == NULL);
    }
    free(all);
    scratch_remove(&s);
}
