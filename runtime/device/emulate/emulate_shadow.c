/* emulate_shadow.c - what was done to each byte of a launch's memory, and whether an access may
 * follow it. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "device/emulate/emulate_parts.h"

#define likely(condition) __builtin_expect(condition, 1)
#define unlikely(condition) __builtin_expect(condition, 0)

/* ---- cells ---- */

/* Tells that what was done at `stamp` and what is done now, by the thread of `now`, have no order.
 */
static inline bool unordered(const emulate *e, const emulate_region *r, uint64_t stamp,
                             uint64_t now) {
    return (stamp >= e->epoch && !stamp_same(stamp, now)) ||
           (stamp >= r->others_from && stamp < e->group_start);
}

/* Most reads are of what nobody writes, or of what was written before a barrier. */
static inline bool may_read(const emulate *e, const emulate_region *r, uint64_t written,
                            uint64_t now) {
    return written - e->group_start < e->epoch - e->group_start ||
           written - r->plain_from < r->plain_span || stamp_same(written, now);
}

/* One that another workgroup has read stays its: every later writer is unordered with that. */
static inline void note_read(const emulate *e, const emulate_region *r, emulate_cell *c,
                             uint64_t now, uint32_t site) {
    uint64_t read = c->read;
    if (stamp_same(read, now))
        return;
    if (read >= e->epoch)
        c->read_too = c->read_too < e->epoch ? now | site : c->read_too;
    else if (read < r->others_from || read >= e->group_start)
        c->read = now | site;
}

/* There is a second reader only in the epoch of the first. */
static inline bool may_write(const emulate *e, const emulate_region *r, const emulate_cell *c,
                             uint64_t now) {
    return !unordered(e, r, c->written, now) && !unordered(e, r, c->read, now) &&
           (c->read < e->epoch || !unordered(e, r, c->read_too, now));
}

/* A cell that an access covers; false where it may not follow what was done there. */
static inline __attribute__((always_inline)) bool
touch_one(const emulate *e, const emulate_region *r, emulate_cell *c, uint64_t now, uint32_t site) {
    const uint32_t number = site & EMULATED_SITE_MASK;
    const bool writes = site & EMULATED_WRITE,
               may = writes ? may_write(e, r, c, now) : may_read(e, r, c->written, now);
    if (likely(may) && writes)
        *c = (emulate_cell){now | number, 0, 0};
    else if (likely(may))
        note_read(e, r, c, now, number);
    return may;
}

/* `count` cells that one access covers; the first of which it may not follow, or NULL. Once more
 * changes nothing. */
static inline emulate_cell *touch(const emulate *e, const emulate_region *r, emulate_cell *c,
                                  size_t count, uint64_t now, uint32_t site) {
    for (const emulate_cell *end = c + count; c != end; c++)
        if (unlikely(!touch_one(e, r, c, now, site)))
            return c;
    return NULL;
}

/* ---- pages ---- */

static size_t page_bytes(unsigned shift) {
    return (size_t)(SHADOW_PAGE_BYTES >> shift) * sizeof(emulate_cell);
}

static emulate_cell *page_new(emulate *e, unsigned shift) {
    void *page = e->spare[shift].count ? vec_pop(&e->spare[shift]) : base_malloc(page_bytes(shift));
    return memset(page, 0, page_bytes(shift));
}

static void page_release(emulate *e, uintptr_t page) {
    unsigned shift = page & SHADOW_SHIFT_MASK;
    if (shift != SHADOW_UNTOUCHED)
        vec_push(&e->spare[shift], (void *)(page - shift));
}

static unsigned page_shift(uintptr_t page) {
    return page & SHADOW_SHIFT_MASK;
}

static emulate_cell *page_cells(uintptr_t page) {
    return (emulate_cell *)(page & ~(uintptr_t)SHADOW_SHIFT_MASK);
}

/* Each part of a cell that is cut was accessed like the whole. */
static void page_refine(emulate *e, uintptr_t *page, unsigned shift) {
    emulate_cell *cells = page_new(e, shift);
    if (page_shift(*page) != SHADOW_UNTOUCHED) {
        const emulate_cell *old = page_cells(*page);
        unsigned finer = page_shift(*page) - shift;
        for (int i = 0; i < SHADOW_PAGE_BYTES >> shift; i++)
            cells[i] = old[i >> finer];
    }
    page_release(e, *page);
    *page = (uintptr_t)cells | shift;
}

