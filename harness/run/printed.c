/* printed.c - see printed.h. */
#include "run/printed.h"

#include <ctype.h>
#include <string.h>

#include "base/escape.h"

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* Bytes of an address: six digits or more, so that small numbers in hex stay. */
static size_t address_bytes(const char *at) {
    enum { DIGITS_MIN = 6 };
    if (at[0] != '0' || at[1] != 'x')
        return 0;
    size_t digits = strspn(at + 2, "0123456789abcdefABCDEF");
    return digits >= DIGITS_MIN ? digits + 2 : 0;
}

static size_t time_bytes(const char *at) {
    static const char form[] = "dd:dd:dd";
    for (size_t i = 0; i < sizeof form - 1; i++)
        if (form[i] == 'd' ? !is_digit(at[i]) : at[i] != form[i])
            return 0;
    return sizeof form - 1;
}

/* Does the word before a number, or what stands around it, say that it is one of a process? */
static bool is_of_process(const char *begin, const char *at) {
    static const char *const words[] = {"pid", "process", "thread", "tid"};
    const char *end = at;
    if (at - begin >= 2 && at[-1] == '=' && at[-2] == '=')
        return true;
    while (end > begin && strchr(" =:#", end[-1]))
        end--;
    for (size_t i = 0; i < sizeof words / sizeof *words && end < at; i++) {
        size_t length = strlen(words[i]);
        bool same = (size_t)(end - begin) >= length;
        for (size_t c = 0; c < length && same; c++)
            same = tolower((unsigned char)end[(ptrdiff_t)c - (ptrdiff_t)length]) == words[i][c];
        if (same)
            return true;
    }
    return false;
}

void printed_lasting(const char *words, text *out) {
    size_t length = strlen(words);
    const char *begin = length > PRINTED_BYTES_MAX ? words + length - PRINTED_BYTES_MAX : words;
    while (begin > words && ((unsigned char)*begin & 0xc0) == 0x80) /* inside a character */
        begin++;
    for (const char *at = begin; *at;) {
        bool fresh = at == begin || !isalnum((unsigned char)at[-1]);
        size_t address = fresh ? address_bytes(at) : 0, hour = fresh ? time_bytes(at) : 0;
        size_t number =
            fresh && is_digit(*at) && is_of_process(begin, at) ? strspn(at, "0123456789") : 0;
        if (address || hour || number)
            text_append(out, address ? "0x-" : hour ? "--:--:--" : "-");
        else
            text_append_char(out, *at);
        at += address ? address : hour ? hour : number ? number : 1;
    }
    if (out->length && out->data[out->length - 1] != '\n')
        text_append_char(out, '\n');
}
