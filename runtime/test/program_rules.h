/* program_rules.h - programs and what is wrong with them, for test_program.c: commands, and whole
 * documents. */
#ifndef TESSERA_RUNTIME_PROGRAM_RULES_H
#define TESSERA_RUNTIME_PROGRAM_RULES_H

/* The program makes `out` of `a`, 100 floats each. */
#define SMALL_HEAD                                                                                 \
    "{\"schema\": \"tsr.module/2\", \"name\": \"small\", \"profile\": \"strict\", "                \
    "\"numerics_version\": 1, "                                                                    \
    "\"inputs\": [{\"name\": \"a\", \"dtype\": \"f32\", \"shape\": [100]}], "                      \
    "\"outputs\": [{\"name\": \"out\", \"dtype\": \"f32\", \"shape\": [100]}], "
#define SMALL_WITH(arena, kernels, commands)                                                       \
    SMALL_HEAD "\"program\": {\"arena_bytes\": " arena ", \"kernels\": [" kernels                  \
               "], \"commands\": [" commands "]}}"

#define PLACE(space, numbers) "[\"" space "\", " numbers "]"
#define IN PLACE("input", "0, 0")
#define OUT PLACE("output", "0, 0")
#define ARENA(numbers) PLACE("arena", "0, " numbers)
#define DISPATCH(from, to) "{\"dispatch\": 0, \"operands\": [" from ", " to "]}"
#define COPY(to, from, bytes) "{\"copy\": [" to ", " from "], \"bytes\": " bytes "}"
#define TURN(to, bytes) "{\"turn\": " to ", \"bytes\": " bytes "}"
#define FILL(to, byte, bytes) "{\"fill\": " to ", \"byte\": " byte ", \"bytes\": " bytes "}"
#define LOOP(count, body) "{\"loop\": " count ", \"body\": [" body "]}"
#define WHILE(place, condition, body)                                                              \
    "{\"while\": " place ", \"condition\": [" condition "], \"body\": [" body "]}"
#define IF(place, then, otherwise)                                                                 \
    "{\"if\": " place ", \"then\": [" then "], \"else\": [" otherwise "]}"
#define FOUR(x) LOOP("2", LOOP("2", LOOP("2", LOOP("2", x))))
#define END DISPATCH(IN, OUT)

/* Commands over an arena of 1,024 bytes, and what is wrong with them; NULL: nothing. */
typedef struct rule {
    const char *commands, *words;
} rule;

