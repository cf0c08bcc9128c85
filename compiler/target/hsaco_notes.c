/* hsaco_notes.c - the registers and parameters of a HSACO's kernels: the note AMDGPU of type 32,
 * whose contents are MessagePack, {"amdhsa.kernels": [{".name": ..., ".vgpr_count": ...}, ...],
 * ...}.
 *
 * Format: LLVM's "User Guide for AMDGPU Backend", section Code Object Metadata; the specification
 * of MessagePack. What is not looked for is stepped over. */
#include <stdio.h>
#include <string.h>

#include "base/elf.h"
#include "target/target.h"
#include "tessera/chip.h"

enum { NOTE_METADATA = 32, NAME_BYTES = 512, PARAMETERS_MAX = 256 };

static const struct known {
    const char *name, *key;
} known[] = {
#define HSACO(name, key) {#name, key},
#include "target/resources.def"
};
enum { KNOWN = sizeof known / sizeof *known };

/* ---- MessagePack ---- */

typedef struct pack {
    const unsigned char *at, *end;
    bool wrong;
} pack;

typedef enum item_kind { ITEM_NUMBER, ITEM_BYTES, ITEM_ARRAY, ITEM_MAP, ITEM_OTHER } item_kind;

/* A number's value, or how many bytes, elements or pairs follow. */
typedef struct item {
    item_kind kind;
    uint64_t value;
    const unsigned char *bytes;
} item;

static uint64_t take_number(pack *p, unsigned size) {
    uint64_t value = 0;
    if ((size_t)(p->end - p->at) < size) {
        p->wrong = true;
        return 0;
    }
    for (unsigned i = 0; i < size; i++)
        value = value << 8 | *p->at++;
    return value;
}

/* Formats with a size of their own: the byte, what it is, bytes of its number or length, bytes that
 * follow beside those. */
static const struct format {
    uint8_t first;
    uint8_t kind, length_bytes, more_bytes;
} formats[] = {
    {0xc0, ITEM_OTHER, 0, 0},  {0xc2, ITEM_NUMBER, 0, 0}, {0xc3, ITEM_NUMBER, 0, 0},
    {0xc4, ITEM_BYTES, 1, 0},  {0xc5, ITEM_BYTES, 2, 0},  {0xc6, ITEM_BYTES, 4, 0},
    {0xca, ITEM_OTHER, 0, 4},  {0xcb, ITEM_OTHER, 0, 8},  {0xcc, ITEM_NUMBER, 1, 0},
    {0xcd, ITEM_NUMBER, 2, 0}, {0xce, ITEM_NUMBER, 4, 0}, {0xcf, ITEM_NUMBER, 8, 0},
    {0xd0, ITEM_NUMBER, 1, 0}, {0xd1, ITEM_NUMBER, 2, 0}, {0xd2, ITEM_NUMBER, 4, 0},
    {0xd3, ITEM_NUMBER, 8, 0}, {0xd9, ITEM_BYTES, 1, 0},  {0xda, ITEM_BYTES, 2, 0},
    {0xdb, ITEM_BYTES, 4, 0},  {0xdc, ITEM_ARRAY, 2, 0},  {0xdd, ITEM_ARRAY, 4, 0},
    {0xde, ITEM_MAP, 2, 0},    {0xdf, ITEM_MAP, 4, 0},
};

static item take_long(pack *p, uint8_t first) {
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (formats[i].first == first) {
            item found = {(item_kind)formats[i].kind, take_number(p, formats[i].length_bytes),
                          NULL};
            take_number(p, formats[i].more_bytes);
            return found;
        }
    p->wrong = true;
    return (item){ITEM_OTHER, 0, NULL};
}

static item take_first(pack *p) {
    uint8_t first = (uint8_t)take_number(p, 1);
    if (first < 0x80 || first >= 0xe0)
        return (item){ITEM_NUMBER, first, NULL};
    if (first < 0xc0)
        return (item){first < 0x90   ? ITEM_MAP
                      : first < 0xa0 ? ITEM_ARRAY
                                     : ITEM_BYTES,
                      first < 0xa0 ? first & 0x0fu : first & 0x1fu, NULL};
    return take_long(p, first);
}

static item take(pack *p) {
    item found = take_first(p);
    if (found.kind != ITEM_BYTES || p->wrong)
        return found;
    found.bytes = p->at;
    if ((uint64_t)(p->end - p->at) < found.value) {
        p->wrong = true;
        return (item){ITEM_OTHER, 0, NULL};
    }
    p->at += found.value;
    return found;
}

static uint64_t elements_of(const item *i) {
    return i->kind == ITEM_ARRAY ? i->value : i->kind == ITEM_MAP ? 2 * i->value : 0;
}

/* Skips what follows an item: its elements, and theirs. Each is a byte at least. */
static void skip(pack *p, const item *of) {
    for (uint64_t left = elements_of(of); left > 0 && !p->wrong; left--) {
        item one = take(p);
        left += elements_of(&one);
        p->wrong |= left - 1 > (uint64_t)(p->end - p->at);
    }
}

static bool is_text(const item *i, const char *words) {
    return i->kind == ITEM_BYTES && i->value == strlen(words) &&
           memcmp(i->bytes, words, i->value) == 0;
}

/* ---- kernels ---- */

typedef struct found_kernel {
    char symbol[NAME_BYTES];
    int64_t values[KNOWN]; /* -1: not said */
    uint32_t sizes[PARAMETERS_MAX], parameters;
    bool parameters_known, too_many;
    int64_t argument_bytes; /* of all, hidden ones too; -1: not said */
} found_kernel;

