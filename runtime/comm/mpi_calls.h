/* mpi_calls.h - the functions of libtessera-mpi.so: MPI, whose types differ between its libraries,
 * behind types of our own. The library is built where mpi.h is, and opened when it is asked for. */
#ifndef TESSERA_RUNTIME_COMM_MPI_CALLS_H
#define TESSERA_RUNTIME_COMM_MPI_CALLS_H

#include "comm/comm.h"

#define MPI_CALLS_LIBRARY "libtessera-mpi.so"
#define MPI_CALLS_SYMBOL "tessera_mpi_calls"

typedef struct mpi_calls {
    size_t size; /* of this struct: of another build it is another one */
    /* Begins MPI, unless the program has. */
    bool (*open)(uint32_t *rank, uint32_t *count, status *st);
    bool (*exchange)(uint64_t number, uint64_t timeout_ns, const comm_message *messages,
                     uint32_t count, status *st);
    void (*close)(void);
    void (*abort)(void); /* ends all ranks */
} mpi_calls;

#endif