static const rule rules[] = {
    {END, NULL},
    {COPY(OUT, IN, "400"), NULL},
    {COPY(OUT, IN, "0") "," END, NULL},
    {FILL(OUT, "255", "400"), NULL},
    {FILL(OUT, "0", "0") "," END, NULL},
    {"", "'out' is not written whole"},
    {FILL(OUT, "0", "399"), "'out' is not written whole"},
    {COPY(OUT, IN, "399"), "'out' is not written whole"},
    /* how commands read */
    {"7", "command 0"},
    {"{}", "not exactly one of"},
    {END ", {\"skip\": 1}", "command 1"},
    {"{\"dispatch\": 0, \"loop\": 1, \"operands\": [], \"body\": []}", "not exactly one of"},
    {"{\"dispatch\": 1, \"operands\": []}", "no such kernel"},
    {"{\"dispatch\": -1, \"operands\": []}", "no such kernel"},
    {"{\"dispatch\": 0}", "no array of places"},
    {"{\"copy\": [" OUT "], \"bytes\": 4}", "a copy has two places"},
    {COPY(OUT, IN, "-1"), "\"bytes\" is not a number"},
    {COPY(OUT, IN, "1e2"), "\"bytes\" is not a number"},
    {"{\"loop\": -1, \"body\": []}", "not a number of turns"},
    {"{\"loop\": 1}", "\"body\" is not an array"},
    {"{\"while\": " IN ", \"body\": []}", "\"condition\" is not an array"},
    {"{\"if\": " IN ", \"then\": []}", "\"else\" is not an array"},
    {LOOP("2", TURN(ARENA("0"), "2")), "neither 4 nor 8"},
    {FILL(OUT, "256", "400"), "not a number from 0 to 255"},
    {FILL(OUT, "0", "-1"), "\"bytes\" is not a number"},
    {FILL("7", "0", "4"), "a place is not"},
    {TURN(ARENA("0"), "4") "," END, "no loop around it"},
    {FOUR(FOUR(FOUR(FOUR("")))) "," END, NULL},
    {FOUR(FOUR(FOUR(FOUR(LOOP("1", ""))))) "," END, "deeper than 16"},
    {LOOP("1048576", LOOP("1048576", "")) "," END, NULL},
    {LOOP("1048576", LOOP("1048577", "")) "," END, "more than 2^40 turns"},
    /* places */
    {COPY(OUT, PLACE("heap", "0, 0"), "4"), "no buffer 'heap' 0"},
    {COPY(OUT, PLACE("input", "1, 0"), "4"), "no buffer 'input' 1"},
    {COPY(PLACE("output", "4294967295, 0"), IN, "4"), "no buffer 'output' 4294967295"},
    {COPY(PLACE("arena", "1, 0"), IN, "4"), "no buffer 'arena' 1"},
    {COPY("[\"arena\", 0]", IN, "4"), "a place is not"},
    {COPY("7", IN, "4"), "a place is not"},
    {COPY(ARENA("-4"), IN, "4"), "a place is not"},
    {LOOP("2", COPY(ARENA("0, -4"), IN, "4")), "a stride is not"},
    {COPY(ARENA("0, 4"), IN, "4"), "more strides than there are loops"},
    {LOOP("2", COPY(ARENA("0, 4, 4"), IN, "4")), "more strides than there are loops"},
    {COPY(ARENA("625"), IN, "400"), "runs past the end of 'the arena'"},
    {COPY(ARENA("624"), IN, "400") "," END, NULL},
    {COPY(ARENA("0"), IN, "401"), "runs past the end of 'a'"},
    {COPY(PLACE("output", "0, 1"), IN, "400"), "runs past the end of 'out'"},
    {LOOP("4", COPY(ARENA("0, 208"), IN, "400")) "," END, NULL},
    {LOOP("4", COPY(ARENA("0, 209"), IN, "400")) "," END, "runs past the end"},
    {LOOP("1048576", COPY(ARENA("0, 70368744177664"), IN, "4")), "runs past the end"},
    {DISPATCH(IN, ARENA("640")), "runs past the end"},
    {DISPATCH(IN, ARENA("32")), "not aligned to 64"},
    {LOOP("2", DISPATCH(IN, ARENA("0, 32"))), "not aligned to 64"},
    {"{\"dispatch\": 0, \"operands\": [" IN "]}", "has 2 operands, not 1"},
    {"{\"dispatch\": 0, \"operands\": [" IN "," IN "," OUT "]}", "has 2 operands, not 3"},
    /* writes */
    {DISPATCH(IN, IN), "writes to the input 'a'"},
    {COPY(IN, ARENA("0"), "0"), "writes to the input"},
    {LOOP("1", TURN(IN, "4")), "writes to the input"},
    {FILL(IN, "0", "4") "," END, "writes to the input"},
    {FILL(OUT, "0", "401"), "runs past the end of 'out'"},
    {LOOP("4", FILL(ARENA("0, 256"), "1", "256")) "," COPY(OUT, ARENA("624"), "400"), NULL},
    {DISPATCH(IN, OUT) "," DISPATCH(OUT, OUT), "operands 1 and 0 overlap"},
    {DISPATCH(IN, ARENA("0")) "," DISPATCH(ARENA("0"), ARENA("384")), "overlap"},
    {DISPATCH(IN, ARENA("0")) "," DISPATCH(ARENA("0"), ARENA("448")) "," END, NULL},
    {COPY(ARENA("0"), IN, "400") "," COPY(ARENA("8"), ARENA("0"), "9") "," END, "onto themselves"},
    {COPY(ARENA("0"), IN, "400") "," COPY(ARENA("8"), ARENA("0"), "8") "," END, NULL},
    /* ... that meet in some turn alone: the distance is 448 - 64 * turn */
    {DISPATCH(IN, ARENA("0")) "," LOOP("1", DISPATCH(ARENA("0"), ARENA("448"))) "," END, NULL},
    {COPY(ARENA("0"), IN, "400") "," COPY(ARENA("400"), IN, "400") "," LOOP(
         "2", DISPATCH(ARENA("0, 64"), ARENA("448"))) "," END,
     "overlap"},
    /* ... and whose steps pass each other: 8 bytes apart by 16, never nearer than 8 */
    {COPY(ARENA("0"), IN, "400") "," LOOP("9", COPY(ARENA("72"), ARENA("0, 16"), "8")) "," END,
     NULL},
    {COPY(ARENA("0"), IN, "400") "," LOOP("9", COPY(ARENA("72"), ARENA("0, 16"), "9")) "," END,
     "onto themselves"},
    /* reads */
    {DISPATCH(ARENA("0"), OUT), "were not all written"},
    {COPY(ARENA("0"), IN, "399") "," DISPATCH(ARENA("0"), OUT), "command 1"},
    {COPY(ARENA("0"), IN, "200") "," COPY(ARENA("200"), IN, "200") "," DISPATCH(ARENA("0"), OUT),
     NULL},
    {COPY(ARENA("200"), IN, "200") "," COPY(ARENA("0"), IN, "201") "," DISPATCH(ARENA("0"), OUT),
     NULL},
    {COPY(ARENA("0"), OUT, "4") "," END, "of 'out' that were not all written"},
    {IF(ARENA("0"), "", "") "," END, "were not all written"},
    {WHILE(ARENA("0"), "", "") "," END, "were not all written"},
    {WHILE(ARENA("0"), COPY(ARENA("0"), IN, "1"), "") "," END, NULL},
    {WHILE(IN, COPY(ARENA("0"), IN, "400"), "") "," DISPATCH(ARENA("0"), OUT), NULL},
    {WHILE(IN, "", COPY(ARENA("0"), IN, "400")) "," DISPATCH(ARENA("0"), OUT), "command 2"},
    {WHILE(IN, "", COPY(ARENA("0"), IN, "400") "," DISPATCH(ARENA("0"), OUT)) "," END, NULL},
    {IF(IN, END, ""), "not written whole"},
    {IF(IN, "", END), "not written whole"},
    {IF(IN, END, END), NULL},
    {IF(IN, COPY(OUT, IN, "300"), COPY(OUT, IN, "300")), "not written whole"},
    {IF(IN, COPY(ARENA("0"), IN, "400") "," COPY(ARENA("400"), IN, "8"),
        COPY(ARENA("8"), IN, "400") "," COPY(ARENA("0"), IN, "8")) "," DISPATCH(ARENA("0"), OUT),
     NULL},
    {LOOP("0", END), "not written whole"},
    {LOOP("0", DISPATCH(ARENA("0"), OUT)) "," END, "were not all written"},
    {LOOP("1", END), NULL},
    /* ... what a loop writes in its turns */
    {LOOP("4", COPY(PLACE("output", "0, 0, 100"), IN, "100")), NULL},
    {LOOP("4", COPY(PLACE("output", "0, 0, 99"), IN, "103")), NULL},
    {LOOP("3", COPY(PLACE("output", "0, 0, 100"), IN, "100")), "not written whole"},
    {LOOP("4", COPY(PLACE("output", "0, 0, 100"), IN, "99")), "not written whole"},
    {LOOP("2", LOOP("2", COPY(PLACE("output", "0, 0, 200, 100"), IN, "100"))), NULL},
    {LOOP("2", LOOP("2", COPY(PLACE("output", "0, 0, 100, 200"), IN, "100"))), NULL},
    {LOOP("2", LOOP("2", COPY(PLACE("output", "0, 0, 200, 104"), IN, "100"))), "runs past"},
    {LOOP("2", LOOP("2", COPY(PLACE("output", "0, 0, 200, 96"), IN, "100"))), "written whole"},
    {LOOP("2", IF(IN, COPY(PLACE("output", "0, 0, 200"), IN, "200"), "")), "not written whole"},
    /* ... and what its later turns read */
    {LOOP("8", COPY(ARENA("0, 8"), IN, "8")) "," LOOP(
         "8", COPY(ARENA("64"), ARENA("0, 8"), "8")) "," END,
     NULL},
    {LOOP("7", COPY(ARENA("0, 8"), IN, "8")) "," LOOP(
         "8", COPY(ARENA("64"), ARENA("0, 8"), "8")) "," END,
     "command 3: it reads 64 bytes at 0"},
    {LOOP("8", COPY(ARENA("0, 8"), IN, "8") "," COPY(ARENA("64"), ARENA("0, 8"), "8")) "," END,
     NULL},
    {COPY(ARENA("0"), IN, "8") "," LOOP("8", COPY(ARENA("8, 8"), ARENA("0, 8"), "8")) "," END,
     NULL},
    {LOOP("8", COPY(ARENA("8, 8"), ARENA("0, 8"), "8")) "," END, "were not all written"},
    {LOOP("8", IF(IN, COPY(ARENA("0, 8"), IN, "8") "," COPY(ARENA("64"), ARENA("0, 8"), "8"),
                  "")) "," END,
     NULL},
};

