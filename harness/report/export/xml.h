/* xml.h - text and attributes of XML 1.0. Characters that it cannot hold (most control characters)
 * become U+FFFD. */
#ifndef TESSERA_HARNESS_REPORT_EXPORT_XML_H
#define TESSERA_HARNESS_REPORT_EXPORT_XML_H

#include "base/text.h"

void xml_text(const char *words, text *out);
/* A space, the name, and the value in quotation marks. */
void xml_attribute(const char *name, const char *value, text *out);

#endif
