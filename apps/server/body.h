/* body.h - turns the bytes of bodies and queries into arguments.
 *
 * Pure functions: they know nothing of connections. All texts that they return
 * are valid UTF-8 without U+0000. On failure they write a sentence without a
 * final period to why[BODY_WHY]; it never contains what the client sent. */
#ifndef SERVER_BODY_H
#define SERVER_BODY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    BODY_WHY = 160,
    BODY_DEPTH = 32,            /* nested arrays and objects of JSON */
    BODY_MEMORY = 1 << 20,      /* bytes that parsed JSON may need, roughly */
    BODY_MEMORY_BYTE = 16,      /* and for each byte of its text */
    BODY_FIELDS = 4096,         /* of a form or a query */
    BODY_PARTS = 32             /* of a multipart body */
};

/* ---- media types -------------------------------------------------------- */

enum body_kind { BODY_EMPTY, BODY_JSON, BODY_FORM, BODY_MULTIPART, BODY_OTHER };
/* The kind of a body with this Content-Type, which may be NULL. Without one,
 * the first byte decides between JSON and a form. BODY_OTHER also means a
 * charset that is not UTF-8. */
enum body_kind body_kind(const char *content_type, const char *body, size_t n);
/* Writes the media type without its parameters, in lower case. "" if NULL. */
void body_media_type(const char *content_type, char *out, size_t size);
/* Writes a parameter of a header such as "form-data; name=x", without quotes.
 * Returns false if it is not there, or if it is too long. */
bool body_parameter(const char *value, const char *name, char *out,
                    size_t size);

/* ---- arguments ---------------------------------------------------------- */

/* Parses JSON of any kind. NULL on failure, also if it is nested too deeply or
 * has so many small values that they would need far more memory than it. */
json_t *body_json(const char *text, size_t n, char why[BODY_WHY]);
/* Adds the fields of a form or a query to an object: a string, or an array of
 * strings if a name occurs again. "text[]" is an array "text". Other brackets
 * and dots are part of the name. */
bool body_form(json_t *into, const char *text, size_t n, char why[BODY_WHY]);
/* Adds a value to a field. False if out of memory. */
bool body_add_field(json_t *into, const char *name, size_t name_n,
                    const char *value, size_t value_n);
/* Decodes %XX in place, and '+' as a blank if `plus`. Returns the new length;
 * -1 if there is a '%' without two hexadecimal digits. */
long body_percent_decode(char *s, size_t n, bool plus);

struct body_part {
    char name[256];             /* of the field */
    char file[256];             /* without folders; "" if it has none */
    bool is_file;
    char type[128];             /* media type in lower case; "" if none */
    const char *at;             /* its bytes, in the body */
    size_t n;
};
/* Finds the parts of a multipart body. Returns their number, or -1. */
int body_multipart(const char *body, size_t n, const char *boundary,
                   struct body_part parts[BODY_PARTS], char why[BODY_WHY]);

#endif
