/* programs.c - random programs in @graph: functions that call each other, branches, loops in loops,
 * loops that depend on a number, sorts, reductions and scatters with blocks. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fuzz/generate.h"
#include "fuzz/programs.h"

/* ---- values ---- */

/* Writes text of the kernel's block or a function's. */
#define put(p, ...) text_printf(&(p)->out, __VA_ARGS__)

static value new_value(program *p, kind k) {
    value v = {.kind = k};
    snprintf(v.name, sizeof v.name, "%%v%u", p->names++);
    return v;
}

static value see(scope *s, value v) {
    if (s->count < VALUES_MAX)
        s->values[s->count++] = v;
    return v;
}

static value constant(program *p, kind k, const char *bits) {
    value v = new_value(p, k);
    put(p, "%s = \"tessera.constant\"() <{value = #tessera.bits<%s, %s>}> : () -> %s\n", v.name,
        k == NUMBER ? "f32" : "i32", bits, p->types[k]);
    return v;
}

static value number_of(program *p, scope *s, kind k) {
    static const char *const numbers[] = {"0x3f800000", "0x0", "0xbf000000", "0x41200000",
                                          "0x7fc00000"},
                             *const counts[] = {"0x0", "0x1", "0x2", "0x3", "0x4"};
    return see(s, constant(p, k, (k == NUMBER ? numbers : counts)[choose_below(p->c, 5)]));
}

static value indices_of(program *p, scope *s) {
    value v = new_value(p, PLACES);
    put(p, "%s = \"tessera.iota\"() <{axis = 0 : i64, shape = [%" PRId64 "]}> : () -> %s\n", v.name,
        p->columns, p->types[PLACES]);
    return see(s, v);
}

/* A constant tensor; its bytes follow the module (put_resources). */
static value dense_of(program *p, scope *s, kind k) {
    value v = new_value(p, k);
    p->has_dense[k] = true;
    put(p, "%s = \"tessera.dense\"() <{value = dense_resource<%s> : %s}> : () -> %s\n", v.name,
        k == ROW ? "row" : "places", p->types[k], p->types[k]);
    return see(s, v);
}

static value pick(program *p, scope *s, kind k);

static value spread(program *p, scope *s, kind k) {
    value x = pick(p, s, NUMBER), v = new_value(p, k);
    put(p, "%s = \"tessera.broadcast\"(%s) <{axes = [], shape = [", v.name, x.name);
    if (k == MATRIX)
        put(p, "%" PRId64 ", ", p->rows);
    put(p, "%" PRId64 "]}> : (%s) -> %s\n", p->columns, p->types[NUMBER], p->types[k]);
    return see(s, v);
}

/* One of this kind, the last ones oftener; made where there is none. */
static value pick(program *p, scope *s, kind k) {
    const value *found[VALUES_MAX];
    uint32_t n = 0;
    for (uint32_t i = s->count; i-- > 0;)
        if (s->values[i].kind == k)
            found[n++] = &s->values[i];
    if (n)
        return *found[choose_below(p->c, n < 3 || choose_rarely(p->c, 3) ? n : 3)];
    if ((k == ROW || k == PLACES) && choose_rarely(p->c, 3))
        return dense_of(p, s, k);
    return k == NUMBER || k == COUNT ? number_of(p, s, k)
           : k == PLACES             ? indices_of(p, s)
                                     : spread(p, s, k);
}

/* The last one, which most is behind, more often than not. */
static value pick_last(program *p, scope *s, kind k) {
    for (uint32_t i = s->count; i-- > 0 && !choose_rarely(p->c, 4);)
        if (s->values[i].kind == k)
            return s->values[i];
    return pick(p, s, k);
}

static bool is_float(kind k) {
    return k == MATRIX || k == ROW || k == NUMBER;
}

static kind any_kind(program *p) {
    return (kind)choose_below(p->c, KINDS);
}

/* ---- lists ---- */

static void put_names(program *p, const value *list, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        put(p, "%s%s", i ? ", " : "", list[i].name);
}

static void put_types(program *p, const value *list, uint32_t count) {
    put(p, "(");
    for (uint32_t i = 0; i < count; i++)
        put(p, "%s%s", i ? ", " : "", p->types[list[i].kind]);
    put(p, ")");
}

/* "%v3:2 = ": the results are what follows. */
static void begin_results(program *p, const kind *kinds, uint32_t count, value *results) {
    uint32_t number = p->names++;
    for (uint32_t i = 0; i < count; i++) {
        results[i].kind = kinds[i];
        snprintf(results[i].name, NAME, count > 1 ? "%%v%u#%u" : "%%v%u", number, i);
    }
    put(p, count > 1 ? "%%v%u:%u = " : "%%v%u = ", number, count);
}

