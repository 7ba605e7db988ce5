/* test_fairseq_config.c - tests of the settings in checkpoints of fairseq: the
 * forms in which they are stored, their defaults, and what is refused. */
#include "test.h"

#include "convert/fairseq_config.h"
#include "convert/fairseq_settings.h"
#include "made_pickle.h"
#include "text/moses_bpe.h"

static enum status read_settings(struct json_config **j, const char *notation,
                                 struct err *e)
{
    struct strbuf b;
    struct pickle *p;
    enum status st;
    size_t at = 0;

    *j = NULL;
    strbuf_init(&b, 0);
    put_pickle(&b, notation);
    st = pickle_read(&p, b.data, b.len, &at, "m.pt", e);
    strbuf_release(&b);
    if (st) return st;
    st = fairseq_settings_read(j, pickle_root(p), "m.pt", e);
    pickle_free(p);             /* its values are not needed any more */
    return st;
}

/* The settings, which the caller closes: c refers to their strings. */
static struct json_config *read_config(struct fairseq_config *c,
                                       const char *notation)
{
    struct json_config *j;
    struct err e;

    *c = (struct fairseq_config){ 0 };
    if (CHECK_OK(read_settings(&j, notation, &e), &e))
        CHECK_OK(fairseq_config_read(c, j, &e), &e);
    return j;
}

static void refused(const char *notation, const char *why)
{
    struct fairseq_config c;
    struct json_config *j;
    struct err e = { 0 };
    enum status st = read_settings(&j, notation, &e);

    if (!st) st = fairseq_config_read(&c, j, &e);
    CHECK_INT(st, ST_FORMAT);
    if (!strstr(e.msg, why) || strncmp(e.msg, "m.pt: ", 6))
        test_fail(__FILE__, __LINE__, "\"%s\", want \"%s\"", e.msg, why);
    json_config_close(j);
}

#define ARGS(text) "{'args': argparse.Namespace{" text "}}"

/* What an older checkpoint says, and what it leaves out. */
TEST(defaults_are_those_of_fairseq)
{
    struct fairseq_config c;
    struct json_config *j = read_config(&c, ARGS("'arch': 'transformer'"));

    CHECK_INT(c.heads, 8);
    CHECK_INT(c.encoder_layers, 0);
    CHECK_INT(c.activation, ACT_RELU);
    CHECK(!c.pre_norm && !c.learned_positions && c.scale_embedding);
    CHECK(!c.share_all && !c.share_output);
    CHECK_INT(c.max_source, 1024);
    CHECK_INT(c.max_target, 1024);
    CHECK(!c.source_lang && !c.target_lang);
    CHECK_INT(c.bpe, FAIRSEQ_BPE_UNKNOWN);
    CHECK_INT(c.tokenizer, FAIRSEQ_TOKENIZER_UNKNOWN);
    CHECK_INT(c.moses_off, 0);
    CHECK_INT(c.beam, 0);
    CHECK_NEAR(c.length_penalty, -1, 0);
    json_config_close(j);
}

TEST(reads_args)
{
    struct fairseq_config c;
    struct json_config *j = read_config(&c, ARGS(
        "'arch': 'transformer_wmt_en_de_big', 'task': 'translation',"
        "'encoder_attention_heads': 4, 'decoder_attention_heads': 4,"
        "'encoder_layers': 12, 'decoder_layers': 1, 'activation_fn': 'gelu',"
        "'encoder_normalize_before': True, 'decoder_normalize_before': True,"
        "'encoder_learned_pos': True, 'decoder_learned_pos': True,"
        "'no_scale_embedding': True, 'share_all_embeddings': True,"
        "'max_source_positions': 100, 'max_target_positions': 200,"
        "'source_lang': 'de', 'target_lang': 'en', 'bpe': 'subword_nmt',"
        "'tokenizer': 'moses', 'moses_no_dash_splits': True,"
        "'moses_no_escape': False, 'lr': [0.1, 0.2], 'layernorm_embedding':"
        "False, 'adaptive_input': None, 'encoder_layers_to_keep': None"));

    CHECK_INT(c.heads, 4);
    CHECK_INT(c.encoder_layers, 12);
    CHECK_INT(c.decoder_layers, 1);
    CHECK_INT(c.activation, ACT_GELU);
    CHECK(c.pre_norm && c.learned_positions && !c.scale_embedding);
    CHECK(c.share_all && c.share_output);
    CHECK_INT(c.max_source, 100);
    CHECK_INT(c.max_target, 200);
    CHECK_STR(c.source_lang, "de");
    CHECK_STR(c.target_lang, "en");
    CHECK_INT(c.bpe, FAIRSEQ_SUBWORD_NMT);
    CHECK_INT(c.tokenizer, FAIRSEQ_MOSES);
    CHECK_INT(c.moses_off, MOSES_DASHES);
    json_config_close(j);
}

