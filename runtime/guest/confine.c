/* confine.c - keeps a guest from ending the process that it serves, and from changing how that is
 * scheduled. The system refuses the calls (seccomp) whatever user runs both; where it has no such
 * filter, the harness sees what was done. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest/guest.h"

#if defined(__x86_64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifdef OWN_ARCHITECTURE
/* The first argument of these calls is the process. */
static const unsigned guarded[] = {SYS_kill,
                                   SYS_tkill,
                                   SYS_tgkill,
                                   SYS_rt_sigqueueinfo,
                                   SYS_pidfd_open,
                                   SYS_rt_tgsigqueueinfo,
                                   SYS_prlimit64,
                                   SYS_sched_setscheduler,
                                   SYS_sched_setparam,
                                   SYS_sched_setattr,
                                   SYS_sched_setaffinity};
enum { GUARDED = sizeof guarded / sizeof *guarded, FILTER = GUARDED + 10 };

static void put(struct sock_filter *at, unsigned code, unsigned value, unsigned yes, unsigned no) {
    *at = (struct sock_filter){(unsigned short)code, (unsigned char)yes, (unsigned char)no, value};
}

/* -1 names every process. */
void guest_confine(pid_t served) {
    const unsigned load = BPF_LD | BPF_W | BPF_ABS, equal = BPF_JMP | BPF_JEQ | BPF_K;
    struct sock_filter f[FILTER];
    unsigned n = 0;
    put(&f[n++], load, offsetof(struct seccomp_data, arch), 0, 0);
    put(&f[n++], equal, OWN_ARCHITECTURE, 1, 0);
    put(&f[n++], BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
    put(&f[n++], load, offsetof(struct seccomp_data, nr), 0, 0);
    for (unsigned i = 0; i < GUARDED; i++)
        put(&f[n++], equal, guarded[i], GUARDED - i, 0);
    put(&f[n++], BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
    put(&f[n++], load, offsetof(struct seccomp_data, args[0]), 0, 0);
    put(&f[n++], equal, (unsigned)served, 1, 0);
    put(&f[n++], equal, UINT32_MAX, 0, 1);
    put(&f[n++], BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM, 0, 0);
    put(&f[n++], BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
    const struct sock_fprog program = {(unsigned short)n, f};
    (void)prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}
#else
void guest_confine(pid_t served) {
    (void)served;
}
#endif
