/* test.h - what every cmocka program needs before cmocka.h. */
#ifndef TESSERA_REPRO_TEST_H
#define TESSERA_REPRO_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#endif
