/* policy.h - policies of a type: `bf16 @ accum(f32)`, `f8e5m2 @ saturate @ loss_scale(256)`.
 *
 * A policy belongs to an annotation or to the type of a cast(), and says how values of the type are
 * made or added (docs/language.md, "Policies"). It lowers to attributes and operations of Graph IR;
 * one that could have no effect where it stands is refused. */
#ifndef TESSERA_CHECK_POLICY_H
#define TESSERA_CHECK_POLICY_H

#include "base/dtype.h"
#include "source/ast.h"
#include "source/diagnostic.h"

typedef enum policy_kind {
    POLICY_ACCUM,            /* dots and sums of it add in another type */
    POLICY_SATURATE,         /* what overflows becomes the greatest number */
    POLICY_STOCHASTIC_ROUND, /* rounds up as often as the distance says */
    POLICY_LOSS_SCALE,       /* holds the value times a power of two */
    POLICY_COUNT
} policy_kind;

typedef struct policy_set {
    bool given[POLICY_COUNT];
    span at[POLICY_COUNT];
    dtype accum;
    int64_t seed;
    int scale_log2;
} policy_set;

/* Its name; `argument` in words, NULL: it takes none. */
const char *policy_form(policy_kind kind, const char **argument);
/* Adds what stands right of one '@'; false when reported. */
bool policy_read(const node *n, policy_set *set, diagnostics *d);
/* Takes all policies off an expression `T @ a @ b`; what is left is the type. NULL when reported.
 */
const node *policies_strip(const node *n, policy_set *set, diagnostics *d);
/* Does the set say anything about how a value is converted? */
bool policy_converts(const policy_set *set);

#endif
