/* test_host_elf.c - the loader: a compiled object runs; hostile ones are refused, with the
 * culprit's name. */
#include "test/test.h"

#include <elf.h>
#include <unistd.h>

#include "device/host/host_elf.h"
#include "device/host/host_elf_machine.h"
#include "tessera/kernel.h"
#include "test/module_maker.h"

static void a_compiled_object_runs(void **state) {
    (void)state;
    bytes object = read_object("kernel_good");
    status st = STATUS_INIT;
    host_elf *elf = host_elf_load(object.data, object.size, &st);
    if (!elf)
        fail_msg("%s", st.message);
    memset(object.data, 0, object.size); /* the loader keeps nothing of it */
    tsr_phase_fn phases[2];
    void *address[2] = {host_elf_symbol(elf, "phase_double"), host_elf_symbol(elf, "phase_add")};
    assert_non_null(address[0]);
    memcpy(phases, address, sizeof phases);
    assert_null(host_elf_symbol(elf, "twice"));
    assert_null(host_elf_symbol(elf, "table"));
    float a[8] = {0, 1, 2, 3, 4, 5, 6, 7}, out[8], workspace[8], scratch[1];
    void *buffers[] = {a, out};
    tsr_kernel_frame frame = {.buffers = buffers,
                              .workspace = (unsigned char *)workspace,
                              .scratch = (unsigned char *)scratch};
    phases[0](&frame, 0, 8);
    phases[1](&frame, 0, 8);
    for (int i = 0; i < 8; i++)
        assert_true(out[i] == (float)(2 * i + i % 4 + 1));
    host_elf_free(elf);
    free(object.data);
}

static void global_objects_are_found_with_their_sizes(void **state) {
    (void)state;
    bytes object = read_object("kernel_emulated");
    host_elf *elf = host_elf_load(object.data, object.size, NULL);
    size_t size = 0;
    assert_non_null(elf);
    const uint32_t *threads = host_elf_object(elf, "emulated_phase_threads", &size);
    assert_non_null(threads);
    assert_int_equal(size, 2 * sizeof *threads);
    assert_int_equal(threads[1], 4);
    assert_memory_equal(host_elf_object(elf, "affine_site_names", &size), "\0out", 5);
    assert_int_equal(size, 5);
    assert_null(host_elf_object(elf, "phase_double", &size)); /* a function */
    assert_null(host_elf_object(elf, "table", &size));        /* not global */
    assert_null(host_elf_symbol(elf, "emulated_phase_threads"));
    host_elf_free(elf);
    free(object.data);
}

static void refused(const bytes *object, status_code code, const char *words) {
    status st = STATUS_INIT;
    assert_null(host_elf_load(object->data, object->size, &st));
    if (st.code != code || !strstr(st.message, words))
        fail_msg("expected '%s', got %s: %s", words, status_code_name(st.code), st.message);
}

static void what_it_cannot_honour_is_named(void **state) {
    (void)state;
    bytes undefined = read_object("kernel_undefined"), absolute = read_object("kernel_absolute");
    refused(&undefined, STATUS_CORRUPT, "memory_barrier_of_somebody");
    refused(&absolute, STATUS_CORRUPT, "R_X86_64_32");
    free(undefined.data);
    free(absolute.data);
}

static void other_machines_and_types_are_refused(void **state) {
    (void)state;
    bytes object = read_object("kernel_good");
    Elf64_Ehdr *h = (Elf64_Ehdr *)(void *)object.data;
    h->e_machine = EM_AARCH64;
    refused(&object, STATUS_UNAVAILABLE, "ELF machine 183");
    h->e_machine = EM_X86_64;
    h->e_type = ET_DYN;
    refused(&object, STATUS_CORRUPT, "ET_REL");
    h->e_type = ET_REL;
    h->e_ident[EI_DATA] = ELFDATA2MSB;
    refused(&object, STATUS_CORRUPT, "little-endian");
    free(object.data);
}

static void writable_code_is_refused(void **state) {
    (void)state;
    bytes object = read_object("kernel_good");
    Elf64_Ehdr *h = (Elf64_Ehdr *)(void *)object.data;
    Elf64_Shdr *sections = (Elf64_Shdr *)(void *)(object.data + h->e_shoff);
    for (int i = 0; i < h->e_shnum; i++)
        if (sections[i].sh_flags & SHF_EXECINSTR)
            sections[i].sh_flags |= SHF_WRITE;
    refused(&object, STATUS_CORRUPT, "both writable and executable");
    free(object.data);
}

