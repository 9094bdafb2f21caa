/* A comparison as a page, see html.h. */
#ifndef FAILOVER_COMPARISON_HTML_H
#define FAILOVER_COMPARISON_HTML_H

#include "comparison.h"

void fo_comparison_html(FILE *out, const struct fo_comparison *comparison);

#endif
