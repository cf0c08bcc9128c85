/* inputs.c - fills tensors from Philox: element by element, so that nothing depends on the order of
 * filling. */
#include "case/inputs.h"

#include <math.h>
#include <string.h>

#include "base/philox.h"
#include "base/thread.h"
#include "device/host/host.h"

/* Fewer elements are drawn before another thread has begun. */
enum { SHARE_ELEMENTS = 1 << 18, SHARES_MAX = 16 };

/* Puts values that break arithmetic among ordinary numbers: zeros of both signs, infinities, NaNs,
 * and any bit pattern at all. Integers get their extremes. */
static void put_special(tensor *t, size_t i, philox_words words) {
    double sign = words.w[1] & 1 ? -1 : 1;
    unsigned char *element = (unsigned char *)t->data + i * dtype_size(t->type);
    switch (words.w[0] >> 29) {
    case 0:
        dtype_store(t->type, t->data, i, sign * 0.0);
        break;
    case 1:
        dtype_store(t->type, t->data, i, sign * (double)INFINITY);
        break;
    case 2:
        if (dtype_is_float(t->type) || (dtype_is_unsigned(t->type) && t->type != DTYPE_BOOL))
            memcpy(element, &words.w[2], dtype_size(t->type));
        else
            dtype_store(t->type, t->data, i, (double)(int32_t)words.w[2]);
        break;
    case 3:
        dtype_store(t->type, t->data, i, words.w[1] & 2 ? (double)NAN : sign);
        break;
    default:
        dtype_store(t->type, t->data, i, (double)philox_normal(words, 0, 1));
    }
}

static double draw(const compiler_input *input, philox_words words) {
    switch (input->kind) {
    case INPUT_UNIFORM:
        return (double)philox_uniform(words, (float)input->a, (float)input->b);
    case INPUT_INTEGERS:
        return (double)philox_integer(words, (int32_t)input->a, (int32_t)input->b);
    case INPUT_CONSTANT:
        return input->a;
    default:
        return (double)philox_normal(words, (float)input->a, (float)input->b);
    }
}

static void put(tensor *t, const compiler_input *input, int64_t i, philox_words words) {
    if (input->kind == INPUT_SPECIAL)
        put_special(t, (size_t)i, words);
    else
        dtype_store(t->type, t->data, (size_t)i, draw(input, words));
}

/* Elements [begin, end) of a tensor, for one thread. */
typedef struct share {
    tensor *t;
    const compiler_input *input;
    uint32_t parameter;
    uint64_t seed;
    int64_t begin, end;
} share;

static void *fill_share(void *argument) {
    const share *s = argument;
    for (int64_t i = s->begin; i < s->end; i++)
        put(s->t, s->input, i,
            philox_element(s->seed, (uint64_t)i, s->parameter, PHILOX_DOMAIN_INPUTS));
    return NULL;
}

static int share_count(int64_t elements) {
    int64_t cores = host_usable_cores(), most = elements / SHARE_ELEMENTS;
    most = most < SHARES_MAX ? most : SHARES_MAX;
    return (int)(most < 1 ? 1 : most < cores ? most : cores);
}

/* In equal shares on all cores; a share for which the system gives no thread is filled here. */
static void fill(tensor *t, const compiler_input *input, uint32_t parameter, uint64_t seed) {
    share shares[SHARES_MAX];
    pthread_t threads[SHARES_MAX];
    bool started[SHARES_MAX] = {false};
    int64_t count = tensor_count(t);
    int parts = share_count(count);
    for (int i = 0; i < parts; i++) {
        shares[i] = (share){t, input, parameter, seed, count * i / parts, count * (i + 1) / parts};
        started[i] = i + 1 < parts && thread_start(&threads[i], fill_share, &shares[i]);
    }
    for (int i = parts - 1; i >= 0; i--)
        if (!started[i])
            fill_share(&shares[i]);
    for (int i = 0; i < parts; i++)
        if (started[i])
            pthread_join(threads[i], NULL);
}

bool inputs_make(const compiler_signature *signature, const compiler_case *c, uint64_t seed,
                 tensor *inputs, status *st) {
    for (uint32_t i = 0; i < signature->input_count; i++) {
        const struct compiler_buffer *buffer = &signature->inputs[i];
        if (!tensor_init(&inputs[i], buffer->type, buffer->rank, buffer->dims, st)) {
            while (i-- > 0)
                tensor_release(&inputs[i]);
            return false;
        }
        fill(&inputs[i], &c->inputs[i], i, seed);
    }
    return true;
}

