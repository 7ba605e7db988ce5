/* marks.c - finds placeholders and puts them back. */
#include "marks.h"