/* Dicts of dicts. The task and so on have dicts of their own. */
TEST(reads_cfg)
{
    struct fairseq_config c;
    struct json_config *j = read_config(&c,
        "{'args': None, 'cfg': {'_name': None, 'model': {"
        "'_name': 'transformer', 'activation_fn': 'relu',"
        "'encoder': {'embed_dim': 16, 'attention_heads': 2, 'layers': 3,"
        "  'normalize_before': True, 'learned_pos': False},"
        "'decoder': {'attention_heads': 2, 'normalize_before': True}},"
        "'task': {'_name': 'translation', 'source_lang': 'fi',"
        "  'target_lang': 'sv', 'max_source_positions': 77},"
        "'bpe': {'_name': 'sentencepiece', 'sentencepiece_model': 'spm'},"
        "'tokenizer': {'_name': 'space'},"
        "'generation': {'beam': 7, 'lenpen': 0.6, 'unkpen': 1}}}");

    CHECK_INT(c.heads, 2);
    CHECK_INT(c.encoder_layers, 3);
    CHECK(c.pre_norm);
    CHECK_INT(c.max_source, 77);
    CHECK_STR(c.source_lang, "fi");
    CHECK_STR(c.target_lang, "sv");
    CHECK_INT(c.bpe, FAIRSEQ_SENTENCEPIECE);
    CHECK_INT(c.tokenizer, FAIRSEQ_SPACE);
    CHECK_INT(c.beam, 7);
    CHECK_NEAR(c.length_penalty, 0.6, 1e-12);
    json_config_close(j);
}

/* The model in a cfg may still be a Namespace. What it says counts more than
 * the task, but not if it is null. */
TEST(reads_args_in_cfg)
{
    struct fairseq_config c;
    struct json_config *j = read_config(&c,
        "{'args': None, 'cfg': {'model': argparse.Namespace{"
        "'_name': 'transformer_iwslt_de_en', 'source_lang': 'de',"
        "'target_lang': None, 'bpe': None},"
        "'task': {'source_lang': 'xx', 'target_lang': 'en'},"
        "'bpe': None, 'tokenizer': 'moses'}}");

    CHECK_INT(c.heads, 4);
    CHECK_STR(c.source_lang, "de");
    CHECK_STR(c.target_lang, "en");
    CHECK_INT(c.bpe, FAIRSEQ_BPE_UNKNOWN);
    CHECK_INT(c.tokenizer, FAIRSEQ_MOSES);
    json_config_close(j);
}

#define NODE(value) "omegaconf.nodes.AnyNode{'_val': " value "}"
#define DICT_CONFIG(content) \
    "omegaconf.dictconfig.DictConfig{'_metadata': a.B{}, '_content': {" \
    content "}}"

TEST(reads_objects_of_omegaconf)
{
    struct fairseq_config c;
    struct json_config *j = read_config(&c, "{'cfg': " DICT_CONFIG(
        "'model': " DICT_CONFIG(
            "'arch': " NODE("'transformer'") ", 'activation_fn': "
            NODE("fairseq.dataclass.constants.Act('gelu')") ","
            "'encoder': " DICT_CONFIG("'attention_heads': " NODE("8")) ","
            "'decoder': " DICT_CONFIG("'attention_heads': " NODE("8")) ","
            "'adaptive_softmax_cutoff': " NODE("None")) ","
        "'task': " DICT_CONFIG("'_name': " NODE("'translation'") ","
                               "'source_lang': " NODE("'de'"))) "}");

    CHECK_INT(c.heads, 8);
    CHECK_INT(c.activation, ACT_GELU);
    CHECK_STR(c.source_lang, "de");
    json_config_close(j);
}

static void check_search(const char *notation, int beam, double penalty)
{
    struct fairseq_config c;
    struct json_config *j = read_config(&c, notation);

    CHECK_INT(c.beam, beam);
    CHECK_NEAR(c.length_penalty, penalty, 1e-12);
    json_config_close(j);
}