/* Replaces one element by one with other bits; false where none is drawn. */
static bool change_one(tensor *t, const compiler_input *input, uint32_t parameter, uint64_t seed) {
    enum { TRIES = 64 };
    const size_t size = dtype_size(t->type);
    uint64_t count = (uint64_t)tensor_count(t);
    unsigned char before[16];
    for (uint64_t k = 0; k < TRIES && count > 0; k++) {
        philox_words words = philox_element(seed, k, parameter, PHILOX_DOMAIN_INPUTS);
        uint64_t i = (((uint64_t)words.w[3] << 32) + words.w[2]) % count;
        unsigned char *element = (unsigned char *)t->data + i * size;
        memcpy(before, element, size);
        put(t, input, (int64_t)i, words);
        if (memcmp(before, element, size) != 0)
            return true;
    }
    return false;
}

static bool copy_all(const tensor *from, uint32_t count, tensor *to, status *st) {
    for (uint32_t i = 0; i < count; i++) {
        if (!tensor_init(&to[i], from[i].type, from[i].rank, from[i].dims, st)) {
            while (i-- > 0)
                tensor_release(&to[i]);
            return false;
        }
        size_t bytes = tensor_bytes(&from[i]);
        if (bytes)
            memcpy(to[i].data, from[i].data, bytes);
    }
    return true;
}

bool inputs_make_perturbed(const compiler_signature *signature, const compiler_case *c,
                           const tensor *like, uint64_t seed, tensor *inputs, status *st) {
    uint32_t count = signature->input_count;
    if (!copy_all(like, count, inputs, st))
        return false;
    uint32_t first = philox_element(seed, 0, UINT32_MAX, PHILOX_DOMAIN_INPUTS).w[0];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = (first % count + i) % count;
        if (change_one(&inputs[at], &c->inputs[at], at, seed))
            break;
    }
    return true;
}

static bool make_perturbed_alone(const inputs_request *r, uint64_t seed_of_set, tensor *inputs,
                                 status *st) {
    tensor *own = tensors_new(r->signature->input_count);
    bool ok = inputs_make(r->signature, r->c, r->seed, own, st) &&
              inputs_make_perturbed(r->signature, r->c, own, seed_of_set, inputs, st);
    tensors_free(own);
    return ok;
}

bool inputs_make_set(const inputs_request *r, input_set set, tensor *inputs, status *st) {
    const uint64_t seed_of_set = r->seed + UINT64_C(0x9E3779B97F4A7C15) * set.number;
    if (!set.perturbed)
        return inputs_make(r->signature, r->c, seed_of_set, inputs, st);
    return r->own ? inputs_make_perturbed(r->signature, r->c, r->own, seed_of_set, inputs, st)
                  : make_perturbed_alone(r, seed_of_set, inputs, st);
}

static bool read_one(const struct compiler_buffer *buffer, const char *path, tensor *out,
                     status *st) {
    if (!tensor_read_npy(out, path, dtype_owns_npy_descr(buffer->type) ? DTYPE_NONE : buffer->type,
                         st))
        return false;
    bool same = out->type == buffer->type && out->rank == buffer->rank;
    for (int axis = 0; same && axis < out->rank; axis++)
        same = out->dims[axis] == buffer->dims[axis];
    if (same)
        return true;
    tensor_release(out);
    return status_set(st, STATUS_INVALID, "%s is not of the type and shape of input '%s'", path,
                      buffer->name);
}

bool inputs_read(const compiler_signature *signature, const char *folder, tensor *inputs,
                 status *st) {
    text path;
    bool ok = true;
    uint32_t done = 0;
    text_init(&path);
    for (; done < signature->input_count && ok; done += ok) {
        text_clear(&path);
        text_printf(&path, "%s/%s.npy", folder, signature->inputs[done].name);
        ok = read_one(&signature->inputs[done], path.data, &inputs[done], st);
    }
    while (!ok && done-- > 0)
        tensor_release(&inputs[done]);
    text_release(&path);
    return ok;
}
