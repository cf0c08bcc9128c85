/* sign.c - see sign.h. Nothing of an envelope is parsed further before its signature holds. */
#include "sign.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/text.h"

enum { ED25519_BYTES = 64 };

struct sign_key {
    EVP_PKEY *pkey;
};

struct sign_keys {
    EVP_PKEY *items[SIGN_KEYS_MAX];
    size_t count;
};

/* ---- keys ---- */

/* Nobody may be there to type one. */
static int no_passphrase(char *buffer, int size, int writing, void *context) {
    (void)buffer, (void)size, (void)writing, (void)context;
    return -1;
}

static bool is_ed25519(const EVP_PKEY *key, const char *path, status *st) {
    if (EVP_PKEY_get_id(key) == EVP_PKEY_ED25519)
        return true;
    return status_set(st, STATUS_INVALID,
                      "%s: a key of kind %s: Ed25519 alone is taken (openssl genpkey -algorithm "
                      "ed25519)",
                      path, EVP_PKEY_get0_type_name(key));
}

static bool keyid_of(const EVP_PKEY *key, char out[SIGN_KEYID_BYTES]) {
    unsigned char *der = NULL;
    int size = i2d_PUBKEY(key, &der);
    if (size <= 0)
        return false;
    sha256 digest = sha256_of(der, (size_t)size);
    sha256_hex(&digest, out);
    OPENSSL_free(der);
    return true;
}

static BIO *open_pem(const char *path, char **data, status *st) {
    size_t size;
    if (!file_read(path, SIGN_BYTES_MAX, data, &size, st))
        return NULL;
    BIO *bio = BIO_new_mem_buf(*data, (int)size);
    if (bio)
        return bio;
    free(*data);
    status_set(st, STATUS_OUT_OF_MEMORY, "no memory to read %s", path);
    return NULL;
}

static void close_pem(BIO *bio, char *data, size_t size) {
    BIO_free(bio);
    OPENSSL_cleanse(data, size);
    free(data);
}

sign_key *sign_key_open(const char *path, status *st) {
    char *data;
    BIO *bio = open_pem(path, &data, st);
    if (!bio)
        return NULL;
    EVP_PKEY *pkey = PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, NULL);
    bool locked = strstr(data, "ENCRYPTED") != NULL;
    close_pem(bio, data, strlen(data));
    if (!pkey) {
        status_set(st, STATUS_INVALID, "%s: %s", path,
                   locked ? "its key has a passphrase, and nobody is asked for one: openssl pkey "
                            "-in KEY -out PLAIN"
                          : "no private key in PEM (openssl genpkey -algorithm ed25519)");
        return NULL;
    }
    if (!is_ed25519(pkey, path, st)) {
        EVP_PKEY_free(pkey);
        return NULL;
    }
    sign_key *key = base_calloc(1, sizeof *key);
    key->pkey = pkey;
    return key;
}

void sign_key_close(sign_key *key) {
    if (key)
        EVP_PKEY_free(key->pkey);
    free(key);
}

/* One block of PEM; NULL where it is no public key of ours. */
static EVP_PKEY *read_key(const char *kind, const unsigned char *der, long size, const char *path,
                          status *st) {
    const unsigned char *at = der;
    bool is_public = strcmp(kind, PEM_STRING_PUBLIC) == 0;
    EVP_PKEY *pkey = is_public ? d2i_PUBKEY(NULL, &at, size) : NULL;
    if (!is_public)
        status_set(st, STATUS_INVALID, "%s: a public key in PEM is wanted, and this is a %.40s%s",
                   path, kind,
                   strstr(kind, "PRIVATE") ? " (openssl pkey -in KEY -pubout -out KEYS)" : "");
    else if (!pkey || at != der + size)
        status_set(st, STATUS_INVALID, "%s: a public key in it is damaged", path);
    else if (is_ed25519(pkey, path, st))
        return pkey;
    EVP_PKEY_free(pkey);
    return NULL;
}

