/* passes.c - see passes.h: what a pass takes of `--pass NAME=ARGUMENTS`. */
#include "tool/passes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/passes.h"
#include "pipeline.h"
#include "program/outline.h"
#include "schedule/schedule.h"
#include "target/interp/fold_constants.h"
#include "tile/simt/simt.h"
#include "tile/tile.h"
#include "transforms/passes.h"

enum { MAX_DIMS = 64 };

/* Cuts "NAME=VALUE" off the comma-separated `*cursor`; the name is copied. 1: found, 0: the end,
 * -1: bad. */
static int next_setting(pass_run *r, const char **cursor, char name[64], int64_t *value) {
    if (!*cursor || !**cursor)
        return 0;
    size_t length = strcspn(*cursor, "=");
    char *end = NULL;
    errno = 0;
    if ((*cursor)[length] == '=')
        *value = strtoll(*cursor + length + 1, &end, 10);
    if (!end || end == *cursor + length + 1 || errno || length == 0 || length > 63 ||
        (*end && *end != ',')) {
        status_set(r->st, STATUS_INVALID, "expected NAME=NUMBER,... but found '%s'", *cursor);
        return -1;
    }
    snprintf(name, 64, "%.*s", (int)length, *cursor);
    *cursor = *end ? end + 1 : end;
    return 1;
}

static bool run_specialize(pass_run *r) {
    char names[MAX_DIMS][64];
    ir_binding dims[MAX_DIMS];
    uint32_t count = 0;
    int found = 0;
    const char *cursor = r->arguments;
    if (!cursor && r->c)
        return graph_specialize(r->m, (ir_bindings){r->c->dims, r->c->dim_count}, r->st);
    while (count < MAX_DIMS &&
           (found = next_setting(r, &cursor, names[count], &dims[count].value)) > 0) {
        dims[count].name = names[count];
        count++;
    }
    return found >= 0 && graph_specialize(r->m, (ir_bindings){dims, count}, r->st);
}

/* "rank=0,ranks=4,dp=2,tp=2" */
static bool run_shard(pass_run *r) {
    char name[64], layout[256] = "";
    shard_ranks ranks = {.count = 1};
    int64_t value;
    int found;
    const char *cursor = r->arguments;
    while ((found = next_setting(r, &cursor, name, &value)) > 0) {
        const size_t length = strlen(layout);
        if (value < 0 || value > UINT32_MAX)
            return status_set(r->st, STATUS_INVALID, "'%s' of shard is a number of ranks", name);
        if (strcmp(name, "rank") == 0)
            ranks.rank = (uint32_t)value;
        else if (strcmp(name, "ranks") == 0)
            ranks.count = (uint32_t)value;
        else if (strcmp(name, "bucket") == 0)
            ranks.bucket_bytes = value ? value : -1;
        else
            snprintf(layout + length, sizeof layout - length, "%s%s=%lld", length ? "," : "", name,
                     (long long)value);
    }
    ranks.layout = layout[0] ? layout : NULL;
    if (found == 0 && ranks.rank >= ranks.count)
        return status_set(r->st, STATUS_INVALID, "there is no rank %u of %u", ranks.rank,
                          ranks.count);
    const bool ok = found == 0 && graph_shard(r->m, &ranks, r->st);
    graph_drop_placed(r->m);
    return ok;
}

/* "4096": so many bytes are kept of what a budget is for. */
static bool run_checkpoint(pass_run *r) {
    char *end = NULL;
    const int64_t bytes = r->arguments ? strtoll(r->arguments, &end, 10) : 0;
    if (r->arguments && (end == r->arguments || *end || bytes < 0))
        return status_set(r->st, STATUS_INVALID, "checkpoint takes a number of bytes, not '%s'",
                          r->arguments);
    graph_keep_planned(r->m, bytes);
    return graph_checkpoint(r->m, r->st);
}

static bool run_stream_rows(pass_run *r) {
    return graph_stream_rows(r->m, r->st);
}

static bool replace(pass_run *r, ir_module *lower) {
    if (!lower)
        return false;
    ir_module_free(r->m);
    r->m = lower;
    return true;
}