static void end_results(program *p, scope *s, const value *operands, uint32_t operand_count,
                        const value *results, uint32_t count) {
    put(p, " : ");
    put_types(p, operands, operand_count);
    put(p, " -> ");
    put_types(p, results, count);
    put(p, "\n");
    for (uint32_t i = 0; i < count; i++)
        see(s, results[i]);
}

static void begin_block(program *p, scope *inner, const value *like, uint32_t count, bool turn) {
    *inner = (scope){.count = 0};
    put(p, "^bb0(");
    if (turn)
        put(p, "%s: %s", see(inner, new_value(p, COUNT)).name, p->types[COUNT]);
    for (uint32_t i = 0; i < count; i++) {
        value v = see(inner, new_value(p, like[i].kind));
        put(p, "%s%s: %s", i || turn ? ", " : "", v.name, p->types[v.kind]);
    }
    put(p, "):\n");
}

static void end_block(program *p, const char *word, const value *list, uint32_t count) {
    put(p, "\"tessera.%s\"(", word);
    put_names(p, list, count);
    put(p, ") : ");
    put_types(p, list, count);
    put(p, " -> ()\n");
}

static void statements(program *p, scope *s, uint32_t most);

/* A block that makes one value of each kind. */
static void fill_block(program *p, scope *inner, const char *word, const kind *kinds,
                       uint32_t count) {
    value made[CARRIED_MAX + 1];
    p->depth++;
    statements(p, inner, 3);
    p->depth--;
    for (uint32_t i = 0; i < count; i++)
        made[i] = pick_last(p, inner, kinds[i]);
    end_block(p, word, made, count);
}

static uint32_t pick_some(program *p, scope *s, value *list, kind *kinds) {
    uint32_t count = 1 + choose_below(p->c, CARRIED_MAX);
    for (uint32_t i = 0; i < count; i++) {
        list[i] = pick(p, s, any_kind(p));
        kinds[i] = list[i].kind;
    }
    return count;
}

/* ---- statements of values ---- */

/* Parameters: the parts of one line of the program's text. */
static value let(program *p, scope *s, kind k, const char *operation, const char *attrs,
                 const value *x, uint32_t count) {
    value v = new_value(p, k);
    put(p, "%s = \"tessera.%s\"(", v.name, operation);
    put_names(p, x, count);
    put(p, ")%s : ", attrs);
    put_types(p, x, count);
    put(p, " -> %s\n", p->types[k]);
    return k == CONDITION ? v : see(s, v);
}

static void unary(program *p, scope *s) {
    static const char *const floats[] = {"neg", "abs", "tanh", "sqrt", "floor", "logistic", "silu"};
    static const char *const integers[] = {"neg", "abs", "not"};
    value x = pick(p, s, any_kind(p));
    const char *name =
        is_float(x.kind) ? floats[choose_below(p->c, 7)] : integers[choose_below(p->c, 3)];
    let(p, s, x.kind, name, "", &x, 1);
}

static void binary(program *p, scope *s) {
    static const char *const names[] = {"add", "sub", "mul", "maximum", "minimum", "div"};
    kind k = any_kind(p);
    value pair[] = {pick(p, s, k), pick(p, s, k)};
    let(p, s, k, names[choose_below(p->c, 6)], "", pair, 2);
}

static void reduction(program *p, scope *s) {
    static const char *const attrs[] = {
        " <{axes = [0], kind = \"max\"}>", " <{axes = [0], kind = \"sum\", order = \"lanes64\"}>",
        " <{axes = [0], kind = \"min\"}>", " <{axes = [0], kind = \"sum\", order = \"exact\"}>"};
    value x = pick(p, s, choose_rarely(p->c, 2) ? MATRIX : ROW);
    kind k = x.kind == MATRIX ? ROW : NUMBER;
    let(p, s, k, "reduce", attrs[choose_below(p->c, 4)], &x, 1);
}

static value condition(program *p, scope *s) {
    static const char *const attrs[] = {" <{predicate = \"gt\"}>", " <{predicate = \"le\"}>",
                                        " <{predicate = \"ne\"}>"};
    kind k = choose_rarely(p->c, 2) ? COUNT : NUMBER;
    value pair[] = {pick(p, s, k), pick(p, s, k)};
    return let(p, s, CONDITION, "compare", attrs[choose_below(p->c, 3)], pair, 2);
}

