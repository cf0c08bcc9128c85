/* test_sign.c - a pack that was signed is known again, and no byte of what says so can change.
 * `openssl`, where it is, makes the keys of the test of the command (harness/test/cli). */
#include "test.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "repro/sign.h"

static char folder[] = "/tmp/repro-sign-XXXXXX";
static char pack[64], envelope[80], key_path[64], keys_path[64], other_path[64];

static void write_key(EVP_PKEY *key, const char *private_path, const char *public_path,
                      const char *mode) {
    FILE *file = private_path ? fopen(private_path, "we") : NULL;
    if (file) {
        assert_int_equal(PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL), 1);
        fclose(file);
    }
    file = fopen(public_path, mode);
    assert_non_null(file);
    assert_int_equal(PEM_write_PUBKEY(file, key), 1);
    fclose(file);
}

static EVP_PKEY *new_key(const char *kind) {
    EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, kind);
    assert_non_null(key);
    return key;
}

static void write_text(const char *path, const char *words) {
    status st = STATUS_INIT;
    assert_true(file_write_atomic(path, words, strlen(words), &st));
}

/* A file that is a pack as far as a signature goes, two strangers' keys, and the signer's. */
static int make_signed(void **state) {
    char keyid[SIGN_KEYID_BYTES];
    status st = STATUS_INIT;
    (void)state;
    strcpy(folder + sizeof folder - 7, "XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(pack, sizeof pack, "%s/k-only.repro.tar.lz4", folder);
    snprintf(envelope, sizeof envelope, "%s" SIGN_SUFFIX, pack);
    snprintf(key_path, sizeof key_path, "%s/key.pem", folder);
    snprintf(keys_path, sizeof keys_path, "%s/keys.pem", folder);
    snprintf(other_path, sizeof other_path, "%s/other.pem", folder);
    write_text(pack, "what was packed\n");
    EVP_PKEY *signer = new_key("ED25519"), *stranger = new_key("ED25519");
    write_key(stranger, NULL, other_path, "we");
    write_key(stranger, NULL, keys_path, "we");
    write_key(signer, key_path, keys_path, "ae");
    EVP_PKEY_free(signer);
    EVP_PKEY_free(stranger);
    json_t *said = json_pack("{s:s}", "verdict", "REPRODUCED_EXACT");
    sign_key *key = sign_key_open(key_path, &st);
    assert_non_null(key);
    assert_true(sign_pack(pack, key, said, keyid, &st));
    sign_key_close(key);
    json_decref(said);
    return 0;
}

static int remove_signed(void **state) {
    (void)state;
    const char *all[] = {pack, envelope, key_path, keys_path, other_path};
    for (size_t i = 0; i < COUNT_OF(all); i++)
        unlink(all[i]);
    return rmdir(folder);
}

static bool verify(const char *keys_file, signature *out, status *st) {
    sign_keys *keys = sign_keys_open(keys_file, st);
    assert_non_null(keys);
    bool ok = sign_verify(pack, keys, out, st);
    sign_keys_close(keys);
    return ok;
}

static void one_of_several_keys_is_found(void **state) {
    (void)state;
    signature s;
    status st = STATUS_INIT;
    assert_true(verify(keys_path, &s, &st));
    sha256 digest = sha256_of("what was packed\n", 16);
    assert_memory_equal(digest.bytes, s.subject.bytes, sizeof digest.bytes);
    assert_string_equal(json_string_value(json_object_get(s.predicate, "verdict")),
                        "REPRODUCED_EXACT");
    json_decref(s.predicate);
}

static void another_key_is_not_enough(void **state) {
    (void)state;
    signature s;
    status st = STATUS_INIT;
    assert_false(verify(other_path, &s, &st));
    assert_int_equal(st.code, STATUS_CORRUPT);
    assert_non_null(strstr(st.message, "none of the keys"));
    unlink(envelope);
    st = (status)STATUS_INIT;
    assert_false(verify(keys_path, &s, &st));
    assert_int_equal(st.code, STATUS_CORRUPT);
    assert_non_null(strstr(st.message, "not signed"));
}

static void no_byte_can_change(void **state) {
    (void)state;
    char *data;
    size_t size, accepted = 0;
    status st = STATUS_INIT;
    assert_true(file_read(envelope, SIGN_BYTES_MAX, &data, &size, &st));
    sign_keys *keys = sign_keys_open(keys_path, &st);
    for (size_t at = 0; at <= size; at++)
        for (int bit = 0; bit < 9; bit++) {
            signature s;
            status why = STATUS_INIT;
            file_part changed = {data, at < size ? size : size - 1};
            if (bit == 8 && at < size) /* the file ends here */
                changed.size_bytes = at;
            if (bit < 8 && at < size)
                data[at] = (char)(data[at] ^ (1 << bit));
            assert_true(file_write_scratch(envelope, &changed, 1, &st));
            accepted += sign_verify(pack, keys, &s, &why);
            assert_true(s.predicate == NULL || why.code == STATUS_OK);
            json_decref(s.predicate);
            if (bit < 8 && at < size)
                data[at] = (char)(data[at] ^ (1 << bit));
        }
    assert_int_equal(accepted, 0);
    sign_keys_close(keys);
    free(data);
}

static void the_same_is_signed_the_same(void **state) {
    (void)state;
    char *first, *second, keyid[SIGN_KEYID_BYTES];
    size_t first_bytes, second_bytes;
    status st = STATUS_INIT;
    assert_true(file_read(envelope, SIGN_BYTES_MAX, &first, &first_bytes, &st));
    json_t *said = json_pack("{s:s}", "verdict", "REPRODUCED_EXACT");
    sign_key *key = sign_key_open(key_path, &st);
    assert_true(sign_pack(pack, key, said, keyid, &st));
    assert_true(file_read(envelope, SIGN_BYTES_MAX, &second, &second_bytes, &st));
    assert_int_equal(first_bytes, second_bytes);
    assert_memory_equal(first, second, first_bytes);
    sign_key_close(key);
    json_decref(said);
    free(first);
    free(second);
}

/* A key that signed a statement about something else has said nothing of a pack. */
static void other_statements_do_not_count(void **state) {
    (void)state;
    char keyid[SIGN_KEYID_BYTES];
    status st = STATUS_INIT;
    signature s;
    sign_key *key = sign_key_open(key_path, &st);
    json_t *said = json_array();
    assert_true(sign_pack(pack, key, said, keyid, &st));
    assert_false(verify(keys_path, &s, &st));
    assert_non_null(strstr(st.message, "says nothing of a pack"));
    json_decref(said);
    sign_key_close(key);
}

static void expect_no_key(const char *words, const char *part) {
    status st = STATUS_INIT, also = STATUS_INIT;
    write_text(other_path, words);
    assert_null(sign_keys_open(other_path, &st));
    assert_int_equal(st.code, STATUS_INVALID);
    if (!strstr(st.message, part))
        fail_msg("%s: not: %s", st.message, part);
    assert_null(sign_key_open(other_path, &also));
    assert_int_equal(also.code, STATUS_INVALID);
}

static void what_is_no_key_is_told(void **state) {
    (void)state;
    status st = STATUS_INIT;
    expect_no_key("", "no public key");
    expect_no_key("hello\n", "no public key");
    expect_no_key("-----BEGIN PUBLIC KEY-----\nMCow\n", "damaged");
    expect_no_key("-----BEGIN PUBLIC KEY-----\nMCow\n-----END PUBLIC KEY-----\n", "damaged");
    expect_no_key("-----BEGIN CERTIFICATE-----\nMCow\n-----END CERTIFICATE-----\n",
                  "this is a CERTIFICATE");
    assert_null(sign_keys_open(key_path, &st));
    assert_non_null(strstr(st.message, "PRIVATE KEY (openssl pkey"));
    st = (status)STATUS_INIT;
    assert_null(sign_keys_open(folder, &st));
    EVP_PKEY *other = new_key("X25519");
    st = (status)STATUS_INIT;
    write_key(other, other_path, other_path, "ae");
    EVP_PKEY_free(other);
    assert_null(sign_key_open(other_path, &st));
    assert_non_null(strstr(st.message, "X25519"));
}

static void a_key_with_a_passphrase_asks_nobody(void **state) {
    (void)state;
    char word[] = "secret";
    status st = STATUS_INIT;
    EVP_PKEY *key = new_key("ED25519");
    FILE *file = fopen(other_path, "we");
    assert_int_equal(PEM_write_PKCS8PrivateKey(file, key, EVP_aes_128_cbc(), word,
                                               (int)sizeof word - 1, NULL, NULL),
                     1);
    fclose(file);
    EVP_PKEY_free(key);
    assert_null(sign_key_open(other_path, &st));
    assert_non_null(strstr(st.message, "passphrase"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_signed, remove_signed)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(one_of_several_keys_is_found),
        TEST(another_key_is_not_enough),
        TEST(no_byte_can_change),
        TEST(the_same_is_signed_the_same),
        TEST(other_statements_do_not_count),
        TEST(what_is_no_key_is_told),
        TEST(a_key_with_a_passphrase_asks_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
