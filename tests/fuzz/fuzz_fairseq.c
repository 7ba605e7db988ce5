/* fuzz_fairseq.c - reads any bytes as a pickle, and its value as the settings
 * of a checkpoint of fairseq. */
#include <stdint.h>
#include <stdlib.h>

#include "convert/fairseq_config.h"
#include "convert/fairseq_settings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int ok)
{
    if (!ok) abort();
}

static void read_config(struct json_config *j)
{
    struct fairseq_config c;
    struct err e = { 0 };

    if (fairseq_config_read(&c, j, &e)) {
        must(e.msg[0] != 0);
        return;
    }
    must(c.heads >= 0 && c.heads <= 1024 && c.beam >= 0 && c.beam <= 64);
    must(c.encoder_layers >= 0 && c.decoder_layers >= 0);
    must(c.max_source > 0 && c.max_target > 0);
    must(c.length_penalty >= -1 && c.length_penalty <= 10);
    must(c.activation >= ACT_NONE && c.activation <= ACT_SILU);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct json_config *j;
    struct pickle *p;
    struct err e = { 0 };
    size_t at = 0;

    if (pickle_read(&p, data, size, &at, "fuzz", &e)) return 0;
    if (fairseq_settings_read(&j, pickle_root(p), "fuzz", &e))
        must(!j && e.msg[0]);
    else
        read_config(j);
    json_config_close(j);
    pickle_free(p);
    return 0;
}
