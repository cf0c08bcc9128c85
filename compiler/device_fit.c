/* device_fit.c - devices that a source asks for: is the target one of them? */
#include <stdio.h>

#include "check/settings.h"
#include "check/specialize.h"
#include "pipeline.h"

/* The operation's place in the source where what it asks for is another one. */
static const setting *misfit_of(const settings *s, ir_location at, const capability_chip *chip) {
    uint32_t n = setting_find(s, at.setting, SETTING_DEVICE);
    while (n && settings_device_is(setting_at(s, n)->word, chip))
        n = setting_find(s, setting_at(s, n)->up, SETTING_DEVICE);
    return setting_at(s, n);
}

bool pipeline_device_fits(const ir_module *m, const settings *s, const char *target, status *st) {
    const capability_chip *chip = specialize_chip(target);
    const setting *one = NULL;
    for (ir_walk w = ir_walk_block(m, ir_module_body(m)); s && chip && !one && ir_walk_next(&w);)
        one = misfit_of(s, ir_op_get(m, w.op)->location, chip);
    if (!one)
        return true;
    char why[160];
    snprintf(why, sizeof why,
             "code for %.40s is asked for, and the source is for the device '%.60s'", target,
             one->word);
    return diagnose_status(st, STATUS_UNAVAILABLE, s->source, ERROR_DEVICE_TARGET,
                           (span){one->start, one->end}, why, NULL);
}
