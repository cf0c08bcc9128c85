/* emulated.h - devices that run code of GPUs on threads of this process, and judge it (emulate.h):
 * index 0 what was compiled for PTX, index 1 for AMD's GPUs.
 *
 * TESSERA_EMULATED=1 in the environment, read whenever devices are listed or opened, makes them two
 * of them, after all others of this machine: who takes every device that there is does not want
 * them. Each queue is a thread of its own, and so are its launches' verdicts. Their
 * memory is that of simulated devices (simulated.h): the host dies of touching it unmapped. A
 * launch in which a mistake is found fails with STATUS_MISMATCH and a message that begins with the
 * mistake's keyword (emulate_faults.def); what it had written until then stays.
 *
 * TESSERA_EMULATE_ORDER, read when a device is opened, is the order in which workgroups run, and
 * the threads of each. */
#ifndef TESSERA_RUNTIME_EMULATED_H
#define TESSERA_RUNTIME_EMULATED_H

#include <stdint.h>

#define EMULATED_DEVICES "TESSERA_EMULATED"
enum { EMULATED_DEVICE_PTX, EMULATED_DEVICE_ROCM, EMULATED_DEVICE_COUNT, EMULATED_NAME_BYTES = 32 };

/* The level of code for a device's GPUs on a level of a CPU, "ptx-emulated+x86-64-v3", and the
 * section of modules that holds such code, "elf/ptx-emulated+x86-64-v3". */
void emulated_isa_of(uint32_t index, const char *cpu_level, char isa_out[EMULATED_NAME_BYTES]);
void emulated_target_of(uint32_t index, const char *cpu_level,
                        char target_out[EMULATED_NAME_BYTES]);

#endif