/* ---- statements with blocks ---- */

static void branch(program *p, scope *s) {
    value operands[CARRIED_MAX + 1], results[CARRIED_MAX];
    kind kinds[CARRIED_MAX];
    scope inner;
    operands[0] = condition(p, s);
    uint32_t count = pick_some(p, s, operands + 1, kinds);
    begin_results(p, kinds, count, results);
    put(p, "\"tessera.if\"(");
    put_names(p, operands, count + 1);
    put(p, ") ({\n");
    begin_block(p, &inner, operands + 1, count, false);
    fill_block(p, &inner, "next", kinds, count);
    put(p, "}, {\n");
    begin_block(p, &inner, operands + 1, count, false);
    fill_block(p, &inner, "next", kinds, count);
    put(p, "})");
    end_results(p, s, operands, count + 1, results, count);
}

static value limited(program *p, scope *s, value x, const char *operation, const char *bits) {
    const value pair[] = {x, constant(p, COUNT, bits)};
    return let(p, s, COUNT, operation, "", pair, 2);
}

/* The first value counts turns, from 0 to 4 on; it goes on below a number up to 4. */
static void while_loop(program *p, scope *s) {
    value operands[CARRIED_MAX + 1], results[CARRIED_MAX + 1], made[CARRIED_MAX + 1];
    kind kinds[CARRIED_MAX + 1] = {COUNT};
    scope inner;
    value start = limited(p, s, pick(p, s, COUNT), "minimum", "0x4");
    operands[0] = limited(p, s, start, "maximum", "0x0");
    uint32_t count = 1 + pick_some(p, s, operands + 1, kinds + 1);
    count = count > CARRIED_MAX ? CARRIED_MAX : count;
    begin_results(p, kinds, count, results);
    put(p, "\"tessera.while\"(");
    put_names(p, operands, count);
    put(p, ") ({\n");
    begin_block(p, &inner, operands, count, false);
    value most = number_of(p, &inner, COUNT);
    const value pair[] = {inner.values[0], most};
    value goes = let(p, &inner, CONDITION, "compare", " <{predicate = \"lt\"}>", pair, 2);
    end_block(p, "next", &goes, 1);
    put(p, "}, {\n");
    begin_block(p, &inner, operands, count, false);
    value turn = inner.values[0];
    p->depth++;
    statements(p, &inner, 3);
    p->depth--;
    made[0] = limited(p, &inner, turn, "add", "0x1");
    for (uint32_t i = 1; i < count; i++)
        made[i] = pick_last(p, &inner, kinds[i]);
    end_block(p, "next", made, count);
    put(p, "})");
    end_results(p, s, operands, count, results, count);
}

/* It carries values, takes a matrix row by row, and stacks rows. */
static void counted_loop(program *p, scope *s) {
    value operands[CARRIED_MAX + 1], arguments[CARRIED_MAX + 1], results[CARRIED_MAX + 1];
    kind kinds[CARRIED_MAX + 1], ends[CARRIED_MAX + 1];
    scope inner;
    uint32_t carried = choose_below(p->c, 3);
    for (uint32_t i = 0; i < carried; i++)
        operands[i] = arguments[i] = pick(p, s, kinds[i] = ends[i] = any_kind(p));
    operands[carried] = pick(p, s, MATRIX);
    arguments[carried] = (value){.kind = ROW};
    operands[carried + 1] = arguments[carried + 1] = pick(p, s, any_kind(p));
    kinds[carried] = MATRIX;
    ends[carried] = ROW;
    begin_results(p, kinds, carried + 1, results);
    put(p, "\"tessera.loop\"(");
    put_names(p, operands, carried + 2);
    put(p, ") <{carried = %u : i64, count = %" PRId64 " : i64, sliced = 1 : i64}> ({\n", carried,
        p->rows);
    begin_block(p, &inner, arguments, carried + 2, true);
    fill_block(p, &inner, "next", ends, carried + 1);
    put(p, "})");
    end_results(p, s, operands, carried + 2, results, carried + 1);
}

static void call(program *p, scope *s) {
    value operands[CARRIED_MAX], results[CARRIED_MAX];
    if (p->function_count == 0)
        return;
    uint32_t number = choose_below(p->c, p->function_count);
    const function *f = &p->functions[number];
    for (uint32_t i = 0; i < f->input_count; i++)
        operands[i] = pick(p, s, f->inputs[i]);
    begin_results(p, f->outputs, f->output_count, results);
    put(p, "\"tessera.call\"(");
    put_names(p, operands, f->input_count);
    put(p, ") <{callee = \"f%u\"}>", number);
    end_results(p, s, operands, f->input_count, results, f->output_count);
}

