/* test_host_isa.c - ISA levels, compared with the compiler's own reading of cpuid. */
#include "test/test.h"

#include <string.h>

#include "device/host/host.h"

static void levels_agree_with_the_compiler(void **state) {
    (void)state;
    __builtin_cpu_init();
    bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
              __builtin_cpu_supports("bmi2");
    bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
              __builtin_cpu_supports("avx512cd");
    assert_int_equal(host_isa_supports("x86-64-v2+fma"), __builtin_cpu_supports("fma") != 0);
    assert_int_equal(host_isa_supports("x86-64-v3"), v3);
    assert_int_equal(host_isa_supports("x86-64-v4"), v4);
    if (!host_unavailable())
        assert_true(host_isa_supports(host_isa()));
}

static void reasons_are_words(void **state) {
    (void)state;
    char reason[HOST_REASON_BYTES];
    host_isa_why_not("armv9", reason);
    assert_non_null(strstr(reason, "'armv9'"));
    for (size_t i = 0; host_isa_level(i); i++) {
        host_isa_why_not(host_isa_level(i), reason);
        assert_int_equal(reason[0] == '\0', host_isa_supports(host_isa_level(i)));
    }
}

static void the_machine_has_a_name_cores_and_memory(void **state) {
    (void)state;
    assert_true(strlen(host_cpu_name()) > 0);
    assert_true(host_usable_cores() >= 1);
    assert_true(host_memory_bytes() > 1 << 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_agree_with_the_compiler),
        cmocka_unit_test(reasons_are_words),
        cmocka_unit_test(the_machine_has_a_name_cores_and_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