/* ---- documents ---- */

#define KEPT(numbers) PLACE("constant", numbers)
#define CONSTANT(section, bytes) "{\"section\": \"" section "\", \"bytes\": " bytes "}"
#define CONSTANTS(constants, commands)                                                             \
    SMALL_HEAD "\"program\": {\"arena_bytes\": 0, \"kernels\": [], \"constants\": [" constants     \
               "], \"commands\": [" commands "]}}"

/* `a` is donated to `out`. */
#define DONATED_AS(list, commands)                                                                 \
    SMALL_HEAD "\"donated\": " list ", \"program\": {\"arena_bytes\": 1024, \"kernels\": "         \
               "[\"kernel:0\"], \"commands\": [" commands "]}}"
#define DONATED(commands) DONATED_AS("[[0, 0]]", commands)

/* ... by rank 0 of 2. */
#define DONATED_TO(commands)                                                                       \
    SMALL_HEAD "\"donated\": [[0, 0]], \"program\": {\"arena_bytes\": 1024, \"kernels\": "         \
               "[\"kernel:0\"], \"rank\": [0, 2], \"meeting\": "                                   \
               "\"0000000000000000000000000000000000000000000000000000000000000000\", "            \
               "\"commands\": [" commands "]}}"

/* The program of rank 0 of 2, which sends each other one half of 100 floats. */
#define RANKED(commands)                                                                           \
    SMALL_HEAD "\"program\": {\"arena_bytes\": 1024, \"kernels\": [\"kernel:0\"], "                \
               "\"rank\": [0, 2], \"meeting\": "                                                   \
               "\"0000000000000000000000000000000000000000000000000000000000000000\", "            \
               "\"commands\": [" commands "]}}"
