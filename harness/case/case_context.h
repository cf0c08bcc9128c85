/* case_context.h - one case under test, inside a worker: its instance and inputs, and what is
 * expected of its outputs.
 *
 * What costs time (the oracle, the reference in f64) is computed when first asked for and kept
 * while jobs stay with the case. */
#ifndef TESSERA_HARNESS_CASE_CASE_CONTEXT_H
#define TESSERA_HARNESS_CASE_CASE_CONTEXT_H

#include "case/golden.h"
#include "case/inputs.h"
#include "tessera/compiler.h"

/* Sample of a large case, computed in part (case_sample.h). */
enum { CASE_SAMPLE_AXES = 2 };
typedef struct case_sample {
    bool planned, applies;
    uint32_t count;
    compiler_axis axes[CASE_SAMPLE_AXES];
} case_sample;

/* Fields: all that is known of one case: the request, what was parsed, and answers that are
 * computed once, when they are asked for. */
typedef struct case_context {
    char *path, *kernel_name, *case_name, *dims; /* dims: as the request has them, or NULL */
    char *source_text;                           /* where the source was given as text */
    char *inputs_folder;
    uint64_t seed;
    input_set set; /* that is in `inputs` */
    compiler_source *source;
    const compiler_kernel *kernel;
    const compiler_case *c;
    compiler_case like;       /* where `c` is the source's case of that name in other dimensions */
    char *space;              /* of the kernel's space of tiles, as the request has it, or NULL */
    char *target;             /* as the request has it, where the kernel asks for it */
    bool specialized;         /* the tiles are those that the source gives the target */
    const char *golden_skips; /* why the golden, which is of the first values, says nothing of `c`;
                           static; NULL: it does */
    text unused;              /* see case_context_unused; no data: not looked for yet */
    char unused_of[64];       /* ... the target and the profile that it is of */
    compiler_instance *instance;
    compiler_signature signature;
    tensor *inputs; /* a list each, of tensors_new */
    uint64_t flops, bytes;
    uint64_t working_set_bytes;
    char key[65];
    golden golden;
    golden_state golden_state;
    bool has_oracle, has_reference;
    bool whole; /* has_reference: every float on the way is a whole number */
    tensor *oracle;
    tensor *references, *bounds;
    tensor *limits; /* see compiler_references */
    case_sample sample;
    bool by_code;    /* has_oracle: it is our code's, held to the interpreter where it was drawn */
    int64_t held;    /* by_code: so many elements of it were */
    int64_t sampled; /* has_reference: so many elements were drawn, and others have bounds that are
                        too wide; 0: every element has its own */
    uint64_t sampled_from; /* of the request */
    bool has_escape;
    compiler_escape escape;
    double tolerance; /* of code of others (bound_reference); whoever opens sets it; 0: none */
    struct case_context *others; /* the same case on other inputs; see case_context_others */
    struct case_context *named;  /* see case_context_named; its inputs are borrowed */
    uint32_t other_count;
} case_context;

typedef struct case_context_request {
    const char *path, *kernel, *case_name;
    const char *golden_path; /* NULL: goldens are not looked at */
    const char *golden;      /* digests of one instead, a JSON array; or NULL */
    uint64_t seed;
    const char *source; /* the source's text, instead of the file at `path`; NULL: the file */
    const char *dims;   /* the values that make the case, with the distributions of the case of that
                           name where the kernel has one; NULL: it is of the source */
    const char *inputs; /* a folder with NAME.npy for each; NULL: they are generated */
    input_set set; /* ... and which of the case's sets; no golden is of another than the first */
    const char *space;  /* values of the kernel's space of tiles; NULL: the first of each */
    bool space_held;    /* ... which were found to have the bits of the first ones */
    const char *target; /* that code is made for, whose tiles the source may say where `space` does
                           not; NULL: none */
    uint64_t sampled_from; /* steps of work from which a case is large (case_sample.h), and those of
                              a group of its positions (drawn.h); 0: as usual */
} case_context_request;

/* Prepares `s` for the request, keeping what it already has of the same case. `s` starts as all
 * zero. */
bool case_context_open(case_context *s, const case_context_request *request, status *st);
void case_context_close(case_context *s);

/* The bits of strict: the interpreter's outputs, or of a large case those of our code, which were
 * held to it (case_sample.h); borrowed. */
const tensor *case_context_oracle(case_context *s, status *st);
/* The interpreter's outputs, however long that takes; borrowed. */
const tensor *case_context_interpret(case_context *s, status *st);
/* The f64 reference and its bounds, in s->references, s->bounds and s->limits; of a large case at
 * elements that are drawn, s->sampled of them. */
bool case_context_reference(case_context *s, status *st);
/* One element of them has the reference's own value and bound from now on. */
bool case_context_exact(case_context *s, uint32_t output, int64_t element, status *st);
/* All of them have. */
bool case_context_exact_all(case_context *s, status *st);
/* The reference as if no type overflowed before f64 does: a tensor for each output, which are the
 * caller's. */
bool case_context_unlimited(case_context *s, tensor *values, status *st);
/* Finds where a number of the reference becomes none in the kernel's types (compiler_find_escape);
 * borrowed. */
const compiler_escape *case_context_escape(case_context *s, status *st);
/* The same case, on the same inputs, of the kernel that @same_as names: what results are held to
 * beside their own formula. *out is NULL where there is none, and borrowed. False: it has no such
 * case. */
bool case_context_named(case_context *s, case_context **out, status *st);
/* The same case, on the same inputs, of another kernel, which is borrowed; whatever is answered,
 * case_context_release_like. */
bool case_context_like(const case_context *s, compiler_instance *instance, case_context *out,
                       status *st);
void case_context_release_like(case_context *out);
/* Checks that both add in the same orders, so that the bits of strict are the same. */
bool case_context_adds_alike(case_context *s, case_context *named);
/* The case on `count` other inputs of its distributions, without goldens; kept like the rest. The
 * last are the case's own with one element changed, all others those of another seed each. NULL
 * where their values are not what the kernel asks for. Borrowed. */
case_context *case_context_others(case_context *s, uint32_t count, status *st);
/* Hints of the kernel's space of tiles that no code of the options' target and profile depends on
 * here (compiler_unused_hints); borrowed until another is asked for. */
const char *case_context_unused(case_context *s, const compiler_options *options);
/* Element type that most of the input is made of: what the compute ceiling is about. */
dtype case_context_element(const case_context *s);
/* Does a contraction ask for pairs512, the order of the dot instruction of bf16? */
bool case_context_pairs(const case_context *s);

#endif
