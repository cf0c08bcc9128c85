/* execute_memory.c - the memory of a launch, as the metadata of its module have it: buffers, what
 * is prepared, and what of the workspace, or of a program's arena, holds something in each phase;
 * and what its device gave.
 */
#include "base/dtype.h"
#include "common/json_text.h"
#include "exec/execution.h"
#include "job/result.h"
#include "telemetry.h"

/* Bytes of all inputs, or of all outputs. */
static json_int_t buffer_bytes(const json_t *list) {
    json_int_t sum = 0;
    size_t i, k;
    json_t *one, *extent;
    json_array_foreach(list, i, one) {
        dtype type = dtype_from_name(json_text_at(one, "dtype"));
        json_int_t count = type != DTYPE_NONE;
        json_array_foreach(json_object_get(one, "shape"), k, extent) count *=
            json_integer_value(extent);
        sum += count ? count * (json_int_t)dtype_size(type) : 0;
    }
    return sum;
}

static json_int_t number(const json_t *row, size_t at) {
    return json_integer_value(json_array_get(row, at));
}

/* Bytes of the planned buffers; the greatest end of one. */
static json_int_t planned_end(const json_t *plan) {
    json_int_t end = 0;
    size_t i;
    json_t *row;
    json_array_foreach(plan, i, row) {
        json_int_t behind = number(row, 0) + number(row, 1);
        end = behind > end ? behind : end;
    }
    return end;
}

/* Bytes behind the planned buffers are the workgroups' and count in every phase. */
static json_int_t live_in(const json_t *plan, json_int_t workspace_bytes, json_int_t phase) {
    json_int_t live = workspace_bytes - planned_end(plan);
    size_t i;
    json_t *row;
    live = live > 0 ? live : 0;
    json_array_foreach(plan, i, row) {
        if (number(row, 2) <= phase && phase <= number(row, 3))
            live += number(row, 1);
    }
    return live;
}

/* Takes a program's commands as the compiler tells what the arena holds meanwhile. */
static json_t *phases_json(const json_t *metadata, json_int_t workspace_bytes) {
    const json_t *steps = json_object_get(json_object_get(metadata, "program"), "steps");
    json_t *list = steps ? json_deep_copy(steps) : json_array(), *phase;
    size_t i;
    json_array_foreach(json_object_get(metadata, "phases"), i, phase) json_array_append_new(
        list, json_pack("{s:s, s:I}", "what", json_text_at(phase, "what"), "live_bytes",
                        live_in(json_object_get(metadata, "workspace_plan"), workspace_bytes,
                                (json_int_t)i)));
    return list;
}

void execution_put_memory(execution *e, const json_t *metadata) {
    const json_t *program = json_object_get(metadata, "program"),
                 *bytes = program ? json_object_get(program, "arena_bytes")
                                  : json_object_get(metadata, "workspace_bytes"),
                 *unplanned_bytes = program
                                        ? json_object_get(program, "unplanned_bytes")
                                        : json_object_get(metadata, "unplanned_workspace_bytes");
    if (!json_is_integer(bytes))
        return;
    json_int_t workspace = json_integer_value(bytes),
               unplanned = json_integer_value(unplanned_bytes ? unplanned_bytes : bytes),
               inputs = buffer_bytes(json_object_get(metadata, "inputs")),
               outputs = buffer_bytes(json_object_get(metadata, "outputs")),
               prepared = json_integer_value(json_object_get(metadata, "prepared_bytes")),
               around = inputs + outputs + prepared;
    result_put_MEMORY(e->result,
                      json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "workspace_bytes",
                                workspace, "unplanned_workspace_bytes", unplanned, "inputs_bytes",
                                inputs, "outputs_bytes", outputs, "prepared_bytes", prepared,
                                "peak_bytes", around + workspace, "unplanned_peak_bytes",
                                around + unplanned, "phases", phases_json(metadata, workspace)));
}

void execution_put_device_memory(execution *e) {
    json_t *memory = result_get(e->result, RESULT_MEMORY);
    device_counts counts;
    if (!memory)
        return;
    telemetry_counts(e->launch.context, &counts);
    const device_memory_counts *own = &counts.memory[DEVICE_MEMORY_DEVICE];
    if (own->blocks_made)
        json_object_set_new(memory, "device",
                            json_pack("{s:I, s:I, s:I}", "held_bytes", (json_int_t)own->held_bytes,
                                      "used_peak_bytes", (json_int_t)own->used_peak_bytes, "blocks",
                                      (json_int_t)own->blocks));
}
