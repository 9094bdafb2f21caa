/* A comparison as text: for a terminal, and as a table of Markdown, of which tools/lab/failover/README.md has one. */
#ifndef FAILOVER_COMPARISON_TEXT_H
#define FAILOVER_COMPARISON_TEXT_H

#include "comparison.h"

/* A block for each system, a line for each scenario, and what led to two holders. */
void fo_comparison_text(struct term *term, const struct fo_comparison *comparison);
void fo_comparison_markdown(FILE *out, const struct fo_comparison *comparison);

#endif