static void tell(const resource_reader *reader, const found_kernel *k) {
    for (int i = 0; i < KNOWN && *k->symbol && reader->tell; i++)
        if (k->values[i] >= 0)
            reader->tell(reader->context, k->symbol, known[i].name, k->values[i]);
    if (*k->symbol && reader->tell_parameters && !k->too_many &&
        (k->parameters_known || k->argument_bytes == 0))
        reader->tell_parameters(reader->context, k->symbol, k->sizes, k->parameters);
}

/* Leaves out "hidden_...", which the language's runtime adds, and no caller gives. */
static void take_parameter(pack *p, uint64_t fields, found_kernel *k) {
    static const char hidden[] = "hidden_";
    bool given = true;
    uint64_t size = 0;
    for (uint64_t i = 0; i < fields && !p->wrong; i++) {
        item key = take(p), value = take(p);
        skip(p, &value);
        if (is_text(&key, ".size") && value.kind == ITEM_NUMBER)
            size = value.value;
        if (is_text(&key, ".value_kind") && value.kind == ITEM_BYTES && !p->wrong)
            given =
                value.value < strlen(hidden) || memcmp(value.bytes, hidden, strlen(hidden)) != 0;
    }
    k->too_many |= given && k->parameters == PARAMETERS_MAX;
    if (given && !k->too_many)
        k->sizes[k->parameters++] = (uint32_t)size;
}

static void take_parameters(pack *p, const item *list, found_kernel *k) {
    k->parameters_known = true;
    for (uint64_t i = 0; i < list->value && !p->wrong; i++) {
        item one = take(p);
        p->wrong |= one.kind != ITEM_MAP;
        take_parameter(p, one.value, k);
    }
}

static void take_kernel(pack *p, uint64_t fields, const resource_reader *reader) {
    found_kernel found = {.symbol = "", .argument_bytes = -1};
    memset(found.values, -1, sizeof found.values);
    for (uint64_t i = 0; i < fields && !p->wrong; i++) {
        item key = take(p), value = take(p);
        if (is_text(&key, ".args") && value.kind == ITEM_ARRAY)
            take_parameters(p, &value, &found);
        else
            skip(p, &value);
        if (p->wrong)
            return;
        if (is_text(&key, ".name") && value.kind == ITEM_BYTES)
            snprintf(found.symbol, sizeof found.symbol, "%.*s", (int)value.value,
                     (const char *)value.bytes);
        if (is_text(&key, ".kernarg_segment_size") && value.kind == ITEM_NUMBER)
            found.argument_bytes = (int64_t)value.value;
        for (int k = 0; k < KNOWN; k++)
            if (is_text(&key, known[k].key) && value.kind == ITEM_NUMBER)
                found.values[k] = (int64_t)value.value;
    }
    tell(reader, &found);
}

static void take_kernels(pack *p, const item *list, const resource_reader *reader) {
    p->wrong |= list->kind != ITEM_ARRAY;
    for (uint64_t i = 0; i < list->value && !p->wrong; i++) {
        item kernel = take(p);
        p->wrong |= kernel.kind != ITEM_MAP;
        take_kernel(p, kernel.value, reader);
    }
}

static bool take_document(pack *p, const resource_reader *reader) {
    item root = take(p);
    bool found = false;
    p->wrong |= root.kind != ITEM_MAP;
    for (uint64_t i = 0; i < root.value && !p->wrong; i++) {
        item key = take(p), value = take(p);
        if (!p->wrong && is_text(&key, "amdhsa.kernels")) {
            take_kernels(p, &value, reader);
            found = true;
        } else {
            skip(p, &value);
        }
    }
    return found && !p->wrong;
}

/* ---- notes ---- */

static bool read_note(const unsigned char *notes, size_t size, const resource_reader *reader) {
    Elf64_Nhdr header;
    for (size_t at = 0; size - at >= sizeof header;) {
        memcpy(&header, notes + at, sizeof header);
        at += sizeof header;
        size_t name = (header.n_namesz + 3u) & ~(size_t)3, contents = header.n_descsz;
        if (name > size - at || contents > size - at - name)
            return false;
        pack p = {notes + at + name, notes + at + name + contents, false};
        if (header.n_type == NOTE_METADATA)
            return take_document(&p, reader);
        at += name + ((contents + 3) & ~(size_t)3);
        if (at > size)
            return false;
    }
    return false;
}

bool hsaco_resources(const void *hsaco, size_t size_bytes, const resource_reader *reader,
                     status *st) {
    elf_file e;
    Elf64_Phdr segment;
    uint32_t count = elf_file_open(&e, hsaco, size_bytes) ? 0 : e.header.e_phnum;
    for (uint32_t i = 0; i < count; i++)
        if (elf_file_segment(&e, i, &segment) && segment.p_type == PT_NOTE &&
            read_note(e.bytes + segment.p_offset, segment.p_filesz, reader))
            return true;
    return status_set(st, STATUS_CORRUPT, "the HSACO has no metadata of kernels that can be read");
}

bool compiler_hsaco_entries(const void *hsaco, size_t size_bytes, compiler_entry_fn *tell_entry,
                            void *context, status *st) {
    const resource_reader reader = {.tell_parameters = tell_entry, .context = context};
    return hsaco_resources(hsaco, size_bytes, &reader, st);
}
