/* emulate_finding.c - a mistake in words. */
#include <stdio.h>
#include <string.h>

#include "device/emulate/emulate.h"

static const char *const keywords[] = {
    "",
#define FAULT(id, keyword) keyword,
#include "device/emulate/emulate_faults.def"
#undef FAULT
};

const char *emulate_fault_keyword(emulate_fault fault) {
    return keywords[fault];
}

enum { PLACE_BYTES = 160, MEMORY_BYTES = 120 };

static void put_place(const emulate_sites *s, uint32_t site, char out[PLACE_BYTES]) {
    const emulated_site *place = s->sites && site < s->count ? &s->sites[site] : NULL;
    const char *name = place && s->names && place->name_offset < s->names_bytes
                           ? s->names + place->name_offset
                           : "";
    size_t longest = *name ? s->names_bytes - place->name_offset : 0;
    int length = (int)strnlen(name, longest < 80 ? longest : 80);
    if (!place || place->line == 0)
        snprintf(out, PLACE_BYTES, "site %u%s%.*s", site, length ? " of " : "", length, name);
    else
        snprintf(out, PLACE_BYTES, "%u:%u%s%.*s%s", place->line, place->column, length ? " (" : "",
                 length, name, length ? ")" : "");
}

static void put_memory(const emulate_finding *f, char out[MEMORY_BYTES]) {
    char name[32];
    switch (f->memory) {
    case EMULATE_SHARED:
        snprintf(name, sizeof name, "shared memory");
        break;
    case EMULATE_BUFFER:
        snprintf(name, sizeof name, "buffer %u", f->buffer);
        break;
    case EMULATE_WORKSPACE:
        snprintf(name, sizeof name, "the workspace");
        break;
    case EMULATE_PREPARED:
        snprintf(name, sizeof name, "prepared memory");
        break;
    default:
        snprintf(out, MEMORY_BYTES, "memory that is none of the launch's");
        return;
    }
    snprintf(out, MEMORY_BYTES, "byte %lld of %s", (long long)f->offset, name);
}

static const char *does(emulate_act act) {
    return act == EMULATE_READS        ? "reads"
           : act == EMULATE_WRITES     ? "writes"
           : act == EMULATE_MULTIPLIES ? "multiplies"
                                       : "copies from";
}

static const char *done(emulate_act act) {
    return act == EMULATE_READS        ? "read"
           : act == EMULATE_WRITES     ? "wrote"
           : act == EMULATE_FETCHES    ? "fetched,"
           : act == EMULATE_MULTIPLIES ? "multiplies,"
                                       : "began to copy to, and has not waited for,";
}

static void tell_race(const emulate_finding *f, const emulate_sites *s, const char *now,
                      const char *memory, status *st) {
    char before[PLACE_BYTES];
    bool same_group = f->now.workgroup == f->before.workgroup;
    bool both_write = f->now.act == EMULATE_WRITES && f->before.act != EMULATE_READS;
    put_place(s, f->before.site, before);
    status_set(st, STATUS_MISMATCH,
               "%s: %s of phase %u: thread %u of workgroup %lld %s %s at %s, which thread %u of "
               "workgroup %lld %s at %s; %s",
               emulate_fault_keyword(f->fault), both_write ? "write-write" : "read-write", f->phase,
               f->now.thread, (long long)f->now.workgroup, does(f->now.act), memory, now,
               f->before.thread, (long long)f->before.workgroup, done(f->before.act), before,
               f->before.act == EMULATE_COPIES
                   ? "wait for the copy, then let all threads meet at a "
                     "barrier"
               : f->now.act == EMULATE_MULTIPLIES
                   ? "wait for the products, then let all threads meet at a "
                     "barrier"
               : f->now.act == EMULATE_FETCHES || f->before.act == EMULATE_FETCHES
                   ? "wait for the slot, and give it back behind the products"
               : same_group ? "no barrier is between them"
                            : "workgroups of one phase have no order; give them memory of their "
                              "own, or make two phases of it");
}

