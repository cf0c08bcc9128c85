/* main.c - matrix-units: the matrix units of this machine's GPU beside the models of them. Usage:
 * see below, or `run`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "cuda.h"
#include "ptx.h"
#include "scalar.h"
#include "search.h"
#include "timing.h"

enum {
    EXIT_AGREES = 0,
    EXIT_MISMATCH = 1,
    EXIT_USAGE = 2,
    EXIT_SKIPPED = 77,
    TILES = 1 << 20,
    QUICK_TILES = 4000,
    LEAST_TILES = 220
};

static const char usage[] = "usage: matrix-units [--quick | --tiles N] [--only TEXT] [--record "
                            "FILE] [matrix|scalar|time]...\n"
                            "       matrix-units --search FILE\n"
                            "       matrix-units --ptx INSTRUCTION\n";

typedef struct options {
    uint64_t tiles;
    const char *only, *search, *ptx;
    FILE *record;
    bool matrix, scalar, time;
} options;

static bool parse_value(options *o, const char *name, const char *value) {
    if (strcmp(name, "--only") == 0)
        o->only = value;
    else if (strcmp(name, "--tiles") == 0)
        return (o->tiles = strtoull(value, NULL, 10)) != 0;
    else if (strcmp(name, "--search") == 0)
        o->search = value;
    else if (strcmp(name, "--ptx") == 0)
        o->ptx = value;
    else if (strcmp(name, "--record") == 0)
        return (o->record = fopen(value, "w")) != NULL;
    else
        return false;
    return true;
}

static bool parse(options *o, int count, char **words) {
    for (int w = 1; w < count; w++)
        if (strcmp(words[w], "--quick") == 0)
            o->tiles = QUICK_TILES;
        else if (strcmp(words[w], "matrix") == 0)
            o->matrix = true;
        else if (strcmp(words[w], "scalar") == 0)
            o->scalar = true;
        else if (strcmp(words[w], "time") == 0)
            o->time = true;
        else if (w + 1 == count || !parse_value(o, words[w], words[w + 1]))
            return false;
        else
            w++;
    if (!o->matrix && !o->scalar && !o->time)
        o->matrix = o->scalar = o->time = true;
    return true;
}

/* Returns all tiles, but for wgmma other than plain ones of n = 8 a 32nd of their elements. */
static uint64_t tiles_of(const options *o, const instruction *i) {
    bool plain = i->n == 8 && i->chain == 1 && !i->a_shared && !i->without_c;
    if (i->unit != UNIT_WGMMA || plain)
        return o->tiles;
    uint64_t tiles = o->tiles / 4 / (uint64_t)(i->n * i->chain);
    return tiles < LEAST_TILES ? LEAST_TILES : tiles;
}

static bool check_all(const options *o, const instruction *list, size_t count) {
    check_result all = {0};
    for (size_t i = 0; i < count; i++) {
        if (o->only && !strstr(list[i].name, o->only))
            continue;
        check_result one = check_instruction(&list[i], tiles_of(o, &list[i]), o->record);
        all.tiles += one.tiles;
        all.elements += one.elements;
        all.mismatches += one.mismatches;
    }
    printf("all: %llu tiles, %llu elements, %llu mismatches\n", (unsigned long long)all.tiles,
           (unsigned long long)all.elements, (unsigned long long)all.mismatches);
    return all.tiles && !all.mismatches;
}

static int print_ptx(const char *name, const instruction *list, size_t count) {
    static char text[PTX_BYTES];
    for (size_t i = 0; i < count; i++) {
        if (strcmp(name, "list") == 0)
            puts(list[i].name);
        if (strcmp(name, list[i].name) == 0)
            ptx_of_instruction(&list[i], text);
    }
    fputs(text, stdout);
    return text[0] || strcmp(name, "list") == 0 ? EXIT_AGREES : EXIT_USAGE;
}

static int run_on_device(const options *o, const instruction *list, size_t count) {
    const char *why = cuda_open();
    if (why) {
        printf("skipped: %s\n", why);
        return EXIT_SKIPPED;
    }
    time_t now = time(NULL);
    char date[32];
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    printf("date: %s\n", date);
    bool agrees = true;
    if (o->time)
        timing_print();
    if (o->scalar)
        agrees &= scalar_check(o->tiles);
    if (o->matrix)
        agrees &= check_all(o, list, count);
    return agrees ? EXIT_AGREES : EXIT_MISMATCH;
}

int main(int argument_count, char **arguments) {
    static instruction list[INSTRUCTION_MAX];
    size_t count = instruction_list(list);
    options o = {.tiles = TILES};
    if (!parse(&o, argument_count, arguments)) {
        fputs(usage, stderr);
        return EXIT_USAGE;
    }
    int code = o.search ? search_records(o.search, list, count)
               : o.ptx  ? print_ptx(o.ptx, list, count)
                        : run_on_device(&o, list, count);
    if (o.record && fclose(o.record))
        return EXIT_USAGE;
    return code;
}
