/* main.c - tessera-guest: started by the runtime's device `foreign`, for one implementation each.
 */
#include <string.h>

#include "base/sanitizer.h"
#include "guest/apart.h"
#include "guest/guest.h"

/* A guest that crashes dies of the signal, under a sanitizer too: that is its result. */
#if BUILT_WITH_ASAN || BUILT_WITH_TSAN
static const char options[] = "handle_segv=0:handle_abort=0:handle_sigbus=0";
const char *__asan_default_options(void); // NOLINT(bugprone-reserved-identifier)
const char *__tsan_default_options(void); // NOLINT(bugprone-reserved-identifier)
__attribute__((visibility("default"))) const char *__asan_default_options(void) {
    return options;
}
__attribute__((visibility("default"))) const char *__tsan_default_options(void) {
    return options;
}
#endif

int main(int argc, char **argv) {
    static const guest_kind kinds[] = {
#define KIND(name, open, call) {name, open, call},
#include "guest/kinds.def"
#undef KIND
        {0}};
    if (argc > 1 && strcmp(argv[1], GUEST_APART) == 0)
        return guest_start_apart(&argv[2]);
    if (argc > 2 && strcmp(argv[1], GUEST_PLUGIN) == 0)
        guest_tell_plugin(argv[2], argc > 3 ? argv[3] : NULL, argc > 4 ? argv[4] : NULL);
    return guest_serve(kinds);
}
