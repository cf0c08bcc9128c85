/* stream.h - what streams and events know of each other. */
#ifndef TESSERA_RUNTIME_STREAM_H
#define TESSERA_RUNTIME_STREAM_H

#include "runtime.h"

/* Queues the completion of a recording. */
void stream_push_mark(tsr_stream_t stream, tsr_event_t event, uint64_t serial);
/* A recording has happened now. The context's lock is held. */
void event_complete(tsr_event_t event, uint64_t serial);

#endif