#define EXCHANGE(number, to, from)                                                                 \
    "{\"exchange\": [" to ", " from "], \"number\": " number ", \"group\": [0, 1], "               \
    "\"row\": 4, \"rows\": 100, \"first\": [0, 50], \"sent\": [50, 50], \"received\": [50, 50]}"
#define WAITS(number) "{\"wait\": " number "}"

static const rule documents[] = {
    /* An exchange goes on until its block waits for it. */
    {RANKED(EXCHANGE("1", OUT, IN) "," WAITS("1")), NULL},
    {RANKED(EXCHANGE("1", OUT, IN)), "command 0: its block does not wait for exchange 1"},
    {RANKED(EXCHANGE("1", OUT, IN) "," WAITS("2")), "exchange 2, which its block has not begun"},
    {RANKED(WAITS("1") "," EXCHANGE("1", OUT, IN)), "exchange 1, which its block has not begun"},
    {RANKED(EXCHANGE("1", OUT, IN) "," WAITS("1") "," WAITS("1")), "was waited for before"},
    {RANKED(EXCHANGE("1", OUT, IN) "," IF(IN, WAITS("1"), WAITS("1"))), "has not begun"},
    {RANKED(EXCHANGE("1", OUT, IN) "," IF(IN, EXCHANGE("2", ARENA("0"), IN), "") "," WAITS("1")),
     "command 2: its block does not wait for exchange 2"},
    {RANKED(EXCHANGE("1", OUT, IN) ",{\"wait\": \"1\"}"), "not the number of an exchange"},
    /* ... and what it sends is read meanwhile, and what comes is neither read nor written. */
    {RANKED(COPY(ARENA("0"), IN, "400") "," EXCHANGE("1", OUT, ARENA("0")) "," COPY(
         ARENA("400"), ARENA("0"), "400") "," WAITS("1")),
     NULL},
    {RANKED(COPY(ARENA("0"), IN, "400") "," EXCHANGE("1", OUT, ARENA("0")) "," COPY(
         ARENA("396"), IN, "4") "," WAITS("1")),
     "command 2: it writes 4 bytes at 396 of 'the arena' while exchange 1 is under way"},
    {RANKED(EXCHANGE("1", OUT, IN) "," COPY(ARENA("0"), OUT, "4") "," WAITS("1")),
     "command 1: it reads 4 bytes at 0 of 'out' while exchange 1 is under way"},
    {RANKED(EXCHANGE("1", OUT, IN) "," FILL(OUT, "0", "4") "," WAITS("1")), "it writes 4 bytes"},
    {RANKED(EXCHANGE("1", ARENA("0"), IN) "," DISPATCH(ARENA("0"), OUT) "," WAITS("1")),
     "it reads 400 bytes"},
    {RANKED(EXCHANGE("1", ARENA("0"), IN) "," WAITS("1") "," DISPATCH(ARENA("0"), OUT)), NULL},
    {RANKED(
         EXCHANGE("1", OUT, IN) "," EXCHANGE("2", ARENA("0"), OUT) "," WAITS("1") "," WAITS("2")),
     "command 1: it reads 400 bytes"},
    {SMALL_WITH("0", "", COPY(OUT, IN, "400")), NULL},
    {SMALL_WITH("-1", "", COPY(OUT, IN, "400")), "\"arena_bytes\""},
    {SMALL_WITH("1e30", "", COPY(OUT, IN, "400")), "\"arena_bytes\""},
    {SMALL_WITH("0", "\"kernel:1\"", COPY(OUT, IN, "400")), "which the module lacks"},
    {SMALL_WITH("0", "\"graph\"", COPY(OUT, IN, "400")), "no section"},
    {SMALL_WITH("0", "0", COPY(OUT, IN, "400")), "no section"},
    {SMALL_WITH("0", "\"kernel:0\", \"kernel:0\"",
                "{\"dispatch\": 1, \"operands\": [" IN "," OUT "]}"),
     NULL},
    {SMALL_HEAD "\"program\": 7}", "\"arena_bytes\""},
    {SMALL_HEAD "\"program\": {\"arena_bytes\": 0, \"commands\": []}}", "\"kernels\""},
    {SMALL_HEAD "\"program\": {\"arena_bytes\": 0, \"kernels\": []}}", "\"commands\""},
    {SMALL_HEAD "\"dims\": [\"N\"], \"program\": {}}", "\"dims\""},
    {SMALL_HEAD "\"constants\": [\"a\"], \"program\": {}}", "\"constants\""},
    {SMALL_HEAD "\"phases\": [], \"program\": {}}", "\"phases\""},
    {SMALL_HEAD "\"images\": [], \"program\": {}}", "\"images\""},
    /* The module has a section "constant:0" of 400 bytes. */
    {CONSTANTS(CONSTANT("constant:0", "400"), COPY(OUT, KEPT("0, 0"), "400")), NULL},
    {CONSTANTS(CONSTANT("constant:0", "400"), COPY(OUT, KEPT("0, 4"), "400")),
     "the end of 'constant:0'"},
    {CONSTANTS(CONSTANT("constant:0", "400"), COPY(OUT, KEPT("1, 0"), "400")),
     "no buffer 'constant' 1"},
    {CONSTANTS(CONSTANT("constant:0", "400"), COPY(KEPT("0, 0"), IN, "400")),
     "writes to the constant"},
    {CONSTANTS("", COPY(OUT, KEPT("0, 0"), "400")), "no buffer 'constant' 0"},
    {CONSTANTS(CONSTANT("constant:0", "399"), COPY(OUT, IN, "400")), "which the module lacks"},
    {CONSTANTS(CONSTANT("constant:1", "400"), COPY(OUT, IN, "400")), "which the module lacks"},
    {CONSTANTS(CONSTANT("kernel:0", "400"), COPY(OUT, IN, "400")), "no section"},
    {CONSTANTS(CONSTANT("constant:0", "-1"), COPY(OUT, IN, "400")), "without a number of bytes"},
    {CONSTANTS("7", COPY(OUT, IN, "400")), "no section"},
    /* A donated input is read before its output is written. */
    {DONATED_TO(EXCHANGE("1", ARENA("0"), IN) "," WAITS("1") "," COPY(OUT, ARENA("0"), "400")),
     NULL},
    {DONATED_TO(EXCHANGE("1", ARENA("0"), IN) "," FILL(OUT, "0", "400") "," WAITS("1")),
     "is read when 'out' was written"},
    {DONATED(DISPATCH(IN, ARENA("0")) "," COPY(OUT, ARENA("0"), "400")), NULL},
    {DONATED(END), "is read when 'out' was written"},
    {DONATED(COPY(ARENA("0"), IN, "400") "," COPY(OUT, ARENA("0"), "400") "," COPY(ARENA("512"), IN,
                                                                                   "4")),
     "is read when 'out' was written"},
    {DONATED(COPY(OUT, IN, "400")), NULL},
    {DONATED(COPY(ARENA("0"), IN, "400") "," COPY(OUT, ARENA("0"), "400") "," COPY(OUT, IN, "400")),
     "is read when 'out' was written"},
    {DONATED(
         COPY(OUT, PLACE("input", "0, 200"), "200") "," COPY(PLACE("output", "0, 200"), IN, "200")),
     "is read when 'out' was written"},
    {DONATED(LOOP("4", COPY(PLACE("output", "0, 0, 100"), PLACE("input", "0, 0, 100"), "100"))),
     NULL},
    {DONATED(LOOP("4", COPY(PLACE("output", "0, 0, 100"), IN, "100"))),
     "is read when 'out' was written"},
    {DONATED(COPY(ARENA("0"), IN, "400") "," IF(ARENA("0"), COPY(OUT, ARENA("0"), "400"),
                                                COPY(OUT, IN, "400"))),
     "is read when 'out' was written"},
    {DONATED_AS("[[0, 1]]", COPY(OUT, IN, "400")), "not [input, output]"},
    {DONATED_AS("[[1, 0]]", COPY(OUT, IN, "400")), "not [input, output]"},
    {DONATED_AS("[[0]]", COPY(OUT, IN, "400")), "not [input, output]"},
    {DONATED_AS("[[0, 0], [0, 0]]", COPY(OUT, IN, "400")), "\"donated\""},
    {DONATED_AS("7", COPY(OUT, IN, "400")), "\"donated\""},
    {DONATED_AS("[]", END), NULL},
};

#endif
