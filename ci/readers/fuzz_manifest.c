/* fuzz_manifest.c - the manifest of a pack: its members' names and sizes, then the domain of every
 * field. */
#include "fuzz.h"
#include "repro/manifest.h"
#include "run/pack_fields.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static manifest m;
    status st = STATUS_INIT;
    text why;
    text_init(&why);
    if (manifest_read(&m, (const char *)data, size, &st) == PACK_VALID)
        pack_fields_check(m.root, &why);
    manifest_release(&m);
    text_release(&why);
    return 0;
}
