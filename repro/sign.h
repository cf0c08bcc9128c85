/* sign.h - a signed statement beside a pack: whose it is, and what its replay said. Never that it
 * is safe.
 *
 * PACK.intoto.json is a DSSE envelope around an in-toto statement (v1): its subject is the pack's
 * file with its SHA-256, its predicate what the caller states. Ed25519, through OpenSSL's
 * libcrypto; keys are PEM files as `openssl genpkey -algorithm ed25519` writes them. The envelope
 * has one spelling (members sorted, no spaces, a newline at the end), so no byte of it can change
 * unnoticed, signed or not. Same pack, key and predicate: same bytes. Thread rule: functions may be
 * called from any thread; keys are only read. */
#ifndef TESSERA_REPRO_SIGN_H
#define TESSERA_REPRO_SIGN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/sha256.h"
#include "base/status.h"

#define SIGN_SUFFIX ".intoto.json"
#define SIGN_PAYLOAD_TYPE "application/vnd.in-toto+json"
#define SIGN_STATEMENT_TYPE "https://in-toto.io/Statement/v1"
#define SIGN_PREDICATE_TYPE "urn:tessera:replay:1"

enum {
    SIGN_BYTES_MAX = 64 << 10, /* of an envelope, and of a file of keys */
    SIGN_KEYS_MAX = 256,
    SIGN_KEYID_BYTES = 65 /* SHA-256 of the public key (DER, SubjectPublicKeyInfo), in hex */
};

typedef struct sign_key sign_key;   /* a private key */
typedef struct sign_keys sign_keys; /* public keys of which any may have signed */

/* NULL where the file cannot be read, or holds something else. Owned by the caller. */
sign_key *sign_key_open(const char *path, status *st);
void sign_key_close(sign_key *key); /* NULL is allowed */
sign_keys *sign_keys_open(const char *path, status *st);
void sign_keys_close(sign_keys *keys); /* NULL is allowed */

/* Appended to the pack's path; owned by the caller (free). */
char *sign_path(const char *pack);

/* Writes the envelope of the file at `pack`, over one that is there. */
bool sign_pack(const char *pack, const sign_key *key, const json_t *predicate,
               char keyid_out[SIGN_KEYID_BYTES], status *st);

typedef struct signature {
    char keyid[SIGN_KEYID_BYTES];
    sha256 subject;    /* digest that the pack's file must have; the caller compares */
    json_t *predicate; /* owned: json_decref */
} signature;

/* Reads the envelope beside `pack`, which is not opened. False: there is none, it is damaged, or
 * none of the keys made it. */
bool sign_verify(const char *pack, const sign_keys *keys, signature *out, status *st);

#endif