TEST(searches_as_the_checkpoint_was_validated)
{
    check_search(ARGS("'beam': 4"), 4, -1);
    check_search(ARGS("'beam': 1000, 'lenpen': -3"), 0, -1);
    check_search(ARGS("'beam': 5, 'lenpen': 1,"
                      "'eval_bleu_args': '{\"beam\": 4, \"lenpen\": 0.6,"
                      " \"max_len_a\": 1.2}'"), 4, 0.6);
    check_search(ARGS("'beam': 5, 'lenpen': 1,"
                      "'eval_bleu_args': '{\"beam\": 8}'"), 8, 1);
    check_search(ARGS("'eval_bleu_args': '{\"beam\": true'"), 0, -1);
    check_search(ARGS("'eval_bleu_args': '[4]'"), 0, -1);
    check_search(ARGS("'eval_bleu_args': '{\"lenpen\": \"x\"}'"), 0, -1);
}

TEST(other_checkpoints_are_refused)
{
    const char *none = "not a checkpoint of fairseq: it has no settings in "
                       "\"args\" or \"cfg\"";

    refused("{'model': {}}", none);
    refused("{'args': None, 'cfg': None}", none);
    refused("{'args': [1], 'cfg': {'task': {}}}", none);
    refused("{'args': os.system('ls')}", none);
    refused("[1]", none);
}

TEST(other_networks_are_refused)
{
    refused(ARGS("'arch': 'fconv_iwslt_de_en'"),
            "\"arch\" is \"fconv_iwslt_de_en\"; only Transformers can be "
            "converted");
    refused(ARGS("'task': 'multilingual_translation'"),
            "\"task\" is \"multilingual_translation\"; only \"translation\" "
            "can be converted");
    refused(ARGS("'activation_fn': 'gelu_accurate'"),
            "\"activation_fn\" is \"gelu_accurate\"; only");
    refused(ARGS("'encoder_normalize_before': True"),
            "\"encoder_normalize_before\" and \"decoder_normalize_before\" "
            "differ");
    refused(ARGS("'decoder_learned_pos': True"),
            "\"encoder_learned_pos\" and \"decoder_learned_pos\" differ");
    refused(ARGS("'encoder_attention_heads': 8, 'decoder_attention_heads': 4"),
            "encoder and decoder have different numbers of attention heads, 8 "
            "and 4");
    refused(ARGS("'layernorm_embedding': True"),
            "\"layernorm_embedding\" is set; a model with it cannot be "
            "converted");
    refused(ARGS("'adaptive_softmax_cutoff': [1, 2]"),
            "\"adaptive_softmax_cutoff\" is set");
    refused(ARGS("'encoder_layers_to_keep': '0,2'"),
            "\"encoder_layers_to_keep\" is set");
    refused("{'cfg': {'model': {'decoder': {'layers_to_keep': [1]}}}}",
            "\"decoder_layers_to_keep\" is set");
    refused(ARGS("'no_cross_attention': a.B{}"), "\"no_cross_attention\"");
}

TEST(values_of_other_types_are_refused)
{
    refused(ARGS("'encoder_layers': 'six'"),
            "\"encoder_layers\" should be a whole number from 0 to 256");
    refused(ARGS("'encoder_layers': -1"), "\"encoder_layers\" should be");
    refused(ARGS("'encoder_attention_heads': 2.5"),
            "\"encoder_attention_heads\" should be a whole number");
    refused(ARGS("'share_all_embeddings': 1"),
            "\"share_all_embeddings\" should be true or false");
    refused(ARGS("'source_lang': [1]"), "\"source_lang\" should be a string");
    refused(ARGS("'max_source_positions': {'a': 1}"),
            "\"max_source_positions\" should be a whole number");
    refused(ARGS("'bpe': 'gpt2'"), "\"bpe\" is \"gpt2\"; only");
    refused(ARGS("'tokenizer': 'nltk'"), "\"tokenizer\" is \"nltk\"; only");
}

/* A small file cannot become large. */
TEST(large_values_are_left_out)
{
    struct strbuf b;

    strbuf_init(&b, 0);
    strbuf_adds(&b, "{'args': argparse.Namespace{'lr': [");
    for (int i = 0; i < 101; i++) strbuf_adds(&b, "1,");
    strbuf_adds(&b, "], 'adaptive_softmax_cutoff': [");
    for (int i = 0; i < 101; i++) strbuf_adds(&b, "1,");
    strbuf_adds(&b, "]}}");
    refused(b.data, "\"adaptive_softmax_cutoff\" is set");
    strbuf_reset(&b);
    strbuf_adds(&b, "{'args': argparse.Namespace{");
    for (int i = 0; i < 10001; i++) strbuf_addf(&b, "'a%d':1,", i);
    strbuf_adds(&b, "}}");
    refused(b.data, "it has no settings");
    strbuf_release(&b);
}