static void an_unknown_relocation_is_refused_by_name(void **state) {
    (void)state;
    bytes object = read_object("kernel_good");
    Elf64_Ehdr *h = (Elf64_Ehdr *)(void *)object.data;
    Elf64_Shdr *sections = (Elf64_Shdr *)(void *)(object.data + h->e_shoff);
    for (int i = 0; i < h->e_shnum; i++) {
        Elf64_Rela *r = (Elf64_Rela *)(void *)(object.data + sections[i].sh_offset);
        if (sections[i].sh_type == SHT_RELA)
            r->r_info = ELF64_R_INFO(ELF64_R_SYM(r->r_info), R_X86_64_TPOFF32);
    }
    refused(&object, STATUS_CORRUPT, "R_X86_64_TPOFF32");
    free(object.data);
}

static void truncation_at_every_byte_is_refused(void **state) {
    (void)state;
    bytes object = read_object("kernel_good");
    for (size_t cut = 0; cut < object.size; cut++) {
        char *exact = malloc(cut ? cut : 1);
        memcpy(exact, object.data, cut);
        assert_null(host_elf_load(exact, cut, NULL));
        free(exact);
    }
    free(object.data);
}

/* No outcome is demanded but a clean one: loaded or refused, nothing read or written outside. */
static void any_damaged_byte_is_survived(void **state) {
    (void)state;
    static const unsigned char values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    bytes object = read_object("kernel_good");
    size_t loaded = 0;
    for (size_t at = 0; at < object.size; at++) {
        char saved = object.data[at];
        for (size_t v = 0; v < COUNT_OF(values); v++) {
            object.data[at] = (char)values[v];
            host_elf *elf = host_elf_load(object.data, object.size, NULL);
            loaded += elf != NULL;
            host_elf_free(elf);
        }
        object.data[at] = saved;
    }
    assert_true(loaded > 0);
    free(object.data);
}

/* Instructions as an assembler writes them, with the field empty and with it filled. */
static const struct fixup_case {
    uint32_t type;
    uint64_t place, target;
    uint32_t before, after;
} aarch64_fixups[] = {
    {R_AARCH64_ADR_PREL_PG_HI21, 0x10000, 0x13abc, 0x90000000,
     0xf0000000}, /* adrp x0, . + 3 pages */
    {R_AARCH64_ADR_PREL_PG_HI21, 0x13abc, 0x10000, 0x90000001,
     0xb0ffffe1},                                                        /* adrp x1, . - 3 pages */
    {R_AARCH64_ADR_PREL_LO21, 0x1000, 0x0ffd, 0x10000002, 0x30ffffe2},   /* adr x2, . - 3 */
    {R_AARCH64_ADD_ABS_LO12_NC, 0, 0x13abc, 0x91000000, 0x912af000},     /* add x0, x0, #0xabc */
    {R_AARCH64_LDST8_ABS_LO12_NC, 0, 0x13abd, 0x39400000, 0x396af400},   /* ldrb w0, [x0, #0xabd] */
    {R_AARCH64_LDST16_ABS_LO12_NC, 0, 0x13abe, 0x79400000, 0x79557c00},  /* ldrh w0, [x0, #0xabe] */
    {R_AARCH64_LDST32_ABS_LO12_NC, 0, 0x13abc, 0xb9400000, 0xb94abc00},  /* ldr w0, [x0, #0xabc] */
    {R_AARCH64_LDST64_ABS_LO12_NC, 0, 0x13ab8, 0xf9400000, 0xf9455c00},  /* ldr x0, [x0, #0xab8] */
    {R_AARCH64_LDST128_ABS_LO12_NC, 0, 0x13ab0, 0x3dc00000, 0x3dc2ac00}, /* ldr q0, [x0, #0xab0] */
    {R_AARCH64_CALL26, 0x2000, 0x1ffc, 0x94000000, 0x97ffffff},          /* bl . - 4 */
    {R_AARCH64_JUMP26, 0x2000, 0x2008, 0x14000000, 0x14000002},          /* b . + 8 */
    {R_AARCH64_PREL32, 0x2000, 0x1000, 0, 0xfffff000},
};

static void relocations_of_aarch64_are_the_assemblers(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(aarch64_fixups); i++) {
        const struct fixup_case *c = &aarch64_fixups[i];
        uint32_t word = c->before;
        status st = STATUS_INIT;
        elf_fixup f = {c->type, (unsigned char *)&word, c->place, c->target - 8, 8, 0};
        assert_int_equal(elf_aarch64.written_bytes(c->type), 4);
        if (!elf_aarch64.apply(&f, &st) || word != c->after)
            fail_msg("%s: %08x, not %08x %s", elf_aarch64.relocation_name(c->type), word, c->after,
                     st.message);
    }
    uint64_t wide = 0;
    elf_fixup absolute = {R_AARCH64_ABS64, (unsigned char *)&wide, 64, 1000, 24, 0};
    assert_int_equal(elf_aarch64.written_bytes(R_AARCH64_ABS64), 8);
    assert_true(elf_aarch64.apply(&absolute, NULL));
    assert_int_equal(wide, 1024);
}

