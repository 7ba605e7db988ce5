/* plan_report.h - a description of a planned model for users. */
#ifndef CONVERT_PLAN_REPORT_H
#define CONVERT_PLAN_REPORT_H

#include <stdbool.h>

#include "convert/model_plan.h"

/* Append lines that say what was found: family, languages, sizes, tokenizers,
 * weights and license. false: out of memory. */
bool plan_report(const struct model_plan *p, struct strbuf *out);

#endif
