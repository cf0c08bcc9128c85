/* golden.c - keys, manifests and stored tensors. */
#include "case/golden.h"

#include <inttypes.h>
#include <lz4.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "common/version.h"
#include "measure/host_facts.h"

enum { MANIFEST_BYTES_MAX = 4 << 20 };

static void append_input(text *out, const compiler_input *input) {
    static const char *const kinds[] = {"normal", "uniform", "integers", "constant", "special"};
    text_printf(out, "input %s %a %a\n", kinds[input->kind], input->a, input->b);
}

void golden_key(compiler_instance *instance, const compiler_case *c, uint32_t input_count,
                uint64_t seed, char hex_out[65]) {
    text hashed;
    text_init(&hashed);
    text_printf(&hashed, "%s\nnumerics %d\nfunctions %d\nseed %" PRIu64 "\n", GOLDEN_SCHEMA,
                TSR_NUMERICS_VERSION, GOLDEN_FUNCTIONS_VERSION, seed);
    for (uint32_t i = 0; i < c->dim_count; i++)
        text_printf(&hashed, "dim %s %" PRId64 "\n", c->dims[i].name, c->dims[i].value);
    for (uint32_t i = 0; i < c->type_count; i++)
        text_printf(&hashed, "type %s %s\n", c->types[i].name, dtype_name(c->types[i].type));
    for (uint32_t i = 0; i < input_count; i++)
        append_input(&hashed, &c->inputs[i]);
    compiler_instance_formula(instance, &hashed);
    sha256 digest = sha256_of(hashed.data, hashed.length);
    sha256_hex(&digest, hex_out);
    text_release(&hashed);
}

void golden_tensor_digest(const tensor *t, char hex_out[65]) {
    sha256 digest = sha256_of(t->data, tensor_bytes(t));
    sha256_hex(&digest, hex_out);
}

static char *directory_of(const char *path) {
    const char *slash = strrchr(path, '/');
    char *directory = base_strdup(slash ? path : ".");
    if (slash)
        directory[slash - path] = '\0';
    return directory;
}

static bool manifest_is_sound(const char *path, json_t *manifest, status *st) {
    const char *schema = json_string_value(json_object_get(manifest, "schema"));
    if (!schema)
        return status_set(st, STATUS_CORRUPT, "%s is no golden: it names no schema", path);
    if (strcmp(schema, GOLDEN_SCHEMA) != 0)
        return status_set(st, STATUS_CORRUPT,
                          "%s is a golden of another version: %s, where this tsr reads %s; delete "
                          "it and record it "
                          "anew",
                          path, schema, GOLDEN_SCHEMA);
    const json_t *numerics = json_object_get(manifest, "numerics");
    if (!json_is_integer(numerics))
        return status_set(st, STATUS_CORRUPT, "%s is damaged: it names no numerics version", path);
    if (json_integer_value(numerics) != TSR_NUMERICS_VERSION)
        return status_set(st, STATUS_CORRUPT,
                          "%s is a golden of numerics version %" JSON_INTEGER_FORMAT
                          ", where this tsr computes version %d; delete it and record it anew",
                          path, json_integer_value(numerics), TSR_NUMERICS_VERSION);
    if (!json_is_string(json_object_get(manifest, "key")) ||
        !json_is_array(json_object_get(manifest, "outputs")))
        return status_set(st, STATUS_CORRUPT, "%s is damaged: it has no key or no outputs", path);
    return true;
}

bool golden_read(const char *path, const char *key, golden *g, golden_state *state, status *st) {
    *g = (golden){0};
    *state = GOLDEN_MISSING;
    if (!file_exists(path))
        return true;
    char *data;
    size_t size;
    if (!file_read(path, MANIFEST_BYTES_MAX, &data, &size, st))
        return false;
    json_error_t error;
    g->manifest = json_loadb(data, size, JSON_REJECT_DUPLICATES, &error);
    free(data);
    if (!g->manifest)
        return status_set(st, STATUS_CORRUPT, "%s:%d: damaged golden: %s", path, error.line,
                          error.text);
    if (!manifest_is_sound(path, g->manifest, st)) {
        golden_release(g);
        return false;
    }
    g->directory = directory_of(path);
    const char *recorded = json_string_value(json_object_get(g->manifest, "key"));
    *state = strcmp(recorded, key) == 0 ? GOLDEN_PRESENT : GOLDEN_STALE;
    return true;
}

void golden_of_digests(const json_t *digests, golden *out) {
    json_t *outputs = json_array(), *digest;
    size_t i;
    json_array_foreach(digests, i, digest)
        json_array_append_new(outputs, json_pack("{s:O}", "sha256", digest));
    *out = (golden){.manifest = json_pack("{s:o}", "outputs", outputs)};
}