static bool read_keys(sign_keys *keys, BIO *bio, const char *path, status *st) {
    char *kind, *header;
    unsigned char *der;
    long size;
    while (PEM_read_bio(bio, &kind, &header, &der, &size)) {
        EVP_PKEY *pkey = NULL;
        if (keys->count == SIGN_KEYS_MAX)
            status_set(st, STATUS_INVALID, "%s: more than %d keys", path, (int)SIGN_KEYS_MAX);
        else
            pkey = read_key(kind, der, size, path, st);
        OPENSSL_free(kind);
        OPENSSL_free(header);
        OPENSSL_clear_free(der, (size_t)size);
        if (!pkey)
            return false;
        keys->items[keys->count++] = pkey;
    }
    bool ended = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
    ERR_clear_error();
    if (!ended)
        return status_set(st, STATUS_INVALID,
                          "%s: what follows its public key number %zu is "
                          "damaged",
                          path, keys->count);
    return keys->count ||
           status_set(st, STATUS_INVALID, "%s: no public key in PEM (openssl pkey -in KEY -pubout)",
                      path);
}

sign_keys *sign_keys_open(const char *path, status *st) {
    char *data;
    BIO *bio = open_pem(path, &data, st);
    if (!bio)
        return NULL;
    sign_keys *keys = base_calloc(1, sizeof *keys);
    bool ok = read_keys(keys, bio, path, st);
    close_pem(bio, data, strlen(data));
    if (ok)
        return keys;
    sign_keys_close(keys);
    return NULL;
}

void sign_keys_close(sign_keys *keys) {
    for (size_t i = 0; keys && i < keys->count; i++)
        EVP_PKEY_free(keys->items[i]);
    free(keys);
}

/* ---- the envelope ---- */

char *sign_path(const char *pack) {
    text path;
    text_init(&path);
    text_printf(&path, "%s" SIGN_SUFFIX, pack);
    return path.data;
}

/* "DSSEv1", and both parts with their lengths: what is signed. */
static void pre_authentication(text *out, const char *payload, size_t payload_bytes) {
    text_printf(out, "DSSEv1 %zu %s %zu ", sizeof SIGN_PAYLOAD_TYPE - 1, SIGN_PAYLOAD_TYPE,
                payload_bytes);
    text_append_bytes(out, payload, payload_bytes);
}

/* The one spelling. */
static void spell(text *out, const void *payload, size_t payload_bytes, const char *keyid,
                  const unsigned char signed_[ED25519_BYTES]) {
    text_append(out, "{\"payload\":\"");
    text_append_base64(out, payload, payload_bytes);
    text_printf(out, "\",\"payloadType\":\"%s\",\"signatures\":[{\"keyid\":\"%s\",\"sig\":\"",
                SIGN_PAYLOAD_TYPE, keyid);
    text_append_base64(out, signed_, ED25519_BYTES);
    text_append(out, "\"}]}\n");
}

static bool sign_bytes(EVP_PKEY *key, const text *said, unsigned char out[ED25519_BYTES]) {
    size_t size = ED25519_BYTES;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool ok =
        context && EVP_DigestSignInit(context, NULL, NULL, NULL, key) == 1 &&
        EVP_DigestSign(context, out, &size, (const unsigned char *)said->data, said->length) == 1 &&
        size == ED25519_BYTES;
    EVP_MD_CTX_free(context);
    return ok;
}

static bool holds(EVP_PKEY *key, const text *said, const unsigned char sig[ED25519_BYTES]) {
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool ok = context && EVP_DigestVerifyInit(context, NULL, NULL, NULL, key) == 1 &&
              EVP_DigestVerify(context, sig, ED25519_BYTES, (const unsigned char *)said->data,
                               said->length) == 1;
    EVP_MD_CTX_free(context);
    return ok;
}

/* ---- writing ---- */

