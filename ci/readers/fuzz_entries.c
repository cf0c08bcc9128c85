/* fuzz_entries.c - code for a GPU that others made: the entry points of PTX, cubins and HSACOs. The
 * first byte says which, as a letter of "pch"; behind it are the file's. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "implementation/entries.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    implementation_entries entries;
    status st = STATUS_INIT;
    if (size == 0)
        return 0;
    const implementation_kind kind = data[0] == 'p'   ? IMPLEMENTATION_PTX
                                     : data[0] == 'c' ? IMPLEMENTATION_CUBIN
                                                      : IMPLEMENTATION_HSACO;
    implementation_file f = {malloc(size), size - 1};
    memcpy(f.bytes, data + 1, size - 1);
    f.bytes[size - 1] = '\0';
    if (kind == IMPLEMENTATION_PTX || implementation_machine_code_kind(&f) == kind) {
        implementation_entries_read(&entries, kind, &f, &st);
        implementation_entries_release(&entries);
    }
    free(f.bytes);
    return 0;
}
