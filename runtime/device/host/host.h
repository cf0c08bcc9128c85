/* host.h - what the rest of the project may ask about this machine as a kernel target. */
#ifndef TESSERA_RUNTIME_HOST_H
#define TESSERA_RUNTIME_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HOST_REASON_BYTES = 160, HOST_TARGET_BYTES = 32 };

/* The environment variable that rules out the levels above the one it names. */
#define HOST_ISA_LIMIT "TESSERA_ISA"
/* Its value when this process first asked for a level; NULL: not set. */
const char *host_isa_limit(void);

/* The best ISA level that the CPU and the operating system support: "x86-64-v4", "x86-64-v3" or
 * "x86-64-v2+fma"; "unsupported" where not even the last is (host_isa_why_not("x86-64-v2+fma", ...)
 * says why). Static storage. */
const char *host_isa(void);
bool host_isa_supports(const char *isa);
/* The reason in words why kernels for `isa` cannot run here; "" where they can. */
void host_isa_why_not(const char *isa, char reason_out[HOST_REASON_BYTES]);

/* NULL where kernels can run here, else why not even the lowest level is supported. Static
 * storage. */
const char *host_unavailable(void);

/* ISA levels from the best downwards; NULL past the end. */
const char *host_isa_level(size_t index);

/* The target of images with code for a level, of any machine: "x86_64-elf/x86-64-v4". */
void host_target_of(const char *isa, char target_out[HOST_TARGET_BYTES]);
/* That of host_isa_level(index); static storage. */
const char *host_target(size_t index);

/* Sets how far behind the beginning of a page the code of modules loaded from now on begins: a
 * multiple of 64, below a page; 0 by default. Where code lies changes how fast it is by a percent
 * and more, so what compares code places it at random. For one thread that loads. */
void host_set_code_offset(size_t bytes);

const char *host_cpu_name(void);  /* the CPU's brand string; static storage */
uint32_t host_usable_cores(void); /* CPUs that this process may run on */
uint64_t host_memory_bytes(void); /* physical memory */

#endif
