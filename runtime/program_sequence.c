/* program_sequence.c - what a device records of a program's launches: all commands between two at
 * which the host takes part are one sequence, found again by the addresses that they have.
 *
 * A launch with other addresses has sequences of its own; that asked for longest ago makes room.
 * Where none of the last recordings came again, addresses change from launch to launch, and only
 * what comes a second time is recorded. Sequences share a workspace, as they share the arena: the
 * launches of a program follow each other. */
#include "program_run.h"

enum { LINE_BYTES = 64, COMMANDS_LEAST = 2 /* of a sequence */, FRESH_MOST = 8 };

/* ---- loading ---- */

/* Room for a wait, the replay and all commands behind it, so that a program is one sequence. */
static uint32_t commands_most(const program *p) {
    const int64_t all = p->steps + 3;
    return all < PROGRAM_BATCH      ? PROGRAM_BATCH
           : all < PROGRAM_RECORDED ? (uint32_t)all
                                    : PROGRAM_RECORDED;
}

static size_t workspace_bytes(const struct program_state *s) {
    size_t most = 0;
    for (uint32_t i = 0; i < s->module->metadata.program->kernel_count; i++) {
        const device_dispatch *p = &s->dispatches[i].dispatch;
        size_t lines = (p->workspace_bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
        most = lines + p->prepared_bytes > most ? lines + p->prepared_bytes : most;
    }
    return most;
}

bool program_record_open(struct program_state *s, status *st) {
    const tsr_context_t context = s->module->context;
    device *d = context->device;
    size_t bytes = workspace_bytes(s);
    if (!d->driver->sequence_create || context->debug)
        return true;
    s->recorded_most = commands_most(s->module->metadata.program);
    return bytes == 0 || d->driver->alloc(d, bytes, DEVICE_MEMORY_DEVICE, &s->workspace, st) ||
           status_context(st, "the workspace of program '%s'", s->module->metadata.name);
}

void program_record_close(struct program_state *s) {
    device *d = s->module->context->device;
    for (int i = 0; i < PROGRAM_SEQUENCES; i++)
        if (s->sequences[i].sequence)
            d->driver->sequence_destroy(d, s->sequences[i].sequence);
    if (s->workspace)
        d->driver->free(d, s->workspace);
}

/* ---- finding ---- */

static uint64_t mix(uint64_t key, uint64_t word) {
    key = (key ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return key ^ key >> 29;
}

static uint64_t mix_address(uint64_t key, const void *address) {
    return mix(key, (uint64_t)(uintptr_t)address);
}

/* A key of all that differs between launches; where two have the same the device records anew. */
static uint64_t key_of(const device_command *commands, size_t count) {
    uint64_t key = count;
    for (size_t i = 0; i < count; i++) {
        const device_command *c = &commands[i];
        const device_dispatch *p = &c->dispatch;
        key = mix(key, (uint64_t)c->kind << 8 | c->byte);
        if (c->kind == DEVICE_DISPATCH) {
            key = mix_address(key, p->image);
            for (uint32_t k = 0; k < p->buffer_count; k++)
                key = mix_address(key, p->buffers[k]);
            continue;
        }
        key = mix(mix_address(key, c->range.to.address), c->range.size_bytes);
        if (c->kind == DEVICE_COPY)
            key = mix_address(key, c->range.from.address);
    }
    return key;
}

/* The one of these commands; else the one that was asked for longest ago. */
static program_sequence *find(struct program_state *s, uint64_t key) {
    program_sequence *oldest = s->sequences;
    for (program_sequence *p = s->sequences; p < s->sequences + PROGRAM_SEQUENCES; p++) {
        if (p->used && p->key == key)
            return p;
        oldest = p->used < oldest->used ? p : oldest;
    }
    return oldest;
}

/* NULL: the commands are not recorded this time. */
static device_sequence *sequence_for(struct program_state *s, uint64_t key) {
    device *d = s->module->context->device;
    program_sequence *p = find(s, key);
    const bool again = p->used && p->key == key;
    if (again && !p->noted)
        s->fresh = 0;
    else
        s->fresh += s->fresh < FRESH_MOST;
    p->noted = !again && s->fresh == FRESH_MOST;
    p->key = key;
    p->used = ++s->asked;
    if (!p->sequence && !p->noted)
        p->sequence = d->driver->sequence_create(d);
    return p->noted ? NULL : p->sequence;
}

void program_record_end(struct program_state *s) {
    program_run *r = &s->run;
    if (r->opened == UINT32_MAX)
        return;
    device_command *replay = &r->commands[r->opened];
    const size_t count = r->count - r->opened - 1;
    replay->replay.count = count;
    replay->replay.sequence =
        count < COMMANDS_LEAST ? NULL : sequence_for(s, key_of(replay + 1, count));
    r->opened = UINT32_MAX;
}
