/* frames.h - where a process that serves was when a signal ended it: a line {"frame": "..."} for
 * each function, to the process that started it.
 *
 * A frame is the build id of a program or library with the offset in it, and a name where that is
 * exported: the same for every run of the same build. Code that the compiler made has neither, and
 * is "generated code". */
#ifndef TESSERA_HARNESS_PROCESS_FRAMES_H
#define TESSERA_HARNESS_PROCESS_FRAMES_H

enum { FRAMES_MAX = 48, FRAME_BYTES_MAX = 256, FRAME_ID_DIGITS = 12 };

/* From now on SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT are told, and end the process as before.
 * A sanitizer's own handlers stay. */
void frames_watch(void);

#endif