static char *statement_of(const char *pack, const char *hex, const json_t *predicate) {
    const char *slash = strrchr(pack, '/');
    json_t *statement =
        json_pack("{s:s, s:[{s:s, s:{s:s}}], s:s, s:O}", "_type", SIGN_STATEMENT_TYPE, "subject",
                  "name", slash ? slash + 1 : pack, "digest", "sha256", hex, "predicateType",
                  SIGN_PREDICATE_TYPE, "predicate", (json_t *)(uintptr_t)predicate);
    char *words = statement ? json_dumps(statement, JSON_SORT_KEYS | JSON_COMPACT) : NULL;
    json_decref(statement);
    return words;
}

static bool write_envelope(const char *pack, const sign_key *key, const char *payload,
                           char keyid_out[SIGN_KEYID_BYTES], status *st) {
    unsigned char sig[ED25519_BYTES];
    text said, envelope;
    text_init(&said);
    text_init(&envelope);
    char *path = sign_path(pack);
    pre_authentication(&said, payload, strlen(payload));
    bool ok = (keyid_of(key->pkey, keyid_out) && sign_bytes(key->pkey, &said, sig)) ||
              status_set(st, STATUS_INTERNAL, "libcrypto signs no statement of %s", pack);
    if (ok)
        spell(&envelope, payload, strlen(payload), keyid_out, sig);
    ok = ok &&
         (envelope.length <= SIGN_BYTES_MAX ||
          status_set(st, STATUS_INVALID, "what is said of %s is more than %d bytes", pack,
                     (int)SIGN_BYTES_MAX)) &&
         file_write_atomic(path, envelope.data, envelope.length, st);
    text_release(&said);
    text_release(&envelope);
    free(path);
    return ok;
}

bool sign_pack(const char *pack, const sign_key *key, const json_t *predicate,
               char keyid_out[SIGN_KEYID_BYTES], status *st) {
    char *data, hex[65];
    size_t size;
    if (!file_read(pack, SIZE_MAX >> 1, &data, &size, st))
        return false;
    sha256 digest = sha256_of(data, size);
    free(data);
    sha256_hex(&digest, hex);
    char *payload = statement_of(pack, hex, predicate);
    bool ok = payload ? write_envelope(pack, key, payload, keyid_out, st)
                      : status_set(st, STATUS_INVALID, "%s: its name is no text of UTF-8", pack);
    free(payload);
    return ok;
}

/* ---- reading ---- */

/* The bytes that base64 stands for, NUL-terminated; NULL where it is none. */
static unsigned char *decode_base64(const char *words, size_t *size_out) {
    size_t length = strlen(words), padding = length > 1 ? (words[length - 1] == '=') : 0;
    padding += padding && words[length - 2] == '=';
    if (length == 0 || length % 4)
        return NULL;
    unsigned char *data = base_malloc(length / 4 * 3 + 1);
    int size = EVP_DecodeBlock(data, (const unsigned char *)words, (int)length);
    if (size < 0 || (size_t)size < padding) {
        free(data);
        return NULL;
    }
    *size_out = (size_t)size - padding;
    data[*size_out] = '\0';
    return data;
}

typedef struct envelope {
    unsigned char *payload, *sig; /* owned */
    size_t payload_bytes, sig_bytes;
    const char *keyid; /* of `root` */
    json_t *root;
} envelope;

static void close_envelope(envelope *e) {
    free(e->payload);
    free(e->sig);
    json_decref(e->root);
}

static const char digits[] = "0123456789abcdef";

static bool is_digest(const char *hex) {
    return hex && strlen(hex) == 64 && !hex[strspn(hex, digits)];
}

