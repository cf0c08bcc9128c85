/* cost.c - compiler_cost: the work of a kernel under bindings (the counting itself is ops/cost.c).
 */
#include "graph/passes.h"
#include "ops/graph.h"
#include "tessera/compiler.h"

bool compiler_cost(const ir_module *graph, const ir_binding *dims, uint32_t dim_count,
                   uint64_t *flops, uint64_t *bytes, status *st) {
    ir_module *m = ir_module_clone(graph);
    bool ok = graph_specialize(m, dims, dim_count, st) && graph_decompose_all(m, st) &&
              graph_widen(m, st) && graph_simplify(m, st);
    if (ok) {
        graph_cost cost = graph_kernel_cost(m);
        *flops = cost.flops;
        *bytes = cost.bytes;
    }
    ir_module_free(m);
    return ok;
}
