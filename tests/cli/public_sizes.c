/* public_sizes.c - what a program sees of the public headers, in C99 and in
 * C++11. It checks the sizes of the public structs and the values of the public
 * constants on 64-bit systems, and uses each macro once. It is only compiled
 * (library.t).
 *
 * A size grows when a member is added at the end. A constant never changes. */
#include "skmt.h"
#include "skmt_tools.h"

#define SAME(name, a, b) typedef char same_##name[(a) == (b) ? 1 : -1]
#define SIZE(type, bytes) SAME(type, sizeof(type), bytes)

SIZE(skmt_error, 512);
SIZE(skmt_option_info, 40);
SIZE(skmt_system_info, 48);
SIZE(skmt_piece, 40);
SIZE(skmt_tm_info, 80);
SIZE(skmt_tm_state, 40);
SIZE(skmt_pair, 136);
SIZE(skmt_match, 40);
SIZE(skmt_similar, 32);
SIZE(skmt_found_pair, 56);
SIZE(skmt_vote, 48);
SIZE(skmt_reason, 24);
SIZE(skmt_recovery, 32);
SIZE(skmt_translation, 40);
SIZE(skmt_words_info, 64);
SIZE(skmt_link, 8);
SIZE(skmt_entry, 88);
SIZE(skmt_index_settings, 40);
SIZE(skmt_datastore_progress, 56);
SIZE(skmt_knn_setting, 40);
SIZE(skmt_reduction, 48);

SAME(ok, SKMT_OK, 0);
SAME(nomem, SKMT_ERR_NOMEM, 1);
SAME(io, SKMT_ERR_IO, 2);
SAME(format, SKMT_ERR_FORMAT, 3);
SAME(version, SKMT_ERR_VERSION, 4);
SAME(argument, SKMT_ERR_ARGUMENT, 5);
SAME(text, SKMT_ERR_TEXT, 6);
SAME(limit, SKMT_ERR_LIMIT, 7);
SAME(canceled, SKMT_ERR_CANCELED, 8);
SAME(deadline, SKMT_ERR_DEADLINE, 9);
SAME(device, SKMT_ERR_DEVICE, 10);
SAME(tm_read, SKMT_TM_READ, 0);
SAME(tm_write, SKMT_TM_WRITE, 1);
SAME(tm_create, SKMT_TM_CREATE, 2);
SAME(translate, SKMT_OPTIONS_TRANSLATE, 0);
SAME(steer, SKMT_OPTIONS_STEER, 1);
SAME(search, SKMT_OPTIONS_SEARCH, 2);
SAME(model, SKMT_OPTIONS_MODEL, 3);
SAME(no_wait, SKMT_NO_WAIT, 1);

#if SKMT_VERSION_NUMBER < 100 || !defined(SKMT_VERSION)
#error "the preprocessor can compare the version"
#endif

size_t size_of_initialized_structs(void);
size_t size_of_initialized_structs(void)
{
    skmt_pair pair = SKMT_INIT(skmt_pair);
    skmt_words_info info = SKMT_INIT(skmt_words_info);

    return pair.size + info.size;
}
