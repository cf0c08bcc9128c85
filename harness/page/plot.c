/* plot.c - rasterises roofs and points, and writes the picture with its axes and its legend. */
#include "page/plot.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"

enum {
    AXIS_COLUMNS = 10, /* "  123.4 |" */
    NAME_COLUMNS = 7,  /* of compute roofs, at the right */
    COLUMNS_LEAST = 24,
    COLUMNS_MOST = 160,
    ROWS_LEAST = 12,
    ROWS_MOST = 28,
    DOTS_ACROSS = 2, /* of a Braille character */
    DOTS_DOWN = 4,
    DECADES_MOST = 7
};
static const double LEAST_INTENSITY = 1.0 / 64, MOST_INTENSITY = 1024;

/* Mark of a cell: the strongest of what falls into it. */
typedef struct cell {
    unsigned char dots; /* Braille, of roofs */
    char letter;        /* of a roof, in ASCII; or of a name */
    signed char point;  /* profile + 1; SEVERAL; 0: none */
} cell;
enum { SEVERAL = 4 };

typedef struct canvas {
    const plot *p;
    int columns, rows;
    double least, most; /* GFLOP/s of the lowest and the highest row */
    size_t below;       /* points under the lowest row */
    cell cells[ROWS_MOST][COLUMNS_MOST];
} canvas;

static const struct mark {
    const char *unicode, *ascii, *colour;
} marks[] = {{"\xe2\x97\x8f", "o", "\033[34m"},  /* black circle */
             {"\xe2\x96\xb2", "+", "\033[33m"},  /* black up-pointing triangle */
             {"\xe2\x96\xa0", "x", "\033[32m"},  /* black square */
             {"\xe2\x9c\xa6", "*", "\033[35m"}}; /* four-pointed star: several */

static double intensity_at(const canvas *k, double column) {
    return LEAST_INTENSITY * pow(MOST_INTENSITY / LEAST_INTENSITY, column / (k->columns - 1));
}

/* In rows from the top, with a fraction. */
static double height_of(const canvas *k, double gflops) {
    return (1 - log(gflops / k->least) / log(k->most / k->least)) * (k->rows - 1);
}

/* ---- roofs ---- */

static double greatest(const canvas *k, bool memory) {
    double most = 0;
    for (size_t i = 0; i < k->p->roofs.count; i++)
        if (k->p->roofs.items[i].memory == memory)
            most = fmax(most, k->p->roofs.items[i].value);
    return most;
}

/* L1 to L3 by their number, DRAM by its letter. */
static char letter_of(const plot_roof *roof) {
    if (!roof->memory)
        return '-';
    return roof->name[0] == 'L' ? roof->name[1] : 'd';
}

