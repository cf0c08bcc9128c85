/* test.h - what every cmocka program needs before cmocka.h. */
#ifndef TESSERA_HARNESS_TEST_H
#define TESSERA_HARNESS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