/* "sm_80" or "gfx942,deterministic": a chip, and a profile other than strict. */
static bool run_lower_tiles(pass_run *r) {
    char chip[32] = "sm_80";
    simt_tiles_notes notes;
    compiler_options options = {.profile = PROFILE_STRICT};
    if (r->arguments)
        snprintf(chip, sizeof chip, "%.*s", (int)strcspn(r->arguments, ","), r->arguments);
    const char *profile = r->arguments ? strchr(r->arguments, ',') : NULL;
    while (profile && strcmp(compiler_profile_name(options.profile), profile + 1) != 0)
        if (++options.profile == PROFILE_COUNT)
            return status_set(r->st, STATUS_INVALID, "no profile is called '%s'", profile + 1);
    const target_info *target = target_find(chip);
    ir_module *lowered;
    if (!target || target->class != TARGET_SIMT)
        return status_set(r->st, STATUS_INVALID, "no chip is called '%s'", chip);
    return pipeline_lower_tiles(r->m, &options, target, &notes, &lowered)
               ? replace(r, lowered)
               : status_set(r->st, STATUS_UNAVAILABLE, "it is not lowered as it stands: %s%s",
                            notes.why, notes.refused);
}

static bool run_join_tiles(pass_run *r) {
    graph_join_tiles(r->m);
    return true;
}

static bool run_expand_tiles(pass_run *r) {
    return graph_expand_tiles(r->m, r->st);
}

static bool run_decompose(pass_run *r) {
    return graph_decompose_all(r->m, r->st);
}

static bool run_outline(pass_run *r) {
    char name[64];
    outline_request request = {0};
    int64_t value;
    const char *cursor = r->arguments;
    int found;
    while ((found = next_setting(r, &cursor, name, &value)) > 0)
        if (strcmp(name, "groups") == 0)
            request.unfused = value != 0;
        else if (strcmp(name, "concurrent") == 0)
            request.concurrent = value != 0;
        else if (strcmp(name, "nests") == 0)
            request.nests_together = value != 0;
        else if (strcmp(name, "buffers") == 0 && value >= 0 && value <= UINT32_MAX)
            request.buffers = (uint32_t)value;
        else
            return status_set(r->st, STATUS_INVALID,
                              "outline has 'groups', 'concurrent', 'nests' and 'buffers', not '%s'",
                              name);
    return found >= 0 && program_outline(r->m, &request, r->st);
}

static bool is_in_range(pass_run *r, const char *name, int64_t value) {
    return (value >= 1 && value <= 1024) ||
           status_set(r->st, STATUS_INVALID, "%s must be 1 to 1024", name);
}

/* Are there dimensions that only a launch gives? */
static bool is_symbolic(const ir_module *m) {
    const ir_block_data *body = ir_kernel_body(m);
    for (uint32_t i = 0; i < body->argument_count; i++)
        if (!ir_type_is_static(m, ir_value_get(m, body->arguments[i])->type))
            return true;
    return false;
}

static bool run_schedule(pass_run *r) {
    schedule_target target = {.vector_lanes = 16, .vector_registers = 32, .threads = 1};
    target.l2_bytes = 1 << 20, target.exchanges = true;
    int dots = 0, simt = 0, shared = 64, found = 0;
    int *const fields[] = {
        &target.vector_lanes, &target.vector_registers, &target.threads, &dots, &simt, &shared};
    static const char *const names[] = {"lanes", "registers", "threads", "dots", "simt", "shared"};
    enum { FIELDS = sizeof names / sizeof *names };
    text overrides;
    text_init(&overrides);
    char name[64];
    int64_t value;
    bool ok = true;
    for (const char *cursor = r->arguments;
         ok && (found = next_setting(r, &cursor, name, &value)) > 0;) {
        size_t field = 0;
        while (field < FIELDS && strcmp(names[field], name) != 0)
            field++;
        if (field == FIELDS)
            text_printf(&overrides, "%s%s=%lld", overrides.length ? "," : "", name,
                        (long long)value);
        else if ((ok = is_in_range(r, name, value)))
            *fields[field] = (int)value;
    }
    target.dots = dots != 0;
    target.l1_bytes = simt ? (int64_t)shared << 10 : 0;
    target.policy = simt ? &schedule_simt_policy : &schedule_cpu_policy;
    schedule_request request = {.target = &target,
                                .profile = "strict",
                                .symbolic = is_symbolic(r->m),
                                .overrides = overrides.data,
                                .written = r->written};
    ok = ok && found >= 0 && graph_require_code(r->m, NULL, NULL, r->st) &&
         replace(r, schedule_from_graph(r->m, &request, r->st));
    text_release(&overrides);
    return ok;
}

