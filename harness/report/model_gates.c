/* model_gates.c - what gates found: those of the database, and files. */
#include <string.h>

#include "report/model.h"
#include "report/record.h"

enum { GATES_SHOWN = 20 };

typedef struct gate_list {
    report_model *m;
    int64_t left_out;
    status *st;
} gate_list;

static void add(report_model *m, json_t *document, const char *from) {
    json_object_set_new(document, "from", json_string(from));
    json_array_append_new(json_object_get(m->document, "gates"), document);
}

static bool take_gate(void *context, const store_gate *gate) {
    gate_list *list = context;
    if (json_array_size(json_object_get(list->m->document, "gates")) >= GATES_SHOWN) {
        list->left_out++;
        return true;
    }
    json_t *document = json_loads(gate->document, 0, NULL);
    if (!json_is_array(json_object_get(document, "results"))) {
        json_decref(document);
        return status_set(list->st, STATUS_CORRUPT, "the gate %s is no document tsr.gate/1",
                          gate->id);
    }
    add(list->m, document, "database");
    return true;
}

bool report_add_gates(report_model *m, store *s, status *st) {
    gate_list list = {.m = m, .st = st};
    bool ok = store_each_gate(s, take_gate, &list, st) && st->code == STATUS_OK;
    json_object_set_new(m->document, "gates_left_out", json_integer((json_int_t)list.left_out));
    return ok;
}

bool report_add_gate_file(report_model *m, const char *path, status *st) {
    json_t *document = report_read_document(path, "tsr.gate/1", st);
    if (document)
        add(m, document, path);
    return document != NULL;
}
