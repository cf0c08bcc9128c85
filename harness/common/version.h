/* version.h - which tsr this is. */
#ifndef TESSERA_HARNESS_COMMON_VERSION_H
#define TESSERA_HARNESS_COMMON_VERSION_H

#define TSR_VERSION "0.1.0"

#endif
