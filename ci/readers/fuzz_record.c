/* fuzz_record.c - a document of results, as tsr gate and tsr diff are given one: is it sound, and
 * do its numbers agree? */
#include "diff/side.h"
#include "fuzz.h"
#include "gate/record_check.h"
#include "job/result_check.h"
#include "scratch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    side from;
    size_t i;
    json_t *result;
    double fraction;
    status st = STATUS_INIT;
    if (side_open(&from, scratch_file("record.json", data, size), "", &st) &&
        result_check_start(from.head, "record.json", &st)) {
        json_array_foreach(from.results, i, result) {
            if (!result_check(result, "record.json", &st))
                break;
            record_check(&from, result, "record.json", &fraction, &st);
        }
        record_is_same_run(from.results, from.results);
    }
    side_close(&from);
    return 0;
}
