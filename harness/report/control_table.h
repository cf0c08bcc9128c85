/* control_table.h - what became of the negative controls, by kernel. */
#ifndef TESSERA_HARNESS_REPORT_CONTROL_TABLE_H
#define TESSERA_HARNESS_REPORT_CONTROL_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/vec.h"

/* One control of one kernel on one backend under one profile, over all its cases. */
typedef struct control_cell {
    const char *kernel, *backend, *profile, *control;
    uint32_t rejected;
    uint32_t accepted;   /* with outputs that are not the strict bits */
    uint32_t unchanged;  /* the wrong run gave the right outputs */
    uint32_t left_out;   /* it cannot show there */
    uint32_t broke;      /* an error, a crash or a timeout: no verdict */
    const char *why;     /* it was left out, or broke; or NULL */
    const char *example; /* the first case in which it was not rejected; or NULL */
} control_cell;
typedef VEC(control_cell) control_cells;

typedef enum control_outcome {
    CONTROL_REJECTED,
    CONTROL_LEFT_OUT,
    CONTROL_PASSED,
    CONTROL_BROKE
} control_outcome;
control_outcome control_outcome_of(const control_cell *cell);

void control_table_print(const control_cells *cells, bool colour, FILE *out);
/* The document tsr.controls/1. */
void control_table_json(const control_cells *cells, FILE *out);

#endif