static void relocations_of_aarch64_that_do_not_fit_are_refused(void **state) {
    (void)state;
    static const struct fixup_case bad[] = {
        {R_AARCH64_ADR_PREL_PG_HI21, 0, UINT64_C(1) << 32, 0x90000000, 0},
        {R_AARCH64_ADR_PREL_LO21, 0, 1 << 20, 0x10000000, 0},
        {R_AARCH64_CALL26, 0, 1 << 27, 0x94000000, 0},
        {R_AARCH64_CALL26, 0, 2, 0x94000000, 0},
        {R_AARCH64_PREL32, 0, UINT64_C(1) << 31, 0, 0},
        {R_AARCH64_LDST64_ABS_LO12_NC, 0, 0x1004, 0xf9400000, 0},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        uint32_t word = bad[i].before;
        status st = STATUS_INIT;
        elf_fixup f = {bad[i].type, (unsigned char *)&word, bad[i].place, bad[i].target, 0, 0};
        assert_false(elf_aarch64.apply(&f, &st));
        assert_int_equal(st.code, STATUS_CORRUPT);
        assert_non_null(strstr(st.message, elf_aarch64.relocation_name(bad[i].type)));
    }
    assert_int_equal(elf_aarch64.written_bytes(R_AARCH64_ADR_GOT_PAGE), -1);
    assert_int_equal(elf_aarch64.written_bytes(R_AARCH64_NONE), 0);
}

static void perf_learns_the_symbols(void **state) {
    (void)state;
    char path[64], *map_text;
    snprintf(path, sizeof path, "/tmp/perf-%ld.map", (long)getpid());
    setenv("TSR_PERF_MAP", "1", 1);
    bytes object = read_object("kernel_good");
    host_elf *elf = host_elf_load(object.data, object.size, NULL);
    unsetenv("TSR_PERF_MAP");
    assert_non_null(elf);
    assert_true(file_read(path, 1 << 16, &map_text, NULL, NULL));
    assert_non_null(strstr(map_text, " phase_double\n"));
    assert_non_null(strstr(map_text, " twice\n"));
    unlink(path);
    free(map_text);
    host_elf_free(elf);
    free(object.data);
}

/* The head of gdb's list of JIT-compiled objects, as its manual lays it out. */
typedef struct jit_descriptor {
    uint32_t version, action;
    struct jit_entry {
        struct jit_entry *next, *previous;
        const char *image;
        uint64_t size_bytes;
    } * relevant, *first;
} jit_descriptor;
extern jit_descriptor __jit_debug_descriptor;

static void gdb_learns_where_the_code_lies(void **state) {
    (void)state;
    bytes object = read_object("kernel_good");
    host_elf *one = host_elf_load(object.data, object.size, NULL);
    host_elf *two = host_elf_load(object.data, object.size, NULL);
    assert_int_equal(__jit_debug_descriptor.first->size_bytes, object.size);
    assert_int_equal(__jit_debug_descriptor.first->next->size_bytes, object.size);
    const Elf64_Ehdr *h = (const void *)__jit_debug_descriptor.first->image;
    const Elf64_Shdr *sections = (const void *)((const char *)h + h->e_shoff);
    uintptr_t code = (uintptr_t)host_elf_symbol(two, "phase_double");
    size_t holding = 0;
    for (int i = 0; i < h->e_shnum; i++)
        holding += (sections[i].sh_flags & SHF_EXECINSTR) &&
                   code - sections[i].sh_addr < sections[i].sh_size;
    assert_int_equal(holding, 1);
    host_elf_free(one);
    assert_null(__jit_debug_descriptor.first->next);
    host_elf_free(two);
    assert_null(__jit_debug_descriptor.first);
    free(object.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_compiled_object_runs),
        cmocka_unit_test(global_objects_are_found_with_their_sizes),
        cmocka_unit_test(what_it_cannot_honour_is_named),
        cmocka_unit_test(other_machines_and_types_are_refused),
        cmocka_unit_test(writable_code_is_refused),
        cmocka_unit_test(an_unknown_relocation_is_refused_by_name),
        cmocka_unit_test(truncation_at_every_byte_is_refused),
        cmocka_unit_test(any_damaged_byte_is_survived),
        cmocka_unit_test(relocations_of_aarch64_are_the_assemblers),
        cmocka_unit_test(relocations_of_aarch64_that_do_not_fit_are_refused),
        cmocka_unit_test(perf_learns_the_symbols),
        cmocka_unit_test(gdb_learns_where_the_code_lies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
