/* schedule_words.h - the values of a schedule by the names of its parameters. */
#ifndef TESSERA_CHECK_SCHEDULE_WORDS_H
#define TESSERA_CHECK_SCHEDULE_WORDS_H

#include "check/check.h"

/* dict(BM=64, tile=(6, 2)): parameters by their names, or words of schedule(...). */
entity schedule_read_hints(checker *c, const node *dict);

#endif