/* Returns the shift of the largest cells that divide both ends of an access. */
static unsigned needed_shift(uint64_t offset, uint64_t bytes) {
    uint64_t both = offset | bytes | 16;
    return (unsigned)__builtin_ctzll(both);
}

static void pages_make(emulate_region *r) {
    uint64_t count = (r->size_bytes + SHADOW_PAGE_BYTES - 1) / SHADOW_PAGE_BYTES;
    r->aligned_bytes = r->size_bytes / 16 * 16;
    r->pages = base_malloc((count + 1) * sizeof *r->pages);
    for (uint64_t i = 0; i < count; i++)
        r->pages[i] = SHADOW_UNTOUCHED;
}

static void pages_release(emulate *e, emulate_region *r) {
    uint64_t count = (r->size_bytes + SHADOW_PAGE_BYTES - 1) / SHADOW_PAGE_BYTES;
    for (uint64_t i = 0; r->pages && i < count; i++) {
        page_release(e, r->pages[i]);
        r->pages[i] = SHADOW_UNTOUCHED;
    }
}

/* ---- regions ---- */

static void add_region(emulate *e, emulate_span span, emulate_memory memory, bool needs_writing) {
    if (span.size_bytes)
        e->regions[e->region_count++] = (emulate_region){.base = (uintptr_t)span.address,
                                                         .size_bytes = span.size_bytes,
                                                         .needs_writing = needs_writing,
                                                         .memory = memory};
}

static int by_address(const void *a, const void *b) {
    const emulate_region *x = a, *y = b;
    return x->base < y->base ? -1 : x->base > y->base;
}

/* Buffers may share bytes, and then they share cells. */
static void join_overlapping(emulate *e) {
    uint32_t kept = 0;
    for (uint32_t i = 1; i < e->region_count; i++) {
        emulate_region *last = &e->regions[kept], *r = &e->regions[i];
        uint64_t apart = r->base - last->base;
        if (apart >= last->size_bytes)
            e->regions[++kept] = *r;
        else if (r->size_bytes > last->size_bytes - apart)
            last->size_bytes = apart + r->size_bytes;
    }
    e->region_count = e->region_count ? kept + 1 : 0;
}

bool emulate_regions_make(emulate *e, status *st) {
    const emulate_launch *l = e->launch;
    host_memory_unmap(&e->shared_memory);
    e->shared_memory = (host_memory){0};
    size_t room = (size_t)l->shared_bytes + SHARED_ALIGNMENT;
    if (!host_memory_map(room, false, &e->shared_memory, st))
        return status_context(st, "the memory of a workgroup");
    e->regions = base_calloc(l->buffer_count + 2, sizeof *e->regions);
    for (uint32_t i = 0; i < l->buffer_count; i++)
        add_region(e, l->buffers[i], EMULATE_BUFFER, false);
    add_region(e, l->workspace, EMULATE_WORKSPACE, true);
    add_region(e, l->prepared, EMULATE_PREPARED, l->prepared_here);
    qsort(e->regions, e->region_count, sizeof *e->regions, by_address);
    join_overlapping(e);
    memset(e->hints, 0, sizeof e->hints);
    uintptr_t begin = (uintptr_t)e->shared_memory.data + SHARED_ALIGNMENT - 1;
    e->shared = (emulate_region){.base = begin / SHARED_ALIGNMENT * SHARED_ALIGNMENT,
                                 .size_bytes = l->shared_bytes,
                                 .others_from = UINT64_MAX,
                                 .needs_writing = true,
                                 .memory = EMULATE_SHARED};
    pages_make(&e->shared);
    for (uint32_t i = 0; i < e->region_count; i++)
        pages_make(&e->regions[i]);
    return true;
}

void emulate_regions_release(emulate *e) {
    pages_release(e, &e->shared);
    free(e->shared.pages);
    e->shared = (emulate_region){0};
    for (uint32_t i = 0; i < e->region_count; i++) {
        pages_release(e, &e->regions[i]);
        free(e->regions[i].pages);
    }
    free(e->regions);
    e->regions = NULL;
    e->region_count = 0;
}

