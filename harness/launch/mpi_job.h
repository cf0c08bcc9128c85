/* mpi_job.h - this program as one of the processes that mpirun (or srun) started: `mpirun -n 3 tsr
 * bench` runs on three ranks, of which the first one does what the command says, and the others
 * serve it.
 *
 * MPI begins once in a process, and once for each of its ranks. So each rank is one process as long
 * as the job lasts: the first one's is a child of the command. Each listens at a socket in a folder
 * that is named after the job; who wants to launch connects to all of them (ranks.c). */
#ifndef TESSERA_HARNESS_LAUNCH_MPI_JOB_H
#define TESSERA_HARNESS_LAUNCH_MPI_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

typedef struct mpi_job {
    uint32_t rank, count;
} mpi_job;

/* False: mpirun started nothing here, or one process alone, which is as without. */
bool mpi_job_here(mpi_job *out);
/* A rank behind the first one: until that has ended. Gives the exit code that it was told. */
int mpi_job_serve(const mpi_job *j);
/* The first rank: its process, and the connections that the others live by. */
bool mpi_job_begin(const mpi_job *j, status *st);
/* Tells all others to end with this code. */
void mpi_job_end(int code);
/* The entry of the first rank's process: `tsr --job-rank`. */
int mpi_job_rank(void);

/* Ranks of the job that a command of it may launch on; 0: it is none. */
uint32_t mpi_job_ranks(void);
/* A connection to a rank; -1: `st` says why. */
int mpi_job_connect(uint32_t rank, status *st);

#endif
