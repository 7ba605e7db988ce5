/* learn_help.c - the page of "skmt learn" and its options. */
#include "help.h"
#include "steering.h"

const struct opt learn_options[] = {
    { "model", 'm', "FILE", "the model: a file, or a name to look for; "
      "default $SKMT_MODEL, then the shipped de-en" },
    { "output", 'o', "FILE", "write there, not to standard output; with "
      "--simulate: the translations, which are not shown otherwise" },
    { "corrections", 'c', "FILE", "line by line what the translations should "
      "be; a blank line says nothing" },
    STEERING_OPTIONS,
    { "document", 'd', "TEXT", "what the stored pairs belong to, such as a "
      "file or a customer" },
    { "author", 'a', "TEXT", "who corrected them" },
    { "keep", 0, NULL, "other translations of the same source stay in the "
      "memory, beside the correction" },
    { "simulate", 0, "TSV", "play it with references and score it: columns "
      "between tabs, the document's name, the source, the reference; lines of "
      "a document stand together" },
    { "baseline", 0, NULL, "with --simulate: score the model alone, too" },
    { "json", 'j', NULL, "one JSON object a line: text, similarity, exact, "
      "alternatives (other stored translations), stored (the pair's number), "
      "replaced (how many); with --simulate the scores, as skmt score" },
    { "quiet", 'q', NULL, "no progress on a terminal" },
    { "help", 'h', NULL, "show this page" },
    { NULL, 0, NULL, NULL }
};

const char learn_page[] =
"Usage: skmt learn --memory FILE [OPTIONS] [FILE ...]\n"
"       skmt learn --simulate TSV [OPTIONS]\n"
"\n"
"Translate line by line with a memory, and store each correction in it before\n"
"the next line is translated, which then makes use of it. A correction takes\n"
"the place of other translations the memory has for the same line. The memory\n"
"is made when it does not exist; of several the first --name is learned to.\n"
"\n"
"At a terminal every translation is shown to be corrected; what you leave is\n"
"stored, and written to --output when the next line is answered. /undo takes\n"
"the last answer back, out of the memory and the output, and asks for that\n"
"line again; /help lists the commands. A text that begins with a slash is\n"
"typed with two: //.\n"
"\n"
"Otherwise corrections come from a file (--corrections) or stand behind their\n"
"sources: lines of a source, or a source, a tab and its correction. For each\n"
"of them the translation is written once the correction is on the disk:\n"
"whatever happens then, it stays.\n"
"\n"
"--simulate finds out what learning brings: each document begins with an\n"
"empty memory, and after each line its reference is stored. BLEU and chrF2\n"
"are printed of all lines and by the length of documents. Lines are\n"
"translated whole (--split none), and one that was there before is translated\n"
"like any other (--exact steer), unless you say otherwise.\n"
"\n"
"Examples:\n"
"  skmt learn -M my.tm letter.de.txt -o letter.en.txt    asks about each line\n"
"  skmt learn -M my.tm a.de --corrections a.en > a.mt\n"
"  printf 'Guten Tag\\tHello there\\nGuten Tag\\n' | skmt learn -M my.tm\n"
"  skmt learn --simulate docs.tsv.xz --baseline --threads 2\n"
"  skmt learn --simulate docs.tsv --preset sk1 -o learned.txt --json\n";
