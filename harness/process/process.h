/* process.h - a process of this program, started again (exec: clean state), with which one talks in
 * lines of JSON over two pipes; what it writes to stderr is kept.
 *
 * Whatever it does - dies, hangs, writes what is no JSON - the caller goes on. */
#ifndef TESSERA_HARNESS_PROCESS_PROCESS_H
#define TESSERA_HARNESS_PROCESS_PROCESS_H

#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"
#include "base/text.h"
#include "process/child.h"

/* The descriptors that the process itself reads from and writes to. */
enum { PROCESS_IN = 3, PROCESS_OUT = 4 };

typedef struct process {
    const char *program; /* NULL: this one */
    const char *role;    /* the hidden command: "--worker"; static */
    pid_t pid;           /* 0: not running */
    int to_fd, from_fd, stderr_fd;
    text received;                            /* bytes not yet a line */
    text stderr_tail;                         /* the end of what it wrote there */
    uint64_t memory_bytes;                    /* address space; 0: no limit */
    const volatile sig_atomic_t *interrupted; /* set: give up */
} process;

void process_init(process *p, const char *role, const volatile sig_atomic_t *interrupted);
bool process_start(process *p, status *st);
/* Ends its input, waits for its end or kills it, and releases everything. */
void process_stop(process *p);
/* Kills what is left of it; it can be started again. */
void process_reap(process *p);
/* Ends its input, and says how it ended where it does within some seconds: no signal of ours hides
 * its own. */
child_end process_await_end(process *p);

/* Checks that it is the process of one that runs. */
bool process_is_ours(pid_t pid);

bool process_send(process *p, const json_t *message);
/* Waits for bytes. False at the end of its output, at the deadline (errno ETIME) or when
 * interrupted (errno EINTR). */
bool process_receive(process *p, uint64_t deadline_ns);
/* The same of what is there already: false with errno EAGAIN, too. */
bool process_receive_now(process *p, uint64_t deadline_ns);
/* Waits until one of them may have something, at most as long as it takes to see an interruption.
 */
enum { PROCESS_WAIT_MOST = 16 };
void process_wait(process *const *any, size_t count);
/* The next whole line as JSON, owned; NULL when there is none yet. *malformed is set where a line
 * is no JSON object. */
json_t *process_next_message(process *p, bool *malformed);
/* Reads what is left of its stderr and appends the last line. */
void process_last_words(process *p, text *out);

#endif
