/* Text in a page of HTML. */
#ifndef LOAD_HTML_H
#define LOAD_HTML_H

#include <stdio.h>

void load_html_text(FILE *out, const char *text); /* escaped; without control characters other than line ends */

#endif
