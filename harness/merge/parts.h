/* parts.h - the runs that a merge has to do with, those of the database itself included. */
#ifndef TESSERA_HARNESS_MERGE_PARTS_H
#define TESSERA_HARNESS_MERGE_PARTS_H

#include <jansson.h>

#include "base/map.h"
#include "base/text.h"
#include "base/vec.h"
#include "merge/merge.h"
#include "store/store.h"

typedef enum part_fate {
    PART_OWN,      /* it is of the database */
    PART_COPIED,   /* taken over as it is */
    PART_KNOWN,    /* the database has it, or another file had all of it */
    PART_REPLACED, /* it was of the database, not finished, and has more elsewhere */
    PART_JOINED,   /* a shard of a set that is complete */
    PART_REPEATED, /* a shard that was run again later */
    PART_WAITING   /* a shard of a set that is not complete, or was not finished itself */
} part_fate;

/* A run of a file. */
typedef struct part {
    size_t source; /* merge.sources */
    int64_t number, results;
    char *id, *started, *machine, *arguments; /* owned */
    json_t *head;                             /* owned; an object */
    int exit_code;                            /* -1: not finished */
    bool executed;                            /* now */
    part_fate fate;
} part;

typedef struct merge_source {
    const char *path;
    store *store;
} merge_source;

/* Two results that contradict each other. */
typedef struct merge_conflict {
    char *key;       /* owned */
    size_t parts[2]; /* merge.parts */
    bool one_run;    /* else two runs of one build and machine */
} merge_conflict;

/* Shards that belong together. */
typedef struct merge_set {
    uint32_t of;
    const char *name;    /* "": none. Borrowed from a head */
    bool is_asked;       /* a shard of it is in the files */
    VEC(size_t) members; /* merge.parts, by index; SIZE_MAX: there is none */
    json_t *head;        /* of the run that they make, where all are there; owned */
    char *refusal;       /* why they do not belong together; owned */
} merge_set;

typedef struct merge {
    const merge_request *request;
    VEC(merge_source) sources; /* the database comes first, with a NULL store where it is new */
    VEC(part) parts;           /* those of the database first, then in the order of time */
    VEC(merge_conflict) conflicts;
    VEC(merge_set) sets;
    map known;      /* id of a run, or of a shard in one -> index into parts */
    uint64_t gates; /* taken over */
    bool written;
} merge;

/* parts.c: opens the files and lists their runs; what the database has is PART_KNOWN. */
bool merge_open(merge *m, status *st);
void merge_close(merge *m);
/* The facts of a shard (case/shard.h); NULL: the run is none. Borrowed. */
const json_t *part_shard(const part *p);
/* "run ID in FILE" */
void part_words(const merge *m, const part *p, text *out);
/* Its build: equal texts are equal builds. */
void part_build(const part *p, text *out);

/* conflicts.c: reads every result. False: `st` says which file is damaged. */
bool merge_find_conflicts(merge *m, status *st);

/* sets.c: chooses the run of each shard, and says what each set makes. */
void merge_make_sets(merge *m);

/* It came to its end, and every result of it is there. */
bool part_is_whole(const part *p);
/* The shard at a place of a set is not there, or not whole. */
bool merge_is_missing(const merge *m, const merge_set *set, size_t at);

/* joined.c: the head of a set's run; owned. */
json_t *merge_joined_head(const merge *m, const merge_set *set);
/* The machine of its row: that of all shards, or what says which ran where. */
void merge_joined_machine(const merge *m, const merge_set *set, text *out);

/* write.c */
bool merge_write(merge *m, status *st);

/* show.c: prints what was done; returns the exit code. */
int merge_show(const merge *m);

#endif
