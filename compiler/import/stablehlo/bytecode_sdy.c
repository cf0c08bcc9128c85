/* bytecode_sdy.c - attributes of Shardy's dialect out of bytecode, as the text that they mean; and
 * the attributes that its operations have. */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "import/stablehlo/bytecode.h"

/* Their codes, which Shardy does not change. */
enum {
    SDY_MANUAL_AXES,
    SDY_MESH_AXIS,
    SDY_MESH,
    SDY_SUB_AXIS,
    SDY_AXIS,
    SDY_DIMENSION,
    SDY_SHARDING,
    SDY_SHARDINGS,
    SDY_UNREDUCED = 15,
    SDY_SHARDINGS_UNREDUCED,
    SDY_UNREDUCED_BY
};

static const char sharding_mark[] = "#sdy.sharding", mesh_mark[] = "#sdy.mesh";

/* ---- parts ---- */

/* The text of an attribute without what it begins with by itself. */
static void put_attr(bytecode *r, bytecode_cursor *c, text *out, const char *mark) {
    const shlo_attr *a = bytecode_take_attr(r, c);
    if (!a || !a->string)
        return;
    const size_t n = mark ? strlen(mark) : 0;
    text_append(out, mark && strncmp(a->string, mark, n) == 0 ? a->string + n : a->string);
}

/* Attributes between commas. */
static uint32_t put_attrs(bytecode *r, bytecode_cursor *c, text *out, const char *mark) {
    const uint32_t count = bytecode_count(c, "attributes");
    for (uint32_t i = 0; i < count && !bytecode_failed(c); i++) {
        text_append(out, i ? ", " : "");
        put_attr(r, c, out, mark);
    }
    return count;
}

static void put_name(bytecode *r, bytecode_cursor *c, text *out) {
    const bytecode_string s = bytecode_take_string(r, c);
    text_append_char(out, '"');
    text_append_bytes(out, s.data, s.length);
    text_append_char(out, '"');
}

static void put_names(bytecode *r, bytecode_cursor *c, text *out) {
    const uint32_t count = bytecode_count(c, "names");
    for (uint32_t i = 0; i < count && !bytecode_failed(c); i++) {
        const char *name = bytecode_take_word(r, c);
        text_printf(out, "%s\"%s\"", i ? ", " : "", name ? name : "");
    }
}

static void put_ids(bytecode_cursor *c, text *out) {
    const uint32_t count = bytecode_count(c, "devices");
    text_append(out, count ? ", device_ids=[" : "");
    for (uint32_t i = 0; i < count && !bytecode_failed(c); i++)
        text_printf(out, "%s%" PRId64, i ? ", " : "", bytecode_signed(c));
    text_append(out, count ? "]" : "");
}

/* ---- each of them ---- */

static void put_axis(bytecode *r, bytecode_cursor *c, text *out) {
    bool is_part;
    put_name(r, c, out);
    const uint32_t part = bytecode_flagged_index(c, r->attr_count, "attribute", &is_part);
    const shlo_attr *a = is_part && !bytecode_failed(c) ? bytecode_attr(r, part) : NULL;
    if (a && a->string)
        text_printf(out, ":%s", a->string);
}

static void put_dimension(bytecode *r, bytecode_cursor *c, text *out) {
    bool has_priority;
    text_append_char(out, '{');
    const uint32_t count = put_attrs(r, c, out, NULL);
    if (!bytecode_byte(c))
        text_append(out, count ? ", ?" : "?");
    text_append_char(out, '}');
    const uint64_t priority = bytecode_flagged(c, &has_priority);
    if (has_priority)
        text_printf(out, "p%" PRIu64, priority);
}

static void put_axes_of(bytecode *r, bytecode_cursor *c, text *out, const char *what) {
    text axes;
    text_init(&axes);
    if (put_attrs(r, c, &axes, NULL))
        text_printf(out, ", %s={%s}", what, axes.data);
    text_release(&axes);
}

