/* timing.h - what launches and copies take through the raw driver API. */
#ifndef MATRIX_UNITS_TIMING_H
#define MATRIX_UNITS_TIMING_H

/* Prints medians with the least and the greatest. */
void timing_print(void);

#endif
