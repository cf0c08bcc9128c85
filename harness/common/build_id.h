/* build_id.h - which build of tsr this is. Two builds of one commit may differ; their build ids
 * tell. */
#ifndef TESSERA_HARNESS_COMMON_BUILD_ID_H
#define TESSERA_HARNESS_COMMON_BUILD_ID_H

/* The linker's hash of this program (its ELF note NT_GNU_BUILD_ID), in hex; "" where it has none.
 * It does not cover shared libraries, of which LLVM has a say in results. */
const char *build_id(void);

/* The same of anything that is loaded: what dl_iterate_phdr tells of. */
struct dl_phdr_info;
enum { BUILD_ID_BYTES = 129 };
void build_id_of(const struct dl_phdr_info *info, char out[BUILD_ID_BYTES]);

/* Commit of the sources when they were compiled: 12 digits, "-dirty" behind them where the sources
 * differ from it; "unknown" outside a repository. For people: what compares builds compares build
 * ids. Made by commit.cmake with every build. */
extern const char build_commit[];

#endif