void emulate_shadow_release(emulate *e) {
    for (int shift = 0; shift < SHADOW_SHIFTS; shift++) {
        for (size_t i = 0; i < e->spare[shift].count; i++)
            free(e->spare[shift].items[i]);
        vec_release(&e->spare[shift]);
    }
    host_memory_unmap(&e->shared_memory);
}

/* Lets what a phase before this one wrote be read; of shared memory there is nothing. */
void emulate_regions_begin(emulate *e) {
    pages_release(e, &e->shared);
    for (uint32_t i = 0; i < e->region_count; i++) {
        emulate_region *r = &e->regions[i];
        r->plain_from = r->needs_writing ? STAMP_EPOCH : 0;
        r->plain_span = e->phase_start - r->plain_from;
        r->others_from = e->phase_start;
    }
}

/* The region in which all of an access lies. */
static inline bool is_inside(const emulate_region *r, uint64_t address, uint64_t bytes) {
    uint64_t offset = address - r->base;
    return offset < r->size_bytes && r->size_bytes - offset >= bytes;
}

static emulate_region *find_region(emulate *e, uint64_t address, uint32_t bytes, uint32_t site) {
    if (is_inside(&e->shared, address, bytes))
        return &e->shared;
    for (uint32_t i = 0; i < e->region_count && !(site & EMULATED_SHARED); i++) {
        if (is_inside(&e->regions[i], address, bytes)) {
            e->hints[site & 255] = (uint16_t)i;
            return &e->regions[i];
        }
    }
    return NULL;
}

/* ---- findings ---- */

int64_t emulate_group_of(const emulate *e, uint64_t stamp) {
    uint64_t epoch = stamp >> STAMP_EPOCH_SHIFT;
    size_t low = 0, high = e->group_epochs.count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        *(e->group_epochs.items[middle] <= epoch ? &low : &high) = middle;
    }
    return (int64_t)emulate_order_at(&e->how, low, (uint64_t)e->launch->workgroups[e->phase]);
}

static emulate_deed deed_of(const emulate *e, uint64_t stamp, bool write) {
    bool under_way = stamp >= STAMP_UNDER_WAY;
    return (emulate_deed){.act = under_way ? EMULATE_COPIES
                                 : write   ? EMULATE_WRITES
                                           : EMULATE_READS,
                          .workgroup = under_way ? e->group : emulate_group_of(e, stamp),
                          .thread = stamp >> STAMP_THREAD_SHIFT & (EMULATED_THREADS_MAX - 1),
                          .site = stamp & EMULATED_SITE_MASK};
}

/* Finds an address for those who read of it: in a buffer rather than in a region. */
static void place_of(const emulate *e, const emulate_region *r, uint64_t address,
                     emulate_finding *f) {
    const emulate_launch *l = e->launch;
    f->memory = r->memory;
    f->offset = (int64_t)(address - r->base);
    f->memory_bytes = r->size_bytes;
    for (uint32_t i = 0; i < l->buffer_count && r->memory == EMULATE_BUFFER; i++) {
        const emulate_span *b = &l->buffers[i];
        if (address - (uintptr_t)b->address < b->size_bytes) {
            f->buffer = i;
            f->offset = (int64_t)(address - (uintptr_t)b->address);
            f->memory_bytes = b->size_bytes;
            return;
        }
    }
}

static emulate_finding finding_of(const emulate_thread *t, uint32_t bytes, uint32_t site) {
    return (emulate_finding){.phase = t->engine->phase,
                             .now = {.act = site & EMULATED_WRITE ? EMULATE_WRITES : EMULATE_READS,
                                     .workgroup = t->engine->group,
                                     .thread = t->base.thread,
                                     .site = site & EMULATED_SITE_MASK},
                             .memory = EMULATE_NOWHERE,
                             .bytes = bytes};
}

/* Tells that a read, which the cell does not allow, is of what nobody has written. */
static bool is_unwritten(const emulate *e, const emulate_region *r, const emulate_cell *c,
                         uint64_t now, uint32_t site) {
    return !(site & EMULATED_WRITE) && c->written < STAMP_UNDER_WAY &&
           !unordered(e, r, c->written, now);
}

/* Keeps the read: whether it is the mistake, or a race with a later write, the epoch's end decides
 * (in the workspace the phase's), not the order of threads. */
