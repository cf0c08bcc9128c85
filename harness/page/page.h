/* page.h - the report as one HTML file that asks nothing of any network.
 *
 * The page is the embedded template (report/page/) with the data as JSON. Its scripts build every
 * element from text, never from markup; a content security policy lets run only the scripts whose
 * SHA-256 stands in it and forbids every request. Equal data give equal bytes. */
#ifndef TESSERA_HARNESS_PAGE_PAGE_H
#define TESSERA_HARNESS_PAGE_PAGE_H

#include <jansson.h>

#include "base/text.h"
#include "base/vec.h"

typedef VEC(float) page_samples;

/* Appends the page. `data` is a document tsr.report/1 (report/model.h); the samples that its rows
 * refer to by place follow it as little-endian f32 in base64. */
void page_render(const json_t *data, const page_samples *samples, text *out);

#endif
