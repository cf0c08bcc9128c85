/* tiles.h - inside the lint: the graph of a kernel of tiles in one case, and findings that are told
 * once for all cases. */
#ifndef TESSERA_HARNESS_LINT_TILES_H
#define TESSERA_HARNESS_LINT_TILES_H

#include "base/vec.h"
#include "lint/lint_kernel.h"

typedef struct tile_finding {
    lint_id id;
    lint_span at;
    const compiler_case *c;
    size_t looked, found; /* operations at this place, and those of which it holds */
    char message[240];
} tile_finding;

typedef struct tile_findings {
    const lint_kernel *k;
    VEC(tile_finding) items;
} tile_findings;

/* An operation in a case. */
typedef struct tile_place {
    lint_span at;
    const compiler_case *c;
} tile_place;

/* Counts that it holds of the operation, or does not; a printf format for the message. */
void lint_tile_note(tile_findings *f, lint_id id, tile_place place, bool holds, const char *format,
                    ...) __attribute__((format(printf, 5, 6)));
/* Told where it holds of all operations of the place in all cases: the same line may stand for
 * several operations. The findings are released. */
void lint_tile_tell(tile_findings *f);
/* ... of any. */
void lint_tile_tell_any(tile_findings *f);

typedef struct tile_graph {
    ir_module *m; /* not changed but for dimensions and types that are looked up */
    const compiler_case *c;
    ir_bindings dims;
    ir_op tiles;
    VEC(ir_op) ops; /* inside, in order, with those of loops behind theirs */
} tile_graph;

/* False: the kernel is made of whole tensors. */
bool lint_tile_graph_open(tile_graph *g, const ir_module *m, const compiler_case *c);
void lint_tile_graph_release(tile_graph *g);
bool lint_tile_is(const tile_graph *g, ir_op op, const char *name);
/* The word at its place. */
lint_span lint_tile_span(const lint_kernel *k, const ir_module *m, ir_op op);
/* False: an index is in it. */
bool lint_tile_number(const tile_graph *g, ir_dim dim, int64_t *out);
/* One of a list of dimensions. */
ir_dim lint_tile_dim(const tile_graph *g, ir_op op, const char *name, uint32_t axis);
const ir_type_data *lint_tile_type(const tile_graph *g, ir_value v);
/* An operation that only moves elements. */
bool lint_tile_moves(const tile_graph *g, ir_op op);
/* Seen through what only moves them: the constant that all elements are. */
bool lint_tile_constant(const tile_graph *g, ir_value v, double *out);
/* The input that a load is of. */
int lint_tile_input(const tile_graph *g, ir_op load);
/* All values that only move elements of v, itself first. */
typedef VEC(ir_value) tile_values;
void lint_tile_moved(const tile_graph *g, ir_value v, tile_values *out);
bool lint_tile_holds(const tile_values *list, ir_value v);

#endif
