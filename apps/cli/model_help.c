/* model_help.c - the help pages and the options of "skmt model" and its
 * subcommands. cmd_help.c prints them. */
#include "conversion.h"
#include "help.h"

static const struct opt model_list_options[] = {
    { "from", 0, "CODE", "only models that translate from this language" },
    { "to", 0, "CODE", "only models that translate to this language" },
    { "json", 'j', NULL, "print one JSON object for each model" },
    HELP_OPTION, NO_MORE_OPTIONS
};

static const struct opt model_add_options[] = {
    { "name", 'n', "NAME", "the name of the model; default: the name of the "
      "file or folder" },
    { "force", 'f', NULL, "replace a model of the same name, when the new one "
      "is complete" },
    CONVERSION_OPTIONS,
    { "quiet", 'q', NULL, "print only warnings and errors" },
    HELP_OPTION, NO_MORE_OPTIONS
};

static const struct opt model_remove_options[] = {
    { "yes", 'y', NULL, "do not ask for confirmation" },
    { "quiet", 'q', NULL, "print only errors" },
    HELP_OPTION, NO_MORE_OPTIONS
};

static const struct opt model_default_options[] = {
    { "from", 0, "CODE", "with --to: the default for this pair of languages "
      "only" },
    { "to", 0, "CODE", "see --from" },
    { "none", 0, NULL, "instead of NAME: there is no such default any more" },
    { "json", 'j', NULL, "without NAME: print one JSON object for each "
      "default" },
    HELP_OPTION, NO_MORE_OPTIONS
};

static const char model_page[] =
"Usage: skmt model COMMAND ...\n"
"\n"
"Keep the models that you use. They are files in the folder\n"
"~/.local/share/skmt/models ($SKMT_HOME/models or $XDG_DATA_HOME/skmt/models,\n"
"if these variables are set). Every command finds them by name, or by the\n"
"languages.\n"
"\n"
"  skmt model add opus-mt-en-fr/             convert a model, and keep it\n"
"  skmt model list\n"
"  skmt translate --from en --to fr letter.txt\n"
"  skmt translate --model opus-mt-en-fr letter.txt\n"
"\n"
"Commands:\n"
"  list         print the models with their languages and licenses\n"
"  add          add a model: a .skmt file, or one of another project\n"
"  remove       delete models\n"
"  default      choose the model that is used if none is named\n"
"\n"
"  skmt help model COMMAND   show the options and examples of a command\n"
"\n"
"A command uses, in this order:\n"
"  1. --model: a file, or the name of a model;\n"
"  2. $SKMT_MODEL, unless --from or --to ask for other languages;\n"
"  3. the default for --from and --to, or the model that fits them best: one\n"
"     with the same codes before one with related codes (pt and pt-BR), and\n"
"     one of a single pair before a multilingual one;\n"
"  4. the default (skmt model default);\n"
"  5. de-en, the model that comes with skmt.\n";

static const char model_list_page[] =
"Usage: skmt model list [OPTIONS]\n"
"\n"
"Print your models, and those that came with skmt (installed): name,\n"
"languages, number format, size, license, and what a model is the default\n"
"for. 'skmt info NAME' shows more, and 'skmt info --license NAME' the text of\n"
"the license. With --json, the fields origin and family say where a model\n"
"comes from.\n"
"\n"
"Examples:\n"
"  skmt model list\n"
"  skmt model list --from en\n"
"  skmt model list --json | jq -r 'select(.license == \"\") | .name'\n";

static const char model_add_page[] =
"Usage: skmt model add PATH ... [--name NAME] [OPTIONS]\n"
"\n"
"Add models. PATH is a model file of skmt, which is checked and copied, or\n"
"anything that 'skmt convert --from PATH' can read: a folder, a zip archive,\n"
"an Argos package, or a checkpoint of fairseq. docs/models.md says where to\n"
"get models, and what each kind needs. PATH is not needed afterwards.\n"
"\n"
"A model appears when it is complete. If the command is stopped, or the disk\n"
"is full, nothing is left of it. A model of the same name is not replaced\n"
"unless --force is given.\n"
"\n"
"Examples:\n"
"  skmt model add opus-mt-en-fr/\n"
"  skmt model add opus-2020-02-26.zip --name en-fr\n"
"  skmt model add translate-en_fr-1_9.argosmodel\n"
"  skmt model add nllb-200-distilled-600M/ --type bf16\n"
"  skmt model add my.skmt --name my --force\n";

static const char model_remove_page[] =
"Usage: skmt model remove NAME ... [--yes]\n"
"\n"
"Delete models, and the defaults that name them. Asks for confirmation,\n"
"unless --yes is given. A program that is using a model may go on.\n"
"\n"
"Examples:\n"
"  skmt model remove opus-mt-en-fr\n";

static const char model_default_page[] =
"Usage: skmt model default\n"
"       skmt model default NAME [--from CODE --to CODE]\n"
"       skmt model default --none [--from CODE --to CODE]\n"
"\n"
"Choose the model that is used if none is named: for everything, or for a\n"
"pair of languages. NAME is one of 'skmt model list'. Without NAME, print the\n"
"defaults. A default for a pair may name a model whose file does not say that\n"
"it translates this pair, such as one for a group of languages.\n"
"\n"
"Examples:\n"
"  skmt model default opus-mt-en-fr\n"
"  skmt model default opus-mt-zle-en --from uk --to en\n"
"  skmt model default --none --from uk --to en\n";

const struct page model_pages[] = {
    { "model", model_page, NULL, NULL },
    { "model list", model_list_page, model_list_options, NULL },
    { "model add", model_add_page, model_add_options, NULL },
    { "model remove", model_remove_page, model_remove_options, NULL },
    { "model default", model_default_page, model_default_options, NULL },
    { NULL, NULL, NULL, NULL }
};
