/* test_header.c - tests of what include/skmt.h promises at compile time: the
 * version numbers. */
#include <stdio.h>

#include "skmt.h"
#include "test.h"

#if SKMT_VERSION_NUMBER < 100
#error "the preprocessor can compare the number"
#endif
_Static_assert(SKMT_VERSION_MINOR < 100 && SKMT_VERSION_PATCH < 100,
               "they have two digits in the number");

TEST(versions_agree)
{
    char text[64];

    snprintf(text, sizeof text, "%d.%d.%d", SKMT_VERSION_MAJOR,
             SKMT_VERSION_MINOR, SKMT_VERSION_PATCH);
    CHECK_STR(text, SKMT_VERSION);
    CHECK_STR(SKMT_VERSION, SKMT_VERSION_TEXT);     /* of the Makefile */
    CHECK_STR(skmt_version(), SKMT_VERSION);
    CHECK_INT(skmt_version_number(), SKMT_VERSION_NUMBER);
}