/* ---- combiners: their blocks compute on numbers ---- */

static scope begin_scalars(program *p, const kind *kinds, uint32_t count) {
    value like[CARRIED_MAX];
    scope inner;
    for (uint32_t i = 0; i < count; i++)
        like[i].kind = kinds[i];
    begin_block(p, &inner, like, count, false);
    return inner;
}

static void few_scalars(program *p, scope *s) {
    static const char *const names[] = {"add", "sub", "mul", "maximum", "abs", "neg"};
    for (uint32_t n = choose_below(p->c, 3); n > 0; n--) {
        kind k = choose_rarely(p->c, 3) ? COUNT : NUMBER;
        uint32_t at = choose_below(p->c, 6);
        value pair[] = {pick(p, s, k), pick(p, s, k)};
        let(p, s, k, names[at], "", pair, at < 4 ? 2 : 1);
    }
}

/* Makes a number of two. */
static void combine_numbers(program *p) {
    static const kind scalars[] = {NUMBER, NUMBER};
    scope inner = begin_scalars(p, scalars, 2);
    few_scalars(p, &inner);
    value next = pick_last(p, &inner, NUMBER);
    end_block(p, "next", &next, 1);
    put(p, "})");
}

/* Sorts by numbers, by places, or in an order that contradicts itself. */
static void sort(program *p, scope *s) {
    static const kind kinds[] = {ROW, PLACES}, scalars[] = {NUMBER, COUNT, NUMBER, COUNT};
    static const char *const predicates[] = {" <{predicate = \"lt\"}>", " <{predicate = \"gt\"}>",
                                             " <{predicate = \"ne\"}>"};
    value operands[] = {pick(p, s, ROW), pick(p, s, PLACES)}, results[2];
    begin_results(p, kinds, 2, results);
    put(p, "\"tessera.sort\"(");
    put_names(p, operands, 2);
    put(p, ") <{axis = 0 : i64}> ({\n");
    scope inner = begin_scalars(p, scalars, 4);
    bool numbers = !choose_rarely(p->c, 3);
    value pair[] = {inner.values[numbers ? 0 : 1], inner.values[numbers ? 2 : 3]};
    const char *words = numbers ? "abs" : "neg";
    for (int i = 0; i < 2 && choose_rarely(p->c, 2); i++)
        pair[i] = let(p, &inner, pair[i].kind, words, "", &pair[i], 1);
    value before = let(p, &inner, CONDITION, "compare", predicates[choose_below(p->c, 3)], pair, 2);
    end_block(p, "next", &before, 1);
    put(p, "})");
    end_results(p, s, operands, 2, results, 2);
}

static void reduce_with(program *p, scope *s) {
    kind k = choose_rarely(p->c, 2) ? ROW : NUMBER;
    value operands[] = {pick(p, s, k == ROW ? MATRIX : ROW), pick(p, s, NUMBER)}, result;
    begin_results(p, &k, 1, &result);
    put(p, "\"tessera.reduce_with\"(");
    put_names(p, operands, 2);
    put(p, ") <{axis = 0 : i64}> ({\n");
    combine_numbers(p);
    end_results(p, s, operands, 2, &result, 1);
}

static void scatter(program *p, scope *s) {
    kind k = choose_rarely(p->c, 2) ? MATRIX : ROW;
    value operands[] = {pick(p, s, k), pick(p, s, PLACES), pick(p, s, k)}, result;
    begin_results(p, &k, 1, &result);
    put(p, "\"tessera.scatter\"(");
    put_names(p, operands, 3);
    put(p, ") <{axis = %d : i64}> ({\n", k == MATRIX);
    combine_numbers(p);
    end_results(p, s, operands, 3, &result, 1);
}

static void statement(program *p, scope *s) {
    static const struct {
        void (*make)(program *p, scope *s);
        uint32_t weight;
        bool nests;
    } productions[] = {{unary, 4, false},       {binary, 6, false}, {reduction, 2, false},
                       {call, 4, false},        {branch, 2, true},  {while_loop, 2, true},
                       {counted_loop, 3, true}, {sort, 2, false},   {reduce_with, 2, false},
                       {scatter, 2, false}};
    enum { COUNT_OF = sizeof productions / sizeof *productions };
    uint32_t weights[COUNT_OF];
    for (int i = 0; i < COUNT_OF; i++)
        weights[i] = productions[i].nests && p->depth == DEPTH_MAX ? 0 : productions[i].weight;
    if (p->operations++ < OPERATIONS_MAX)
        productions[choose_weighted(p->c, weights, COUNT_OF)].make(p, s);
}