/* Parts of an envelope that is spelled as this file spells them. */
static bool open_envelope(envelope *e, const char *data, size_t size) {
    json_error_t error;
    text again;
    *e = (envelope){.root = json_loadb(data, size, JSON_REJECT_DUPLICATES, &error)};
    const json_t *one = json_array_get(json_object_get(e->root, "signatures"), 0);
    const char *payload = json_string_value(json_object_get(e->root, "payload"));
    const char *sig = json_string_value(json_object_get(one, "sig"));
    e->keyid = json_string_value(json_object_get(one, "keyid"));
    if (!payload || !sig || !e->keyid || !is_digest(e->keyid))
        return false;
    e->payload = decode_base64(payload, &e->payload_bytes);
    e->sig = decode_base64(sig, &e->sig_bytes);
    if (!e->payload || !e->sig || e->sig_bytes != ED25519_BYTES)
        return false;
    text_init(&again);
    spell(&again, e->payload, e->payload_bytes, e->keyid, e->sig);
    bool same = again.length == size && memcmp(again.data, data, size) == 0;
    text_release(&again);
    return same;
}

static bool made_by(const envelope *e, const sign_keys *keys) {
    char keyid[SIGN_KEYID_BYTES];
    text said;
    bool ok = false;
    text_init(&said);
    pre_authentication(&said, (const char *)e->payload, e->payload_bytes);
    for (size_t i = 0; i < keys->count && !ok; i++)
        ok = keyid_of(keys->items[i], keyid) && strcmp(keyid, e->keyid) == 0 &&
             holds(keys->items[i], &said, e->sig);
    text_release(&said);
    return ok;
}

static bool read_digest(const char *hex, sha256 *out) {
    if (!is_digest(hex))
        return false;
    for (size_t i = 0; i < sizeof out->bytes; i++)
        out->bytes[i] = (uint8_t)((strchr(digits, hex[2 * i]) - digits) << 4 |
                                  (strchr(digits, hex[2 * i + 1]) - digits));
    return true;
}

static bool is_word(const json_t *object, const char *key, const char *expected) {
    const char *word = json_string_value(json_object_get(object, key));
    return word && strcmp(word, expected) == 0;
}

/* Its signer may have signed other statements with the same key, about other things. */
static bool read_statement(const envelope *e, signature *out) {
    json_error_t error;
    json_t *root =
        json_loadb((const char *)e->payload, e->payload_bytes, JSON_REJECT_DUPLICATES, &error);
    const json_t *subjects = json_object_get(root, "subject");
    const json_t *digest = json_object_get(json_array_get(subjects, 0), "digest");
    json_t *predicate = json_object_get(root, "predicate");
    bool ok = is_word(root, "_type", SIGN_STATEMENT_TYPE) &&
              is_word(root, "predicateType", SIGN_PREDICATE_TYPE) &&
              json_array_size(subjects) == 1 && json_is_object(predicate) &&
              read_digest(json_string_value(json_object_get(digest, "sha256")), &out->subject);
    if (ok)
        out->predicate = json_incref(predicate);
    json_decref(root);
    memcpy(out->keyid, e->keyid, SIGN_KEYID_BYTES);
    return ok;
}

bool sign_verify(const char *pack, const sign_keys *keys, signature *out, status *st) {
    char *path = sign_path(pack), *data = NULL;
    size_t size;
    envelope e = {0};
    status why = STATUS_INIT;
    *out = (signature){.predicate = NULL};
    bool ok = file_read(path, SIGN_BYTES_MAX, &data, &size, &why);
    if (!ok && why.code == STATUS_NOT_FOUND)
        status_set(st, STATUS_CORRUPT, "not signed: there is no %s", path);
    else if (!ok)
        status_set(st, STATUS_CORRUPT, "%s", why.message);
    else if (!open_envelope(&e, data, size))
        ok = status_set(st, STATUS_CORRUPT, "%s is damaged, or no signature that tsr wrote", path);
    else if (!made_by(&e, keys))
        ok = status_set(st, STATUS_CORRUPT,
                        "none of the keys signed %s: it names the key %.16s, or is damaged", path,
                        e.keyid);
    else if (!read_statement(&e, out))
        ok = status_set(st, STATUS_CORRUPT, "%s is signed, but says nothing of a pack", path);
    close_envelope(&e);
    free(data);
    free(path);
    return ok;
}
