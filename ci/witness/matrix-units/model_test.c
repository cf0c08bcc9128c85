/* model_test.c - the models of matrix units on elements that hardware computed. Usage:
 * ci_matrix_model FILE of records. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "record.h"

/* Counts records that the model does not explain; `sharper`: those that it would not explain with a
 * bit more in the aligned sum. */
static int check_records(const char *path, size_t *count, size_t *sharper) {
    static instruction list[INSTRUCTION_MAX];
    static char line[RECORD_LINE];
    size_t instructions = instruction_list(list);
    FILE *file = fopen(path, "r");
    int wrong = 0;
    if (!file)
        return 1;
    while (fgets(line, sizeof line, file)) {
        record r;
        if (line[0] == '#')
            continue;
        bool is_one = record_read(line, list, instructions, &r);
        if (!is_one || record_model(&r, r.instruction->model) != r.result) {
            printf("%s: %s", is_one ? "other bits" : "not a record", line);
            wrong++;
            continue;
        }
        matrix_unit finer = *r.instruction->model;
        finer.fraction_bits++;
        *sharper += record_model(&r, &finer) != r.result;
        ++*count;
    }
    fclose(file);
    return wrong;
}

int main(int argument_count, char **arguments) {
    size_t count = 0, sharper = 0;
    int wrong = argument_count == 2 ? check_records(arguments[1], &count, &sharper) : 1;
    printf("%zu records (%zu of them need every bit), %d wrong\n", count, sharper, wrong);
    return wrong || count < 300 || !sharper;
}
