/* tensors.c - two files of elements. */
#include "diff/tensors.h"

#include <string.h>

#include "base/escape.h"
#include "diff/array.h"
#include "diff/describe.h"

static bool same_shape(const array *a, const array *b, status *st) {
    bool same = a->type == b->type && a->rank == b->rank;
    for (int axis = 0; same && axis < a->rank; axis++)
        same = a->dims[axis] == b->dims[axis];
    if (same)
        return true;
    text shapes;
    text_init(&shapes);
    text_show(&shapes, "%s is ", a->name);
    array_describe_shape(a->type, a->rank, a->dims, &shapes);
    text_show(&shapes, ", %s is ", b->name);
    array_describe_shape(b->type, b->rank, b->dims, &shapes);
    status_set(st, STATUS_INVALID, "%s: only tensors of one type and shape are compared",
               shapes.data);
    text_release(&shapes);
    return false;
}

static void compare(const array *a, const array *b, text *out, json_t **document, element_diff *d) {
    elements_diff(a->type, a->data, b->data, a->count, d);
    element_pair pair = {a->type, a->rank, a->dims, "A", "B", d};
    text_show(out, "A  %s\nB  %s\n", a->name, b->name);
    describe_elements(&pair, "", out);
    *document = json_pack("{s:s, s:s, s:s, s:s, s:b, s:o}", "schema", "tsr.diff/1", "kind",
                          "tensors", "a", a->name, "b", b->name, "equal", d->differing == 0,
                          "tensor", describe_elements_json(&pair));
}

exit_code diff_tensors(const char *a_path, const char *b_path, dtype want, text *out,
                       json_t **document, status *st) {
    array a, b = {0};
    element_diff d = {0};
    *document = NULL;
    bool ok = array_open(&a, a_path, want, st) && array_open(&b, b_path, want, st) &&
              same_shape(&a, &b, st);
    if (ok)
        compare(&a, &b, out, document, &d);
    array_close(&a);
    array_close(&b);
    return ok && d.differing ? EXIT_CHECK : EXIT_DONE;
}
