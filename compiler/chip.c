/* chip.c - see tessera/chip.h. */
#include "tessera/chip.h"

#include "chip/unit.h"
#include "pipeline.h"
#include "tile/simt/banks.h"
#include "tile/simt/pressure.h"
#include "tile/tensor_map.h"
#include "tile/tile.h"

typedef struct chip_walk {
    compiler_chip_facts *facts;
    uint32_t phase;
} chip_walk;

/* Copies, and what a matrix unit reads. */
static void look_at_pieces(const ir_module *m, ir_op op, const chip_walk *l) {
    const ir_op_data *d = ir_op_get(m, op);
    compiler_chip_access found = {
        .at = d->location, .phase = l->phase, .writes = d->opcode == TILE_COPY, .shared = true};
    found.degree =
        banks_of_pieces(m, op, l->facts->threads, l->facts->subgroup, &found.width_bytes);
    if (!found.degree)
        return;
    found.element = ir_type_of(m, d->operands[0])->element;
    const ir_type_data *tile = d->opcode == TILE_LOAD ? ir_type_of(m, d->results[0]) : NULL;
    found.rows = tile ? tile->dims[0] : ir_op_int(m, op, "rows", 1);
    found.columns =
        tile ? tile->dims[1] : ir_op_int(m, op, "columns", ir_op_int(m, op, "steps", 1));
    vec_push(&l->facts->accesses, found);
}

static void look_at_access(const ir_module *m, ir_op op, chip_walk *l) {
    touches t;
    look_at_pieces(m, op, l);
    if (!touches_of(m, op, &t))
        return;
    lane_count lanes = touches_lanes(&t, l->facts->subgroup);
    compiler_chip_access found = {.at = ir_op_get(m, op)->location,
                                  .phase = l->phase,
                                  .writes = t.a.writes,
                                  .shared = t.shared,
                                  .rows = t.a.rows,
                                  .columns = t.a.columns,
                                  .width_bytes = t.width_bytes,
                                  .lanes = lanes.all,
                                  .lanes_idle = lanes.edge};
    ir_value memory = ir_op_get(m, op)->operands[0];
    found.element = ir_type_of(m, memory)->element;
    if (t.shared) {
        found.degree = touches_degree(&t, l->facts->subgroup);
    } else {
        sector_count s = touches_sectors(&t, l->facts->subgroup);
        found.sectors = s.touched;
        found.sectors_needed = s.needed;
    }
    vec_push(&l->facts->accesses, found);
}

static void look_at_phase(ir_module *m, ir_op op, compiler_chip_facts *facts) {
    chip_walk l = {facts, (uint32_t)ir_op_int(m, op, "index", 0)};
    pressure p = simt_pressure_of(m, op);
    compiler_chip_phase phase = {
        .number = l.phase, .grid = ir_op_int(m, op, "grid", 1), .registers = p.registers};
    if (p.at)
        phase.at = ir_op_get(m, p.at)->location;
    vec_push(&facts->phases, phase);
    for (ir_walk w = ir_walk_op(m, op); ir_walk_next(&w);)
        look_at_access(m, w.op, &l);
}

bool compiler_chip_facts_of(compiler_instance *instance, const compiler_options *options,
                            compiler_chip_facts *out, status *st) {
    const target_info *target = NULL;
    *out = (compiler_chip_facts){0};
    ir_module *m = pipeline_tile(instance, options, &target, st);
    if (!m)
        return false;
    bool chip = target->class == TARGET_SIMT ||
                status_set(st, STATUS_INVALID, "'%s' is no chip", target->name);
    if (chip) {
        ir_op kernel = ir_module_kernel(m);
        out->threads = (int)ir_op_int(m, kernel, "threads", 1) + tile_loaders(m);
        out->subgroup = target->subgroup;
        out->thread_registers = target->thread_registers;
        out->shared_bytes = ir_op_int(m, kernel, "scratch_bytes", 0);
        out->shared_most = target->shared_bytes;
        out->moved_bytes = ir_op_int(m, kernel, "moved_bytes", 0);
        const ir_block_data *body = ir_block_get(m, ir_op_block(m, kernel, 0));
        for (ir_op op = body->first; op; op = ir_op_get(m, op)->next)
            if (ir_op_get(m, op)->opcode == TILE_PHASE)
                look_at_phase(m, op, out);
    }
    ir_module_free(m);
    return chip;
}

void compiler_chip_facts_release(compiler_chip_facts *facts) {
    vec_release(&facts->accesses);
    vec_release(&facts->phases);
    *facts = (compiler_chip_facts){0};
}

bool compiler_chip_occupancy_of(const char *isa, int64_t threads, int64_t registers,
                                int64_t shared_bytes, compiler_chip_occupancy *out) {
    static const char *const names[OCCUPANCY_LIMIT_COUNT] = {"nothing", "threads", "workgroups",
                                                             "registers", "the workgroup's memory"};
    const target_info *target = target_find(isa);
    const chip_unit *unit = target ? target_unit_of(target) : NULL;
    if (!unit)
        return false;
    occupancy o = occupancy_of(unit, threads, registers, shared_bytes);
    *out = (compiler_chip_occupancy){o.workgroups, o.share, names[o.by]};
    return true;
}

const char *compiler_chip_family(const char *isa) {
    const target_info *target = target_find(isa);
    if (!target || target->class == TARGET_CPU)
        return NULL;
    static const char *const names[] = {
        [FAMILY_PTX] = "ptx", [FAMILY_ROCM] = "rocm", [FAMILY_SPIRV] = "spirv"};
    return names[target->family];
}