static void statements(program *p, scope *s, uint32_t most) {
    for (uint32_t n = 1 + choose_below(p->c, most); n > 0; n--)
        statement(p, s);
}

/* ---- the module ---- */

static void set_shapes(program *p) {
    static const int64_t rows[] = {1, 2, 3, 5, 0, 7}, columns[] = {1, 2, 3, 5, 17, 33, 100, 0};
    p->rows = rows[choose_below(p->c, 6)];
    p->columns = columns[choose_below(p->c, 8)];
    snprintf(p->types[MATRIX], 48, "tensor<%" PRId64 "x%" PRId64 "xf32>", p->rows, p->columns);
    snprintf(p->types[ROW], 48, "tensor<%" PRId64 "xf32>", p->columns);
    snprintf(p->types[PLACES], 48, "tensor<%" PRId64 "xi32>", p->columns);
    snprintf(p->types[NUMBER], 48, "tensor<f32>");
    snprintf(p->types[COUNT], 48, "tensor<i32>");
    snprintf(p->types[CONDITION], 48, "tensor<i1>");
}

/* A function of its own kinds, that may call those before it. */
static void add_function(program *p) {
    function f = {.input_count = 1 + choose_below(p->c, CARRIED_MAX - 1),
                  .output_count = 1 + choose_below(p->c, 2)};
    value like[CARRIED_MAX];
    scope inner;
    for (uint32_t i = 0; i < f.input_count; i++)
        like[i].kind = f.inputs[i] = any_kind(p);
    for (uint32_t i = 0; i < f.output_count; i++)
        f.outputs[i] = any_kind(p);
    put(p, "\"tessera.function\"() <{inputs = [");
    for (uint32_t i = 0; i < f.input_count; i++)
        put(p, "%s\"x%u\"", i ? ", " : "", i);
    put(p, "], name = \"f%u\", outputs = [", p->function_count);
    for (uint32_t i = 0; i < f.output_count; i++)
        put(p, "%s\"y%u\"", i ? ", " : "", i);
    put(p, "]}> ({\n");
    begin_block(p, &inner, like, f.input_count, false);
    fill_block(p, &inner, "return", f.outputs, f.output_count);
    put(p, "}) : () -> ()\n");
    p->functions[p->function_count++] = f;
}

/* Each input, or not, to the first output of its kind. */
static void put_donations(program *p, const kind *outputs, uint32_t count) {
    for (int k = 0; k < KINDS; k++) {
        uint32_t i = choose_rarely(p->c, 4) ? count : 0;
        while (i < count && outputs[i] != (kind)k)
            i++;
        put(p, "%s%d", k ? ", " : "donated = [", i < count ? (int)i : -1);
    }
    put(p, "], ");
}

static void put_kernel(program *p, const kind *outputs, uint32_t count) {
    value like[KINDS];
    scope inner;
    put(p, "\"tessera.kernel\"() <{");
    if (choose_rarely(p->c, 3))
        put_donations(p, outputs, count);
    put(p, "inputs = [");
    for (int k = 0; k < KINDS; k++) {
        like[k].kind = (kind)k;
        put(p, "%s\"%s\"", k ? ", " : "", program_inputs[k]);
    }
    put(p, "], name = \"" FUZZ_KERNEL "\", outputs = [");
    for (uint32_t i = 0; i < count; i++)
        put(p, "%s\"y%u\"", i ? ", " : "", i);
    put(p, "]}> ({\n");
    begin_block(p, &inner, like, KINDS, false);
    statements(p, &inner, STATEMENTS_MAX - 3);
    fill_block(p, &inner, "return", outputs, count);
    put(p, "}) : () -> ()\n");
}

void fuzz_generate_programs(choices *c, text *out) {
    program p = {.c = c};
    text functions;
    kind outputs[CARRIED_MAX];
    text_init(&p.out);
    set_shapes(&p);
    for (uint32_t n = choose_below(c, FUNCTIONS_MAX + 1); n > 0; n--)
        add_function(&p);
    functions = p.out;
    text_init(&p.out);
    uint32_t count = 1 + choose_below(c, 3);
    for (uint32_t i = 0; i < count; i++)
        outputs[i] = any_kind(&p);
    put_kernel(&p, outputs, count);
    program_put_module(&p, &functions, outputs, count, out);
    text_release(&p.out);
    text_release(&functions);
}