json_t *golden_digests(const golden *g) {
    json_t *digests = json_array(), *output;
    size_t i;
    json_array_foreach(json_object_get(g->manifest, "outputs"), i, output)
        json_array_append(digests, json_object_get(output, "sha256"));
    return digests;
}

void golden_release(golden *g) {
    json_decref(g->manifest);
    free(g->directory);
    *g = (golden){0};
}

const char *golden_state_name(golden_state state) {
    static const char *const names[] = {"missing", "stale", "present"};
    return names[state];
}

static json_t *output_at(const golden *g, uint32_t index) {
    return json_array_get(json_object_get(g->manifest, "outputs"), index);
}

const char *golden_digest(const golden *g, uint32_t index) {
    return json_string_value(json_object_get(output_at(g, index), "sha256"));
}

/* Bytes that a file has of a tensor. */
typedef struct packed_tensor {
    char *data; /* owned */
    size_t size;
} packed_tensor;

/* As golden_tensor, and what the file has. */
static bool read_tensor(const golden *g, uint32_t index, const struct compiler_buffer *buffer,
                        tensor *out, packed_tensor *packed, status *st) {
    const char *file = json_string_value(json_object_get(output_at(g, index), "file"));
    if (!file)
        return false;
    if (strchr(file, '/'))
        return status_set(st, STATUS_CORRUPT, "a golden names the file %s outside its folder",
                          file);
    text path;
    text_init(&path);
    text_printf(&path, "%s/%s", g->directory, file);
    bool ok = file_read(path.data, 2 * GOLDEN_TENSOR_BYTES_MAX, &packed->data, &packed->size, st);
    if (ok && !tensor_init(out, buffer->type, buffer->rank, buffer->dims, st))
        ok = false;
    else if (ok) {
        int bytes = (int)tensor_bytes(out);
        char digest[65] = "";
        ok = LZ4_decompress_safe(packed->data, out->data, (int)packed->size, bytes) == bytes;
        if (ok)
            golden_tensor_digest(out, digest);
        const char *recorded = golden_digest(g, index);
        ok = ok && recorded && strcmp(digest, recorded) == 0;
        if (!ok) {
            tensor_release(out);
            status_set(st, STATUS_CORRUPT,
                       "%s is damaged: its contents are not what the golden recorded", path.data);
        }
    }
    text_release(&path);
    return ok;
}

bool golden_tensor(const golden *g, uint32_t index, const struct compiler_buffer *buffer,
                   tensor *out, status *st) {
    packed_tensor packed = {0};
    bool ok = read_tensor(g, index, buffer, out, &packed, st);
    free(packed.data);
    return ok;
}

/* ---- writing ---- */