static void note_unwritten(const emulate_thread *t, const emulate_region *r, uint64_t address,
                           uint32_t bytes, uint32_t site) {
    emulate_finding *f = &t->engine->unwritten;
    if (f->fault != EMULATE_NO_FAULT)
        return;
    *f = finding_of(t, bytes, site);
    f->fault = EMULATE_UNINITIALISED;
    place_of(t->engine, r, address, f);
}

bool emulate_reads_settle(emulate *e, bool phase_ended) {
    const emulate_finding *f = &e->unwritten;
    if (f->fault == EMULATE_NO_FAULT || (f->memory != EMULATE_SHARED && !phase_ended))
        return true;
    e->finding = *f;
    return false;
}

/* Fails with the access in a cell that this one must not follow. */
_Noreturn static void fail_race(const emulate_thread *t, const emulate_region *r,
                                const emulate_cell *c, uint64_t address, uint32_t bytes,
                                uint32_t site) {
    emulate *e = t->engine;
    uint64_t now = e->epoch | t->stamp;
    emulate_finding f = finding_of(t, bytes, site);
    bool with_write = c->written >= STAMP_UNDER_WAY || unordered(e, r, c->written, now);
    uint64_t before = with_write                      ? c->written
                      : unordered(e, r, c->read, now) ? c->read
                                                      : c->read_too;
    f.fault = EMULATE_RACE;
    f.before = deed_of(e, before, with_write);
    place_of(e, r, address, &f);
    emulate_fail(e, &f);
}

static uint64_t distance(uint64_t address, const emulate_region *r) {
    uint64_t end = r->base + r->size_bytes;
    return address < r->base ? r->base - address : address < end ? 0 : address - end;
}

/* Names the memory that the access is nearest to, where it is near to any. */
_Noreturn static void fail_outside(const emulate_thread *t, uint64_t address, uint32_t bytes,
                                   uint32_t site) {
    static const uint64_t near_bytes = UINT64_C(1) << 36;
    emulate *e = t->engine;
    emulate_finding f = finding_of(t, bytes, site);
    const emulate_region *nearest = &e->shared;
    f.fault = EMULATE_OUT_OF_BOUNDS;
    if (!(site & EMULATED_SHARED)) {
        nearest = e->region_count ? &e->regions[0] : NULL;
        for (uint32_t i = 1; i < e->region_count; i++)
            if (distance(address, &e->regions[i]) < distance(address, nearest))
                nearest = &e->regions[i];
    }
    if (nearest && (site & EMULATED_SHARED || distance(address, nearest) < near_bytes)) {
        uint64_t last = nearest->base + (nearest->size_bytes ? nearest->size_bytes - 1 : 0);
        uint64_t known = address < nearest->base ? nearest->base : address > last ? last : address;
        place_of(e, nearest, known, &f);
        f.offset += (int64_t)(address - known);
    }
    emulate_fail(e, &f);
}

/* Fails where a site reaches another buffer than its own. */
static void keep_to_buffer(const emulate_thread *t, uint64_t address, uint32_t bytes,
                           uint32_t site) {
    const emulate_launch *l = t->engine->launch;
    const uint32_t number = site & EMULATED_SITE_MASK;
    int32_t own = number < l->sites.buffers_count ? l->sites.buffers[number] : -1;
    if (own < 0 || (uint32_t)own >= l->buffer_count || site & EMULATED_SHARED)
        return;
    const emulate_span *b = &l->buffers[own];
    uint64_t offset = address - (uintptr_t)b->address;
    if (offset < b->size_bytes && b->size_bytes - offset >= bytes)
        return;
    emulate_finding f = finding_of(t, bytes, site);
    f.fault = EMULATE_OUT_OF_BOUNDS;
    f.memory = EMULATE_BUFFER;
    f.buffer = (uint32_t)own;
    f.offset = (int64_t)offset;
    f.memory_bytes = b->size_bytes;
    emulate_fail(t->engine, &f);
}

/* ---- accesses ---- */

typedef struct piece_of {
    uint32_t bytes, site; /* of the whole access */
} piece_of;