/* A mesh stands there by its name, or as it is. */
static void put_sharding(bytecode *r, bytecode_cursor *c, text *out, uint64_t code) {
    const shlo_attr *mesh = bytecode_take_attr(r, c);
    text_printf(out, "%s<", sharding_mark);
    if (mesh && mesh->kind == SHLO_ATTR_SYMBOL)
        text_printf(out, "@%s", mesh->string);
    else if (mesh && mesh->string)
        text_append(out, mesh->string + strlen("#sdy."));
    text_append(out, ", [");
    put_attrs(r, c, out, NULL);
    text_append_char(out, ']');
    put_axes_of(r, c, out, "replicated");
    if (code != SDY_SHARDING)
        put_axes_of(r, c, out, "unreduced");
    if (code == SDY_UNREDUCED_BY)
        bytecode_signed(c);
    text_append_char(out, '>');
}

static void put_coded(bytecode *r, bytecode_cursor *c, text *out, uint64_t code) {
    switch (code) {
    case SDY_MANUAL_AXES:
        text_append(out, "#sdy<manual_axes{");
        put_names(r, c, out);
        text_append(out, "}>");
        break;
    case SDY_MESH_AXIS:
        put_name(r, c, out);
        text_printf(out, "=%" PRId64, bytecode_signed(c));
        break;
    case SDY_MESH:
        text_printf(out, "%s<[", mesh_mark);
        put_attrs(r, c, out, NULL);
        text_append_char(out, ']');
        put_ids(c, out);
        text_append_char(out, '>');
        break;
    case SDY_SUB_AXIS: {
        const int64_t before = bytecode_signed(c);
        text_printf(out, "(%" PRId64 ")%" PRId64, before, bytecode_signed(c));
        break;
    }
    case SDY_AXIS:
        put_axis(r, c, out);
        break;
    case SDY_DIMENSION:
        put_dimension(r, c, out);
        break;
    case SDY_SHARDINGS:
    case SDY_SHARDINGS_UNREDUCED:
        text_append(out, "#sdy.sharding_per_value<[");
        put_attrs(r, c, out, sharding_mark);
        text_append(out, "]>");
        break;
    default:
        put_sharding(r, c, out, code);
        break;
    }
}

const char *bytecode_sdy_attr(bytecode *r, bytecode_cursor *c) {
    const uint64_t code = bytecode_varint(c);
    text out;
    if ((code > SDY_SHARDINGS && code < SDY_UNREDUCED) || code > SDY_UNREDUCED_BY) {
        c->at = c->end;
        return "#sdy.unknown<>"; /* nothing here asks for it */
    }
    text_init(&out);
    put_coded(r, c, &out, code);
    const char *kept = arena_strdup(&r->module->memory, out.data);
    text_release(&out);
    return kept;
}

/* ---- operations ---- */

const char *const *bytecode_sdy_properties(const char *operation) {
    static const struct known {
        const char *operation,
            *properties[4]; /* in the order of their names, which is the file's */
    } list[] = {{"sdy.mesh", {"mesh", "sym_name"}},
                {"sdy.manual_computation", {"in_shardings", "manual_axes", "out_shardings"}},
                {"sdy.reshard", {"sharding"}},
                {"sdy.sharding_constraint", {"sharding"}}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (strcmp(list[i].operation, operation) == 0)
            return list[i].properties;
    return NULL;
}

void bytecode_sdy_mesh(bytecode *r, const shlo_named_attr *attrs, size_t count) {
    const char *name = NULL, *mesh = NULL, *before = r->module->meshes;
    for (size_t i = 0; i < count; i++)
        if (strcmp(attrs[i].name, "sym_name") == 0)
            name = attrs[i].value->string;
        else if (strcmp(attrs[i].name, "mesh") == 0)
            mesh = attrs[i].value->string;
    if (name && mesh && strncmp(mesh, mesh_mark, strlen(mesh_mark)) == 0)
        r->module->meshes =
            arena_printf(&r->module->memory, "%s%ssdy.mesh @%s = %s", before ? before : "",
                         before ? "\n" : "", name, mesh + strlen(mesh_mark));
}
