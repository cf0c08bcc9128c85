/* fault.h - the tests' knob: TSR_TEST_FAULT=crash|hang|oom@KERNEL/CASE makes that case do so in its
 * worker, when it is about to launch (docs/measuring.md). */
#ifndef TESSERA_HARNESS_FAULT_H
#define TESSERA_HARNESS_FAULT_H

void fault_trigger(const char *kernel, const char *case_name);

#endif