/* Does what lies in one page of an access from `at` to `end`; returns its bytes. */
static uint64_t touch_page(emulate_thread *t, emulate_region *r, uint64_t at, uint64_t end,
                           piece_of access) {
    emulate *e = t->engine;
    uint64_t in_page = (at - r->base) % SHADOW_PAGE_BYTES, left = SHADOW_PAGE_BYTES - in_page;
    uint64_t piece = end - at < left ? end - at : left, now = e->epoch | t->stamp;
    uintptr_t *page = &r->pages[(at - r->base) / SHADOW_PAGE_BYTES];
    unsigned shift = needed_shift(in_page, piece);
    if (page_shift(*page) > shift)
        page_refine(e, page, shift);
    shift = page_shift(*page);
    emulate_cell *c = page_cells(*page) + (in_page >> shift), *first = c;
    const emulate_cell *last = c + (piece >> shift);
    while ((c = touch(e, r, c, (size_t)(last - c), now, access.site))) {
        uint64_t address = at + ((uint64_t)(c - first) << shift);
        if (!is_unwritten(e, r, c, now, access.site))
            fail_race(t, r, c, address, access.bytes, access.site);
        note_unwritten(t, r, address, access.bytes, access.site);
        note_read(e, r, c, now, access.site & EMULATED_SITE_MASK);
        c++;
    }
    return piece;
}

/* Any access, page by page. */
static __attribute__((noinline)) void access_slowly(emulate_thread *t, uint64_t address,
                                                    uint32_t bytes, uint32_t site) {
    emulate *e = t->engine;
    emulate_region *r = find_region(e, address, bytes, site);
    if (atomic_load_explicit(&e->cancelled, memory_order_relaxed))
        emulate_fail_without(e, STATUS_INTERRUPTED, "the launch was given up");
    if (!r)
        fail_outside(t, address, bytes, site);
    for (uint64_t at = address, end = address + bytes; at < end;)
        at += touch_page(t, r, at, end, (piece_of){bytes, site});
}

/* Aligned, and of several cells of a page. */
static __attribute__((noinline)) void access_wide(emulate_thread *t, uint64_t address,
                                                  uint32_t bytes, uint32_t site) {
    emulate *e = t->engine;
    const emulate_region *r =
        site & EMULATED_SHARED ? &e->shared : &e->regions[e->hints[site & 255]];
    const uint64_t offset = address - r->base, now = e->epoch | t->stamp;
    const uintptr_t page = r->pages[offset / SHADOW_PAGE_BYTES];
    const unsigned shift = page_shift(page);
    emulate_cell *c = page_cells(page) + (offset % SHADOW_PAGE_BYTES >> shift);
    if (unlikely(touch(e, r, c, bytes >> shift, now, site) != NULL))
        access_slowly(t, address, bytes, site);
}

static __attribute__((noinline)) void access_kept(emulate_thread *t, uint64_t address,
                                                  uint32_t bytes, uint32_t site) {
    keep_to_buffer(t, address, bytes, site);
    access_slowly(t, address, bytes, site);
}

/* The usual access covers a cell or some of a page, and there is nothing that it must not follow.
 * All else is in functions of their own, so that this one keeps no registers for them. */
void emulate_access(emulated_thread *base, const void *address, uint32_t bytes, uint32_t site) {
    emulate_thread *t = emulate_thread_of(base);
    emulate *e = t->engine;
    if (unlikely(e->keeps)) {
        access_kept(t, (uintptr_t)address, bytes, site);
        return;
    }
    const emulate_region *r =
        site & EMULATED_SHARED ? &e->shared : &e->regions[e->hints[site & 255]];
    const uint64_t offset = (uintptr_t)address - r->base, now = e->epoch | t->stamp;
    if (unlikely(offset >= r->aligned_bytes) ||
        unlikely(atomic_load_explicit(&e->cancelled, memory_order_relaxed))) {
        access_slowly(t, (uintptr_t)address, bytes, site);
        return;
    }
    const uintptr_t page = r->pages[offset / SHADOW_PAGE_BYTES];
    const unsigned shift = page_shift(page);
    const bool aligned = ((offset | bytes) & (bytes - 1)) == 0; /* to a power of two */
    if (likely(bytes == 1u << shift) && likely(aligned)) {
        emulate_cell *c = page_cells(page) + (offset % SHADOW_PAGE_BYTES >> shift);
        if (unlikely(!touch_one(e, r, c, now, site)))
            access_slowly(t, (uintptr_t)address, bytes, site);
    } else if (aligned && shift != SHADOW_UNTOUCHED && bytes <= 16 && bytes > 1u << shift) {
        access_wide(t, (uintptr_t)address, bytes, site);
    } else {
        access_slowly(t, (uintptr_t)address, bytes, site);
    }
}

