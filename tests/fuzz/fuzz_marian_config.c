/* fuzz_marian_config.c - reads any bytes as the YAML settings of a Marian model
 * and of its decoder. Settings that are accepted must be within their
 * limits. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "convert/marian_config.h"
#include "convert/yaml_config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int ok)
{
    if (!ok) abort();
}

static void try_model(struct json_config *j)
{
    struct marian_config c;
    struct err e = { 0 };

    if (marian_config_read(&c, j, &e)) {
        must(e.msg[0] != 0);
        return;
    }
    must(c.d_model > 0 && c.heads > 0 && c.ffn > 0 && c.decoder_ffn > 0);
    must(c.decoder_layers > 0 && c.decoder_layers <= MARIAN_LAYERS_MAX);
    must(c.activation == ACT_RELU || c.activation == ACT_SILU);
    for (int i = 0; i < c.decoder_layers; i++)
        must(c.decoder_layer[i] >= 1 &&
             c.decoder_layer[i] <= c.decoder_layers);
}

static void try_decoder(struct json_config *j)
{
    struct marian_decoder d;
    struct err e = { 0 };

    if (marian_decoder_read(&d, j, &e)) {
        must(e.msg[0] != 0);
        return;
    }
    must(d.model && d.source_vocab && d.target_vocab);
    must(d.beam >= 0 && d.normalize >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size ? size : 1);

    if (!text) return 0;
    memcpy(text, data, size);
    /* The first failure stays in the settings, so that each reader gets its
     * own. */
    for (int decoder = 0; decoder < 2; decoder++) {
        struct json_config *j;
        struct err e = { 0 };

        if (yaml_config_parse(&j, text, size, "f", &e)) {
            must(!j && e.msg[0]);
            continue;
        }
        if (decoder) try_decoder(j);
        else try_model(j);
        json_config_close(j);
    }
    free(text);
    return 0;
}
