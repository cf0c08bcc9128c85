/* import_rows.c - values in a row, in which complex ones are two; and pairs of their parts, as they
 * lie in memory. */
#include "import/stablehlo/import.h"

bool import_has_complex(const shlo_op *op) {
    for (uint32_t i = 0; i < op->operand_count; i++)
        if (import_is_complex(op->operands[i]))
            return true;
    for (uint32_t i = 0; i < op->result_count; i++)
        if (import_is_complex(&op->results[i]))
            return true;
    return false;
}

void import_push(const importer *im, const shlo_value *v, import_values *out) {
    vec_push(out, im->made[v->number]);
    if (import_is_complex(v))
        vec_push(out, im->imaginary[v->number]);
}

bool import_push_type(importer *im, const shlo_op *op, const shlo_type *t, import_types *out) {
    ir_type part = import_type(im, op, t);
    vec_push(out, part);
    if (part && shlo_element_is_complex(t->element))
        vec_push(out, part);
    return part != 0;
}

void import_pull(importer *im, const shlo_value *v, const ir_value **from) {
    im->made[v->number] = *(*from)++;
    im->imaginary[v->number] = import_is_complex(v) ? *(*from)++ : 0;
}

void import_take_results(const shlo_op *op, const ir_value *from, ir_value *results) {
    for (uint32_t i = 0; i < op->result_count; i++) {
        results[i] = *from++;
        if (import_is_complex(&op->results[i]))
            results[op->result_count + i] = *from++;
    }
}

ir_type import_pair_type(importer *im, const shlo_op *op, ir_type part) {
    ir_type_data t = *ir_type_get(im->m, part);
    if (t.rank == IR_MAX_RANK) {
        import_refuse(im, op, "complex numbers of 8 axes are not supported");
        return 0;
    }
    t.dims[t.rank] = 2;
    return ir_type_tensor(im->m, t.element, t.rank + 1, t.dims);
}

void import_unpair(importer *im, ir_value pairs, ir_value *real, ir_value *imaginary) {
    const ir_type_data t = *import_type_of(im, pairs);
    const int axis = t.rank - 1;
    *real = build_reshape(&im->b, build_slice_axis(&im->b, pairs, axis, 0, 1), axis, t.dims);
    *imaginary = build_reshape(&im->b, build_slice_axis(&im->b, pairs, axis, 1, 2), axis, t.dims);
}

ir_value import_pair(importer *im, ir_value real, ir_value imaginary) {
    ir_type_data t = *import_type_of(im, real);
    t.dims[t.rank] = 1;
    ir_value parts[] = {build_reshape(&im->b, real, t.rank + 1, t.dims),
                        build_reshape(&im->b, imaginary, t.rank + 1, t.dims)};
    return build_concat(&im->b, t.rank, parts, 2);
}
