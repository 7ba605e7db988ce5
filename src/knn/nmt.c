/* nmt.c - the system that changes nothing, so that the model alone can be
 * chosen and measured like any other system. */
#include "knn/nmt.h"

static const char *const nmt_option_names[] = { NULL };

const struct steering_system nmt_system = {
    .name = "nmt",
    .title = "the model alone",
    .paper = "-",
    .options = nmt_option_names,
};
