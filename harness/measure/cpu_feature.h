/* cpu_feature.h - CPU features by their names in /proc/cpuinfo. */
#ifndef TESSERA_HARNESS_MEASURE_CPU_FEATURE_H
#define TESSERA_HARNESS_MEASURE_CPU_FEATURE_H

#include <stdbool.h>

/* NULL is a feature that every CPU has. */
bool cpu_has_feature(const char *name);
/* True where a hypervisor is below us. */
bool cpu_is_virtual(void);

#endif