void emulate_mark(emulate_thread *t, const void *shared, uint32_t bytes, uint64_t stamp) {
    const emulate_region *r = &t->engine->shared;
    uint64_t offset = (uintptr_t)shared - r->base, end = offset + bytes;
    while (offset < end) {
        uintptr_t page = r->pages[offset / SHADOW_PAGE_BYTES];
        unsigned shift = page_shift(page);
        page_cells(page)[offset % SHADOW_PAGE_BYTES >> shift] = (emulate_cell){stamp, 0, 0};
        offset = ((offset >> shift) + 1) << shift;
    }
}

static void settle(emulate_thread *t, const emulate_copy *copy, emulate_act act) {
    emulate *e = t->engine;
    uint64_t address = (uintptr_t)copy->global, end = address + copy->bytes;
    const emulate_region *r = find_region(e, address, copy->bytes, copy->site);
    while (address < end) {
        uint64_t offset = address - r->base;
        uintptr_t page = r->pages[offset / SHADOW_PAGE_BYTES];
        unsigned shift = page_shift(page);
        const emulate_cell *c = page_cells(page) + (offset % SHADOW_PAGE_BYTES >> shift);
        if (c->written >= copy->began + STAMP_EPOCH) {
            emulate_finding f = finding_of(t, copy->bytes, copy->site);
            f.fault = EMULATE_RACE;
            f.now.act = act;
            f.before = deed_of(e, c->written, true);
            place_of(e, r, address, &f);
            emulate_fail(e, &f);
        }
        address = r->base + (((offset >> shift) + 1) << shift);
    }
}

void emulate_source_settle(emulate_thread *t, const emulate_copy *copy) {
    settle(t, copy, EMULATE_COPIES);
}

void emulate_factor_settle(emulate_thread *t, const void *shared, uint32_t bytes,
                           const emulate_product *product) {
    const emulate_copy source = {.global = shared,
                                 .bytes = bytes,
                                 .site = product->site | EMULATED_SHARED,
                                 .began = product->began};
    settle(t, &source, EMULATE_MULTIPLIES);
}

uint64_t emulate_written(const emulate *e, const void *shared) {
    const emulate_region *r = &e->shared;
    uint64_t offset = (uintptr_t)shared - r->base;
    uintptr_t page = r->pages[offset / SHADOW_PAGE_BYTES];
    return page == SHADOW_UNTOUCHED
               ? 0
               : page_cells(page)[offset % SHADOW_PAGE_BYTES >> page_shift(page)].written;
}

/* A thread's fences are known by their epochs: one before the write, in its epoch, counts, too. */
static bool is_fenced(const emulate *e, uint64_t written) {
    const emulate_thread *by =
        &e->threads[written >> STAMP_THREAD_SHIFT & (EMULATED_THREADS_MAX - 1)];
    uint64_t fenced = by->fenced < e->epoch ? by->fenced : by->fenced_before;
    return written == 0 || written >> STAMP_EPOCH_SHIFT <= fenced >> STAMP_EPOCH_SHIFT;
}

void emulate_need_fence(emulate_thread *t, const void *shared, uint32_t bytes, uint32_t site) {
    emulate *e = t->engine;
    const emulate_region *r = &e->shared;
    uint64_t offset = (uintptr_t)shared - r->base, end = offset + bytes;
    while (offset < end) {
        uintptr_t page = r->pages[offset / SHADOW_PAGE_BYTES];
        unsigned shift = page_shift(page);
        uint64_t written = page_cells(page)[offset % SHADOW_PAGE_BYTES >> shift].written;
        if (!is_fenced(e, written)) {
            emulate_finding f = finding_of(t, bytes, site);
            f.fault = EMULATE_UNFENCED;
            f.now.act = EMULATE_MULTIPLIES;
            f.before = deed_of(e, written, true);
            place_of(e, r, r->base + offset, &f);
            emulate_fail(e, &f);
        }
        offset = ((offset >> shift) + 1) << shift;
    }
}