static void tell_divergence(const emulate_finding *f, const emulate_sites *s, const char *now,
                            status *st) {
    char before[PLACE_BYTES];
    bool ended = f->before.act == EMULATE_ENDED;
    put_place(s, f->before.site, before);
    status_set(st, STATUS_MISMATCH,
               "%s: phase %u: thread %u of workgroup %lld waits for %s at %s, "
               "but thread %u %s%s; let all of them take the same way",
               emulate_fault_keyword(f->fault), f->phase, f->now.thread,
               (long long)f->now.workgroup,
               f->now.act == EMULATE_JOINS    ? "all threads of its subgroup"
               : f->now.act == EMULATE_AWAITS ? "a slot"
                                              : "all threads of its workgroup",
               now, f->before.thread, ended ? "has ended" : "waits at ", ended ? "" : before);
}

static void tell_outside(const emulate_finding *f, const char *now, const char *memory,
                         status *st) {
    char has[48] = "";
    if (f->memory != EMULATE_NOWHERE)
        snprintf(has, sizeof has, ", which has %llu bytes", (unsigned long long)f->memory_bytes);
    status_set(st, STATUS_MISMATCH,
               "%s: phase %u: thread %u of workgroup %lld %s %u bytes at %s%s, at %s; compare the "
               "index with the extent before the access",
               emulate_fault_keyword(f->fault), f->phase, f->now.thread,
               (long long)f->now.workgroup, f->now.act == EMULATE_WRITES ? "writes" : "reads",
               f->bytes, memory, has, now);
}

static void tell_uninitialised(const emulate_finding *f, const char *now, const char *memory,
                               status *st) {
    const char *keyword = emulate_fault_keyword(f->fault);
    if (f->now.act == EMULATE_JOINS)
        status_set(st, STATUS_MISMATCH,
                   "%s: phase %u: thread %u of workgroup %lld asks lane %lld of its subgroup at "
                   "%s, which has %llu",
                   keyword, f->phase, f->now.thread, (long long)f->now.workgroup,
                   (long long)f->offset, now, (unsigned long long)f->memory_bytes);
    else
        status_set(st, STATUS_MISMATCH,
                   "%s: phase %u: thread %u of workgroup %lld reads %s at %s, which %s has not "
                   "written; write it first",
                   keyword, f->phase, f->now.thread, (long long)f->now.workgroup, memory, now,
                   f->memory == EMULATE_SHARED ? "its workgroup" : "the launch");
}

/* Tells of unfenced memory, or of unfenced sums in a thread's registers. */
static void tell_unfenced(const emulate_finding *f, const emulate_sites *s, const char *now,
                          const char *memory, status *st) {
    char before[PLACE_BYTES];
    const char *keyword = emulate_fault_keyword(f->fault);
    put_place(s, f->before.site, before);
    if (f->memory == EMULATE_NOWHERE)
        status_set(st, STATUS_MISMATCH,
                   "%s: phase %u: thread %u of workgroup %lld multiplies onto sums that it has "
                   "written, at %s; fence them before (wgmma.fence)",
                   keyword, f->phase, f->now.thread, (long long)f->now.workgroup, now);
    else
        status_set(
            st, STATUS_MISMATCH,
            "%s: phase %u: thread %u of workgroup %lld multiplies %s at %s, which thread %u "
            "wrote at %s; let that thread fence it (fence.proxy.async), then let all threads "
            "meet at a barrier",
            keyword, f->phase, f->now.thread, (long long)f->now.workgroup, memory, now,
            f->before.thread, before);
}

void emulate_finding_tell(const emulate_finding *f, const emulate_sites *sites, status *st) {
    char now[PLACE_BYTES], memory[MEMORY_BYTES];
    put_place(sites, f->now.site, now);
    put_memory(f, memory);
    switch (f->fault) {
    case EMULATE_RACE:
        tell_race(f, sites, now, memory, st);
        break;
    case EMULATE_DIVERGENT_BARRIER:
        tell_divergence(f, sites, now, st);
        break;
    case EMULATE_OUT_OF_BOUNDS:
        tell_outside(f, now, memory, st);
        break;
    case EMULATE_UNINITIALISED:
        tell_uninitialised(f, now, memory, st);
        break;
    case EMULATE_UNFENCED:
        tell_unfenced(f, sites, now, memory, st);
        break;
    default:
        status_set(st, STATUS_INTERNAL, "the emulator names a mistake that it does not know");
    }
}
