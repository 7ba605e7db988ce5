/* learn_help.c - the help page and the options of "skmt learn". */
#include "common/steering.h"
#include "help.h"

const struct opt learn_options[] = {
    MODEL_OPTION,
    { "output", 'o', "FILE", "write to FILE instead of standard output; with "
      "--simulate: write the translations, which are otherwise not shown" },
    { "corrections", 'c', "FILE", "the correct translations, one per input "
      "line; a blank line means no correction" },
    STEERING_OPTIONS,
    { "document", 'd', "TEXT", "document name to store with the pairs, such as "
      "a file or a customer" },
    { "author", 'a', "TEXT", "author to store with the pairs" },
    { "keep", 0, NULL, "keep other translations of the same source in the "
      "memory, beside the correction" },
    { "adapt", 0, NULL, "train the network of preset learned again after some "
      "corrections, in the background, and write it to the --settings file, "
      "which is created if it does not exist" },
    { "adapt-every", 0, "N", "with --adapt: train after every N corrections; "
      "default 50" },
    { "simulate", 0, "TSV", "simulate a translator who corrects every line: "
      "translate the sources of TSV and store their references, then print "
      "scores; columns separated by tabs: document, source, reference; the "
      "lines of a document must be consecutive" },
    { "baseline", 0, NULL, "with --simulate: also score the model without a "
      "memory" },
    { "json", 'j', NULL, "print one JSON object per line: text, similarity, "
      "exact, alternatives (other stored translations), stored (id of the "
      "stored pair), replaced (number of pairs replaced); with --simulate: "
      "the scores, as skmt score prints them" },
    QUIET_OPTION,
    HELP_OPTION,
    NO_MORE_OPTIONS
};

const char learn_page[] =
"Usage: skmt learn --memory FILE [OPTIONS] [FILE ...]\n"
"       skmt learn --simulate TSV [OPTIONS]\n"
"\n"
"Translate line by line with a memory. Each correction is stored in the\n"
"memory before the next line is translated, so it influences all later lines.\n"
"A correction replaces other translations of the same line in the memory. The\n"
"memory is created if it does not exist. If the file has several memories,\n"
"corrections go to the first one given by --name.\n"
"\n"
"On a terminal, each translation is shown for editing, and the text is stored\n"
"when you press Enter. To undo the last answer, type /undo: the pair is\n"
"removed from the memory, translations that it replaced are restored, and you\n"
"are asked for that line again. Only the last answer can be undone. To make\n"
"this possible, an answer is written to --output only after the next line has\n"
"been answered, or at the end. /help lists the commands. To enter a text that\n"
"begins with a slash, type two slashes: //.\n"
"\n"
"Otherwise, corrections come from a file (--corrections) or from the input\n"
"itself: each line is a source, or a source, a tab and its correction. A\n"
"translation is written only after its correction is safely on disk.\n"
"\n"
"With --adapt, the network that decides how far the memory is trusted (preset\n"
"learned) is trained again after every 50 corrections (--adapt-every). This\n"
"is done in the background. If the new network is better, it is written to\n"
"the --settings file, and the next lines are translated with it. Other lines\n"
"of the file are kept. A training that is running at the end is stopped, and\n"
"the file is then not changed. With --corrections and --simulate, training\n"
"takes place between two lines, so that the output is the same each time.\n"
"With --simulate, each document learns from its own lines, and no file is\n"
"written.\n"
"\n"
"--simulate measures how much learning improves translations. Each document\n"
"begins with an empty memory, and the reference of each line is stored after\n"
"the line is translated. BLEU and chrF2 are printed for all lines and by\n"
"document length. By default, lines are not split into sentences (--split\n"
"none) and a line that occurred before is translated like any other (--exact\n"
"steer).\n"
"\n"
"Systems kok and vanilla (--system) use no similar pairs. At each step they\n"
"search all corrections that were made since the program was started. Older\n"
"pairs of the memory are not searched, but corrections are stored in it as\n"
"usual. With --simulate, each document begins without corrections.\n"
"\n"
"Examples:\n"
"  skmt learn -M my.tm letter.de.txt -o letter.en.txt    correct line by line\n"
"  skmt learn -M my.tm a.de --corrections a.en > a.mt\n"
"  printf 'Guten Tag\\tHello there\\nGuten Tag\\n' | skmt learn -M my.tm\n"
"  skmt learn -M my.tm letter.de.txt --adapt --settings my.settings\n"
"  skmt learn --simulate docs.tsv.xz --baseline --threads 2\n"
"  skmt learn --simulate docs.tsv --preset sk1 -o learned.txt --json\n"
"  skmt learn --simulate docs.tsv --system kok --baseline\n";
