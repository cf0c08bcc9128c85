/* main.c - tessera-guest: started by the runtime's device `foreign`, for one implementation each.
 */
#include "guest/guest.h"

int main(void) {
    static const guest_kind kinds[] = {
#define KIND(name, open, call) {name, open, call},
#include "guest/kinds.def"
#undef KIND
        {0}};
    return guest_serve(kinds);
}