static bool run_tile(pass_run *r) {
    return replace(r, tile_from_schedule(r->m, r->st));
}

static bool read_lanes(pass_run *r, int *lanes_out) {
    char *end = NULL;
    long lanes = r->arguments ? strtol(r->arguments, &end, 10) : 16;
    if (end && (*end || end == r->arguments))
        return status_set(r->st, STATUS_INVALID, "expected a number of lanes but found '%s'",
                          r->arguments);
    *lanes_out = (int)lanes;
    return is_in_range(r, "lanes", lanes);
}

static bool run_split_chunks(pass_run *r) {
    char name[64];
    chunk_split split = {1, 0};
    int64_t value;
    const char *cursor = r->arguments;
    int found;
    while ((found = next_setting(r, &cursor, name, &value)) > 0)
        if (strcmp(name, "workers") == 0 && value > 0)
            split.workers = value;
        else if (strcmp(name, "columns") == 0 && value >= 0)
            split.columns = value;
        else
            return status_set(r->st, STATUS_INVALID,
                              "split-chunks has 'workers' and 'columns', not '%s'", name);
    return found >= 0 && graph_split_chunks(r->m, &split, r->st);
}

static bool run_share_functions(pass_run *r) {
    int lanes;
    return read_lanes(r, &lanes) && tile_share_functions(r->m, lanes, r->st);
}

static bool run_share_phases(pass_run *r) {
    return tile_share_phases(r->m, r->st);
}

static bool run_expand_math(pass_run *r) {
    bool hardware = r->arguments && chip_exp2_of(r->arguments);
    if (r->arguments && !hardware)
        return status_set(r->st, STATUS_INVALID, "no chip '%s' has an exponential", r->arguments);
    return tile_expand_math(r->m, hardware, r->st);
}

/* "16": lanes of a vector; "threads:128": threads of a workgroup, in subgroups of 32, or as
 * "wavefronts:128" of 64. */
static bool run_assign_layout(pass_run *r) {
    static const struct {
        const char *word;
        int subgroup;
    } simt[] = {{"threads:", 32}, {"wavefronts:", 64}};
    int count, subgroup = 0;
    for (size_t i = 0; i < sizeof simt / sizeof *simt && r->arguments && !subgroup; i++)
        if (strncmp(r->arguments, simt[i].word, strlen(simt[i].word)) == 0) {
            subgroup = simt[i].subgroup;
            r->arguments += strlen(simt[i].word);
        }
    if (!read_lanes(r, &count))
        return false;
    return subgroup ? simt_assign_layout(r->m, count, subgroup, r->st)
                    : tile_assign_layout(r->m, count, r->st);
}

static bool run_place_memory(pass_run *r) {
    return simt_place_memory(r->m, r->arguments ? strtoll(r->arguments, NULL, 10) : 48 << 10,
                             r->st);
}

const named_pass passes[] = {
#define P(function, name, LEVEL, arguments, summary)                                               \
    {name, IR_LEVEL_##LEVEL, run_##function, NULL, arguments, summary},
#define M(function, name, LEVEL, apply, when, summary)                                             \
    {name, IR_LEVEL_##LEVEL, NULL, apply, "", summary},
#include "passes.def"
};
const size_t pass_count = sizeof passes / sizeof *passes;

const named_pass *pass_find(const char *name, size_t length) {
    for (size_t i = 0; i < pass_count; i++)
        if (strlen(passes[i].name) == length && strncmp(passes[i].name, name, length) == 0)
            return &passes[i];
    return NULL;
}
