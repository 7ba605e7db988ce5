/* settings.h - the settings of the server: the options of "skmt serve".
 *
 * They come from four places. A later one overrides an earlier one:
 *   1. the defaults of settings.def;
 *   2. the file of --config: lines "name = value", with comments that begin
 *      with '#'; a line may be repeated if the option may be repeated;
 *   3. the environment: SKMT_SERVE_MAX_BODY for --max-body; values of an option
 *      that may be repeated are separated by commas;
 *   4. the command line.
 * A list of a later place replaces the whole list of an earlier one. Options of
 * the library, such as "beam", can be given in all of these places too, and in
 * the file of --settings, which all others override.
 *
 * Settings do not change while the server runs, and all threads may read
 * them. */
#ifndef SERVER_SETTINGS_H
#define SERVER_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "skmt.h"

/* The index of a value of --log-level. */
enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

struct setting_list { char **list; int n; };

struct settings {
#define TEXT(field, name, letter, value, help) char *field;
#define LIST(field, name, letter, value, help) struct setting_list field;
#define FLAG(field, name, help) bool field;
#define NUMBER(field, name, fallback, low, high, help) int field;
#define SIZE(field, name, fallback, low, high, help) int64_t field;
#define WORD(field, name, list, fallback, help) int field;
#include "server/settings.def"
#undef TEXT
#undef LIST
#undef FLAG
#undef NUMBER
#undef SIZE
#undef WORD
    skmt_options *options;      /* defaults of all requests; also has threads */
    struct sockaddr_storage address;    /* of --listen */
    socklen_t address_size;
    bool loopback;              /* only this machine can reach the address */
    bool help;                  /* --help was given */
};

/* Reads the settings from all four places and checks them. Prints errors with
 * the name and line of the file. Returns an exit status; release the settings
 * in any case. argv[0] is the name of the command. */
int settings_read(struct settings *s, int argc, char **argv);
void settings_release(struct settings *s);

#endif