static void put_dot(canvas *k, const plot_roof *roof, double column, double height) {
    /* Dot numbers of a Braille character run down its left half, then its right; the lowest two
     * came later. */
    static const unsigned char dots[DOTS_DOWN][DOTS_ACROSS] = {
        {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    double down = (height + 0.5) * DOTS_DOWN;
    int row = (int)floor(height + 0.5), across = (int)floor(column);
    if (down < 0 || row < 0 || row >= k->rows || across < 0 || across >= k->columns)
        return;
    cell *c = &k->cells[row][across];
    c->dots |= dots[(int)down % DOTS_DOWN][column - across >= 0.5];
    if (!c->letter || roof->memory)
        c->letter = letter_of(roof);
}

/* A level's roof goes up to the highest peak, a peak's begins where the fastest level reaches it.
 */
static void draw_roof(canvas *k, const plot_roof *roof) {
    double peak = greatest(k, false), fastest = greatest(k, true);
    for (int i = 0; i < k->columns * DOTS_ACROSS; i++) {
        double column = (double)i / DOTS_ACROSS, x = intensity_at(k, column);
        double y = roof->memory ? roof->value * x : roof->value;
        if (roof->memory ? y <= peak : x * fastest >= roof->value)
            put_dot(k, roof, column, height_of(k, y));
    }
}

/* The name of a level stands where its roof begins. */
static void name_level(canvas *k, const plot_roof *roof) {
    for (int column = 1; column + 4 < k->columns; column++) {
        int row = (int)floor(height_of(k, roof->value * intensity_at(k, column)) + 0.5);
        if (row < 0 || row >= k->rows)
            continue;
        for (size_t i = 0; roof->name[i]; i++)
            k->cells[row][column + (int)i] = (cell){.letter = roof->name[i]};
        return;
    }
}

/* ---- points ---- */

static int clamp(int value, int low, int high) {
    return value < low ? low : value > high ? high : value;
}

static void draw_points(canvas *k) {
    double span = log(MOST_INTENSITY / LEAST_INTENSITY);
    for (size_t i = 0; i < k->p->points.count; i++) {
        const plot_point *p = &k->p->points.items[i];
        int row = (int)lround(height_of(k, p->rate));
        int column = (int)lround(log(p->intensity / LEAST_INTENSITY) / span * (k->columns - 1));
        if (row >= k->rows) {
            k->below++;
            continue;
        }
        cell *c = &k->cells[clamp(row, 0, k->rows - 1)][clamp(column, 0, k->columns - 1)];
        signed char own = (signed char)(p->profile + 1);
        c->point = c->point && c->point != own ? SEVERAL : own;
    }
}

/* ---- text ---- */

static void open_canvas(canvas *k, const plot *p) {
    memset(k, 0, sizeof *k);
    k->p = p;
    k->columns = clamp(p->width - AXIS_COLUMNS - NAME_COLUMNS, COLUMNS_LEAST, COLUMNS_MOST);
    k->rows = clamp(k->columns / 3, ROWS_LEAST, ROWS_MOST);
    k->most = greatest(k, false);
    k->least = k->most;
    for (size_t i = 0; i < p->roofs.count; i++)
        if (p->roofs.items[i].memory)
            k->least = fmin(k->least, p->roofs.items[i].value * LEAST_INTENSITY);
    for (size_t i = 0; i < p->points.count; i++) {
        k->least = fmin(k->least, p->points.items[i].rate);
        k->most = fmax(k->most, p->points.items[i].rate);
    }
    k->least = fmax(k->least, k->most * pow(10, -DECADES_MOST));
}

static void print_coloured(const canvas *k, const char *colour, const char *words, text *out) {
    text_append(out, k->p->colour ? colour : "");
    text_show(out, "%s", words);
    text_append(out, k->p->colour ? "\033[0m" : "");
}

static void print_cell(const canvas *k, const cell *c, text *out) {
    char words[8] = " ";
    if (c->point) {
        const struct mark *m = &marks[c->point - 1];
        print_coloured(k, m->colour, k->p->unicode ? m->unicode : m->ascii, out);
        return;
    }
    if (k->p->unicode && c->dots) /* U+2800 and the dots as bits, in UTF-8 */
        snprintf(words, sizeof words, "\xe2%c%c", (char)(0xa0 | c->dots >> 6),
                 (char)(0x80 | (c->dots & 0x3f)));
    else if (c->letter)
        snprintf(words, sizeof words, "%c", c->letter);
    if (words[0] == ' ')
        text_append_char(out, ' ');
    else
        print_coloured(k, "\033[2m", words, out);
}

/* Names of the peaks that end in this row. */
static void print_names(const canvas *k, int row, text *out) {
    int room = NAME_COLUMNS;
    for (size_t i = 0; i < k->p->roofs.count; i++) {
        const plot_roof *roof = &k->p->roofs.items[i];
        int length = (int)strlen(roof->name) + 1;
        if (roof->memory || (int)floor(height_of(k, roof->value) + 0.5) != row || length > room)
            continue;
        text_show(out, " %s", roof->name);
        room -= length;
    }
}

static void print_rows(const canvas *k, text *out) {
    for (int row = 0; row < k->rows; row++) {
        double value = k->most * pow(k->least / k->most, (double)row / (k->rows - 1));
        text_show(out, "%8.3g %s", value, k->p->unicode ? "\xe2\x94\x82" : "|");
        for (int column = 0; column < k->columns; column++)
            print_cell(k, &k->cells[row][column], out);
        print_names(k, row, out);
        while (out->length && out->data[out->length - 1] == ' ')
            out->data[--out->length] = '\0';
        text_append_char(out, '\n');
    }
}

static void print_axis(const canvas *k, text *out) {
    text_append(out, k->p->unicode ? "         \xe2\x94\x94" : "         +");
    for (int column = 0; column < k->columns; column++)
        text_append(out, k->p->unicode ? "\xe2\x94\x80" : "-");
    text_show(out, "\n          1/64%*s\n", k->columns - 4, "1024 FLOP/byte");
}

/* One entry of the legend, on a new line where this one has no room for it. */
static void print_entry(const canvas *k, int mark, const char *words, int *column, text *out) {
    int length = 2 + (int)strlen(words);
    if (*column && *column + 3 + length > k->p->width) {
        text_append_char(out, '\n');
        *column = 0;
    }
    text_append(out, *column ? "   " : "");
    print_coloured(k, marks[mark].colour, k->p->unicode ? marks[mark].unicode : marks[mark].ascii,
                   out);
    text_show(out, " %s", words);
    *column += length + (*column ? 3 : 0);
}

static void print_legend(const canvas *k, text *out) {
    size_t counts[3] = {0};
    const plot *p = k->p;
    int column = 0, profiles = 0;
    char words[64];
    for (size_t i = 0; i < p->points.count; i++)
        counts[p->points.items[i].profile]++;
    text_append_char(out, '\n');
    for (int i = 0; i < 3; i++) {
        if (!counts[i])
            continue;
        snprintf(words, sizeof words, "%s (%zu)", plot_profiles[i], counts[i]);
        print_entry(k, i, words, &column, out);
        profiles++;
    }
    if (profiles > 1)
        print_entry(k, SEVERAL - 1, "several profiles", &column, out);
    text_append(out, profiles ? "\n" : "");
    if (p->without_work)
        text_show(out, "%zu results have no arithmetic, and so no place here\n", p->without_work);
    if (k->below)
        text_show(out, "%zu results lie below\n", k->below);
}

void plot_print(const plot *p, text *out) {
    canvas k;
    open_canvas(&k, p);
    if (!(greatest(&k, true) > 0) || !(k.most > k.least))
        return;
    for (size_t i = 0; i < p->roofs.count; i++)
        draw_roof(&k, &p->roofs.items[i]);
    for (size_t i = 0; i < p->roofs.count && p->unicode; i++)
        if (p->roofs.items[i].memory)
            name_level(&k, &p->roofs.items[i]);
    draw_points(&k);
    text_show(out, "\nGFLOP/s, %" PRIu32 " thread%s\n", p->threads, p->threads == 1 ? "" : "s");
    if (!p->unicode)
        text_append(out, "roofs: 1 = L1, 2 = L2, 3 = L3, d = DRAM, - = arithmetic\n");
    print_rows(&k, out);
    print_axis(&k, out);
    if (p->points.count || p->without_work)
        print_legend(&k, out);
}
