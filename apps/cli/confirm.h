/* confirm.h - asks before something is deleted. */
#ifndef CONFIRM_H
#define CONFIRM_H

/* Asks "question [y/N]" on the terminal. Prints an error and returns an exit
 * status other than EXIT_DONE if the answer is not yes, or if there is no
 * terminal; `command` has an option --yes for that case. */
int confirm(const char *command, const char *question);

#endif
