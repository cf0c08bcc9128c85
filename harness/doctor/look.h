/* look.h - how checks read the system and say what they found. */
#ifndef TESSERA_HARNESS_DOCTOR_LOOK_H
#define TESSERA_HARNESS_DOCTOR_LOOK_H

#include "doctor/doctor.h"

enum { LOOK_TEXT_BYTES = 4096 };

/* The beginning of a file below the root, without the last newline. False where there is none. */
bool look_at(const char *root, const char *path, char text[LOOK_TEXT_BYTES]);
/* A whole number at the beginning of a file; `otherwise` where there is none. */
long long look_number(const char *root, const char *path, long long otherwise);

typedef struct finding {
    const char *state; /* "ok", "note", "harm", "unknown" */
    char found[512];
    const char *why, *mend; /* static, or NULL */
    char mend_text[160];    /* instead of `mend`, where it names something of this machine */
} finding;

#define CHECK(function, name) finding check_##function(const doctor_place *place);
#include "doctor/checks.def"
#undef CHECK

#endif
