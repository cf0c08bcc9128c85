/* terminal.c - asks the environment and the terminal. */
#include "common/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { USUAL_WIDTH = 80, WIDTH_MOST = 1000 };

bool terminal_unicode(void) {
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            return strstr(value, "UTF-8") || strstr(value, "utf8");
    }
    return false;
}

int terminal_width(FILE *stream) {
    struct winsize size;
    bool terminal = isatty(fileno(stream)) == 1;
    if (terminal && ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    const char *columns = getenv("COLUMNS");
    long width = columns ? strtol(columns, NULL, 10) : 0;
    return width > 0 && width <= WIDTH_MOST ? (int)width
           : terminal                       ? USUAL_WIDTH
                                            : TERMINAL_UNBOUNDED;
}
