/* apart.h - starts a guest in namespaces of its own. */
#ifndef TESSERA_RUNTIME_GUEST_APART_H
#define TESSERA_RUNTIME_GUEST_APART_H

/* tessera-guest GUEST_APART PROGRAM ARGUMENT...: starts the program as a child of the process that
 * started this one, in namespaces of processes and mounts (and of users, where the system asks for
 * that) in which it is with what it starts alone, and sends a guest_birth to GUEST_SOCKET.
 * Starts nothing without a PROGRAM. Returns the exit code. */
int guest_start_apart(char **program);

#endif