static json_t *real_or_null(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

static void add_statistics(json_t *entry, const tensor *t) {
    double least = INFINITY, most = -INFINITY, sum = 0;
    int64_t count = tensor_count(t), nans = 0;
    for (int64_t i = 0; i < count; i++) {
        double value = dtype_load(t->type, t->data, (size_t)i);
        if (isnan(value)) {
            nans++;
            continue;
        }
        least = value < least ? value : least;
        most = value > most ? value : most;
        sum += value;
    }
    json_object_set_new(entry, "min", real_or_null(least));
    json_object_set_new(entry, "max", real_or_null(most));
    json_object_set_new(entry, "mean",
                        real_or_null(count > nans ? sum / (double)(count - nans) : NAN));
    json_object_set_new(entry, "nan_count", json_integer(nans));
}

static json_t *describe_output(const golden_record *record, uint32_t index) {
    const struct compiler_buffer *buffer = &record->signature->outputs[index];
    const tensor *t = &record->outputs[index];
    char digest[65];
    golden_tensor_digest(t, digest);
    json_t *shape = json_array();
    for (int axis = 0; axis < buffer->rank; axis++)
        json_array_append_new(shape, json_integer(buffer->dims[axis]));
    json_t *entry = json_pack("{s:s, s:s, s:o, s:s}", "name", buffer->name, "dtype",
                              dtype_name(buffer->type), "shape", shape, "sha256", digest);
    add_statistics(entry, t);
    double ulp = record->error_ulp ? record->error_ulp[index] : -1;
    json_object_set_new(entry, "max_ulp_vs_f64", ulp >= 0 ? json_real(ulp) : json_null());
    if (tensor_bytes(t) <= GOLDEN_TENSOR_BYTES_MAX) {
        text file;
        text_init(&file);
        text_printf(&file, "%s.%s.lz4", record->case_name, buffer->name);
        json_object_set_new(entry, "file", json_string(file.data));
        text_release(&file);
    } else {
        json_object_set_new(entry, "file", json_null());
    }
    return entry;
}

static bool write_tensor(const golden_record *record, uint32_t index, const char *directory,
                         status *st) {
    const tensor *t = &record->outputs[index];
    if (tensor_bytes(t) > GOLDEN_TENSOR_BYTES_MAX)
        return true;
    int bytes = (int)tensor_bytes(t);
    int limit = LZ4_compressBound(bytes);
    char *packed = base_malloc((size_t)limit);
    int size = LZ4_compress_default(t->data, packed, bytes, limit);
    text path;
    text_init(&path);
    text_printf(&path, "%s/%s.%s.lz4", directory, record->case_name,
                record->signature->outputs[index].name);
    bool ok = file_write_atomic(path.data, packed, (size_t)size, st);
    text_release(&path);
    free(packed);
    return ok;
}

static json_t *build_manifest(const golden_record *record) {
    json_t *outputs = json_array();
    for (uint32_t i = 0; i < record->signature->output_count; i++)
        json_array_append_new(outputs, describe_output(record, i));
    text host;
    text_init(&host);
    host_name(&host);
    json_t *provenance =
        json_pack("{s:s, s:s, s:s}", "made_by", "interp", "tsr", TSR_VERSION, "host", host.data);
    text_release(&host);
    return json_pack("{s:s, s:s, s:s, s:s, s:i, s:i, s:o, s:o}", "schema", GOLDEN_SCHEMA, "key",
                     record->key, "kernel", record->kernel, "case", record->case_name, "numerics",
                     TSR_NUMERICS_VERSION, "functions", GOLDEN_FUNCTIONS_VERSION, "outputs",
                     outputs, "provenance", provenance);
}

/* Checks that an existing golden of the same key records the same digests; names the first output
 * that differs. */
static bool same_bits(const golden *g, const golden_record *record, const char **differs) {
    for (uint32_t i = 0; i < record->signature->output_count; i++) {
        char digest[65];
        golden_tensor_digest(&record->outputs[i], digest);
        const char *recorded = golden_digest(g, i);
        if (!recorded || strcmp(recorded, digest) != 0) {
            *differs = record->signature->outputs[i].name;
            return false;
        }
    }
    return true;
}

static bool write_manifest(const json_t *manifest, const char *path, status *st) {
    char *body = json_dumps(manifest, JSON_INDENT(2) | JSON_SORT_KEYS | JSON_REAL_PRECISION(9));
    file_part parts[] = {{body, strlen(body)}, {"\n", 1}};
    bool ok = file_write_parts(path, parts, 2, st);
    free(body);
    return ok;
}

bool golden_write(const golden_record *record, bool *written, bool *conflict, status *st) {
    golden old;
    golden_state state;
    const char *differs = NULL;
    *written = *conflict = false;
    if (!golden_read(record->path, record->key, &old, &state, st))
        return false;
    bool same = state == GOLDEN_PRESENT && same_bits(&old, record, &differs);
    golden_release(&old);
    if (same)
        return true;
    if (state == GOLDEN_PRESENT) {
        *conflict = true;
        return status_set(
            st, STATUS_INVALID,
            "%s: the key is unchanged but the bits of output %s are not: the interpreter and the "
            "golden disagree, so one of them is wrong; nothing was overwritten",
            record->path, differs);
    }
    char *directory = directory_of(record->path);
    bool ok = file_make_dirs(directory, st);
    /* The manifest comes last: a golden that names a tensor has it. */
    for (uint32_t i = 0; i < record->signature->output_count && ok; i++)
        ok = write_tensor(record, i, directory, st);
    if (ok) {
        json_t *manifest = build_manifest(record);
        ok = write_manifest(manifest, record->path, st);
        json_decref(manifest);
    }
    *written = ok;
    free(directory);
    return ok;
}

/* ---- copying ---- */

/* A tensor that is damaged is not copied: it is read as a run would read it. */
static bool copy_tensor(const golden *g, uint32_t index, const compiler_buffer *buffer,
                        const char *directory, status *st) {
    const char *file = json_string_value(json_object_get(output_at(g, index), "file"));
    tensor kept;
    text to;
    packed_tensor packed = {0};
    bool there = read_tensor(g, index, buffer, &kept, &packed, st);
    bool ok = there || st->code == STATUS_OK;
    text_init(&to);
    if (there) {
        tensor_release(&kept);
        text_printf(&to, "%s/%s", directory, file);
        ok = file_write_atomic(to.data, packed.data, packed.size, st);
    }
    text_release(&to);
    free(packed.data);
    return ok;
}

bool golden_copy(const golden *g, const compiler_signature *signature, const char *path,
                 status *st) {
    char *directory = directory_of(path);
    bool ok = json_array_size(json_object_get(g->manifest, "outputs")) == signature->output_count ||
              status_set(st, STATUS_CORRUPT, "the golden in %s has other outputs than its case",
                         g->directory);
    ok = ok && file_make_dirs(directory, st);
    for (uint32_t i = 0; i < signature->output_count && ok; i++)
        ok = copy_tensor(g, i, &signature->outputs[i], directory, st);
    ok = ok && write_manifest(g->manifest, path, st);
    free(directory);
    return ok;
}
