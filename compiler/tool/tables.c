/* tables.c - tables of pages that no other file prints. */
#include "tool/tables.h"

void print_limits(text *out) {
    text_append(out, "| at most | |\n|---|---|\n");
#define LIMIT(NAME, value, shown, what) text_printf(out, "| %s | %s |\n", shown, what);
#include "ir/limits.def"
}

void print_capabilities(text *out) {
    enum { ASKED_NOTHING, ASKED_NAME, ASKED_EXACTLY, ASKED_COUNT, ASKED_FLAG, ASKED_TYPE };
    static const char *const asked[] = {
        [ASKED_NOTHING] = "",       [ASKED_NAME] = "which",   [ASKED_EXACTLY] = "how many",
        [ASKED_COUNT] = "at least", [ASKED_FLAG] = "whether", [ASKED_TYPE] = "of which types"};
    text_append(out, "| key | is | `when` asks | meaning |\n|---|---|---|---|\n");
#define KEY(name, value, ASKED, meaning)                                                           \
    text_printf(out, "| `%s` | %s | %s | %s |\n", #name, value, asked[ASKED_##ASKED], meaning);
#include "device/capability_keys.def"
}
