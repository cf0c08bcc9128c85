/* plot.c - rasterises the roofs. */
#include "report/plot.h"

#include <math.h>
#include <string.h>

enum { PLOT_COLUMNS = 64, PLOT_ROWS = 16 };
static const double LEAST_INTENSITY = 1.0 / 64, MOST_INTENSITY = 1024;

typedef struct canvas {
    char cells[PLOT_ROWS][PLOT_COLUMNS + 1];
    double least, most; /* GFLOP/s of the lowest and the highest row */
} canvas;

static double column_intensity(int column) {
    double t = (double)column / (PLOT_COLUMNS - 1);
    return LEAST_INTENSITY * pow(MOST_INTENSITY / LEAST_INTENSITY, t);
}

static int row_of(const canvas *k, double gflops) {
    double t = log(gflops / k->least) / log(k->most / k->least);
    return (int)lround((1 - t) * (PLOT_ROWS - 1));
}

static void draw_roof(canvas *k, double peak, double bandwidth, char mark) {
    for (int column = 0; column < PLOT_COLUMNS; column++) {
        double memory = bandwidth * column_intensity(column);
        int row = row_of(k, fmin(peak, memory));
        if (row >= 0 && row < PLOT_ROWS && (k->cells[row][column] == ' ' || memory < peak))
            k->cells[row][column] = memory < peak ? mark : '-';
    }
}

static uint64_t level_probe_bytes(const ceilings *c, int level) {
    return level == c->level_count - 1 ? UINT64_MAX : c->levels[level].size_bytes;
}

void plot_roofline(const ceilings *c, uint32_t threads, text *out) {
    static const char marks[CEILING_LEVELS] = {'1', '2', '3', 'd'};
    const ceiling *peak = ceilings_compute(c, DTYPE_F32, "strict", threads);
    const ceiling *slow = ceilings_memory(c, UINT64_MAX, threads);
    if (!peak || !slow)
        return;
    canvas k = {.least = slow->value * LEAST_INTENSITY, .most = peak->value};
    for (int row = 0; row < PLOT_ROWS; row++) {
        memset(k.cells[row], ' ', PLOT_COLUMNS);
        k.cells[row][PLOT_COLUMNS] = '\0';
    }
    for (int level = 0; level < c->level_count; level++) {
        const ceiling *stream = ceilings_memory(c, level_probe_bytes(c, level), threads);
        if (stream)
            draw_roof(&k, peak->value, stream->value, marks[level]);
    }
    text_printf(out, "\nGFLOP/s, f32, %u threads (roofs: 1 = L1, 2 = L2, 3 = L3, d = DRAM)\n",
                threads);
    for (int row = 0; row < PLOT_ROWS; row++) {
        double value = k.most * pow(k.least / k.most, (double)row / (PLOT_ROWS - 1));
        text_printf(out, "%8.4g |%s\n", value, k.cells[row]);
    }
    text_append(out, "         +");
    for (int column = 0; column < PLOT_COLUMNS; column++)
        text_append_char(out, '-');
    text_append(out, "\n          1/64");
    text_printf(out, "%*s\n", PLOT_COLUMNS - 4, "1024 FLOP/byte");
}
