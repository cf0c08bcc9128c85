/* model_gates.c - what gates found: those of the database, and files. */
#include <string.h>

#include "page/model.h"
#include "page/record.h"

enum { GATES_SHOWN = 20, ROWS_SHOWN = 10000 };

typedef struct gate_list {
    report_model *m;
    int64_t left_out;
    size_t rows;
    status *st;
} gate_list;

/* Removes most of a gate, which the page has no use for: every pair's ratio. */
static void trim(json_t *document) {
    size_t i;
    json_t *result;
    json_array_foreach(json_object_get(document, "results"), i, result) {
        json_object_del(result, "log_ratios");
        json_object_del(result, "modules");
    }
    json_object_del(document, "host");
}

static void add(report_model *m, json_t *document, const char *from) {
    trim(document);
    json_object_set_new(document, "from", json_string(from));
    json_array_append_new(json_object_get(m->document, "gates"), document);
}

/* A gate that was named as a file is usually in the database, too. */
static bool is_there(const report_model *m, const char *id) {
    size_t i;
    json_t *gate;
    json_array_foreach(json_object_get(m->document, "gates"), i, gate) {
        const char *name = json_string_value(json_object_get(gate, "gate"));
        if (name && strcmp(name, id) == 0)
            return true;
    }
    return false;
}

static bool take_gate(void *context, const store_gate *gate) {
    gate_list *list = context;
    size_t count = json_array_size(json_object_get(list->m->document, "gates"));
    if (is_there(list->m, gate->id))
        return true;
    if (count >= GATES_SHOWN || list->rows >= ROWS_SHOWN) {
        list->left_out++;
        return true;
    }
    json_t *document = json_loads(gate->document, 0, NULL);
    if (!json_is_array(json_object_get(document, "results"))) {
        json_decref(document);
        return status_set(list->st, STATUS_CORRUPT, "the gate %s is no document tsr.gate/1",
                          gate->id);
    }
    list->rows += json_array_size(json_object_get(document, "results"));
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
