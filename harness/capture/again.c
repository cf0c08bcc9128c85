/* again.c - the recorded call as an implementation: ctypes, and nothing else of Python.
 *
 * Tensors lie without gaps there, so leading dimensions and increments become those of such. */
#include "capture/again.h"

#include <inttypes.h>
#include <string.h>

/* Behind the constants of the call. */
static const char body[] =
    "\n\n"
    "class Buffer(ctypes.Structure):\n"
    "    \"\"\"Py_buffer of Python's C API: where an array lies, also one that may only be "
    "read.\"\"\"\n"
    "\n"
    "    _fields_ = [(name, ctypes.c_void_p) for name in (\"buf\", \"obj\", \"len\", "
    "\"itemsize\")]\n"
    "    _fields_ += [(name, ctypes.c_int) for name in (\"readonly\", \"ndim\")]\n"
    "    _fields_ += [(name, ctypes.c_void_p) for name in (\"format\", \"shape\", \"strides\", "
    "\"suboffsets\", \"internal\")]\n"
    "\n\n"
    "def place(array):\n"
    "    \"\"\"Address and bytes.\"\"\"\n"
    "    b = Buffer()\n"
    "    ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(array), ctypes.byref(b), 0x18)\n"
    "    found = b.buf, b.len or 0\n"
    "    ctypes.pythonapi.PyBuffer_Release(ctypes.byref(b))\n"
    "    return found\n"
    "\n\n"
    "def function():\n"
    "    for name, value in ENVIRONMENT.items():\n"
    "        os.environ.setdefault(name, value)\n"
    "    path = os.environ.get(\"TESSERA_LIBRARY\", LIBRARY)\n"
    "    try:\n"
    "        return getattr(ctypes.CDLL(path), FUNCTION)\n"
    "    except (OSError, AttributeError) as error:\n"
    "        raise NotImplementedError(f\"{error}; TESSERA_LIBRARY=FILE names the library\") from "
    "None\n"
    "\n\n"
    "def call(tensors, out):\n"
    "    called = function()\n"
    "    called.restype = REAL if RETURNS else None\n"
    "    if CHANGED:\n"
    "        ctypes.memmove(place(out)[0], *place(tensors[CHANGED]))\n"
    "    elif PART:\n"
    "        ctypes.memset(place(out)[0], 0, place(out)[1])\n"
    "    if not RETURNS:\n"
    "        tensors[OUTPUT] = out\n"
    "    words = []\n"
    "    for kind, value in ARGUMENTS:\n"
    "        if kind == \"tensor\":\n"
    "            words.append(ctypes.c_void_p(place(tensors[value])[0]))\n"
    "            continue\n"
    "        if kind == \"letter\":\n"
    "            word = ctypes.c_char(value.encode())\n"
    "        else:\n"
    "            word = REAL(float(value)) if kind == \"real\" else INTEGER(value)\n"
    "        words.append(ctypes.byref(word) if BY_REFERENCE else word)\n"
    "    words += [ctypes.c_size_t(1) for kind, _ in ARGUMENTS if kind == \"letter\"]\n"
    "    value = called(*words)\n"
    "    if RETURNS:\n"
    "        REAL.from_address(place(out)[0]).value = value\n";

/* A Python string; what is not plain ASCII is escaped. */
static void put_string(const char *value, text *out) {
    text_append_char(out, '"');
    for (const unsigned char *s = (const unsigned char *)(value ? value : ""); *s; s++)
        if (*s < 0x20 || *s >= 0x7f || *s == '"' || *s == '\\')
            text_printf(out, *s < 0x80 ? "\\x%02x" : "\\udc%02x", *s);
        else
            text_append_char(out, (char)*s);
    text_append_char(out, '"');
}

static const capture_tensor *tensor_named(const capture_call *c, const char *name) {
    for (uint32_t i = 0; i < c->tensor_count; i++)
        if (strcmp(c->tensors[i].name, name) == 0)
            return &c->tensors[i];
    return NULL;
}

/* These return at once where their increment is not above 0; others go backward, and what they see
 * is recorded in their order. */
static bool stays(const capture_call *c, const json_t *step) {
    return json_integer_value(step) <= 0 &&
           (strstr(c->function, "asum") || strstr(c->function, "scal"));
}

/* The step from one row, or element, to the next where there are no gaps. */
static int64_t step_of(const capture_tensor *t, json_int_t recorded) {
    if (!t || t->rank < 2)
        return recorded < 0 ? -1 : recorded > 0;
    return t->shape[1] > 1 ? t->shape[1] : 1;
}

static void put_argument(const capture_call *c, const json_t *one, const capture_tensor **last,
                         text *out) {
    const char *name = json_string_value(json_array_get(one, 0));
    const json_t *value = json_array_get(one, 1);
    bool is_step = name && (strncmp(name, "ld", 2) == 0 || strncmp(name, "inc", 3) == 0);
    if (!value) {
        *last = tensor_named(c, name ? name : "");
        text_append(out, "    (\"tensor\", ");
        put_string(name, out);
    } else if (json_is_real(value)) {
        text_printf(out, "    (\"real\", %.17g", json_real_value(value));
    } else if (json_is_integer(value)) {
        text_printf(out, "    (\"integer\", %" PRId64,
                    is_step ? step_of(*last, stays(c, value) ? json_integer_value(value) : 1)
                            : (int64_t)json_integer_value(value));
    } else {
        bool letter = json_string_length(value) == 1;
        text_append(out, letter ? "    (\"letter\", " : "    (\"real\", ");
        put_string(json_string_value(value), out);
    }
    text_append(out, "),\n");
}

static void put_environment(const json_t *environment, text *out) {
    const char *name;
    json_t *value;
    text_append(out, "ENVIRONMENT = {");
    bool first = true;
    json_object_foreach((json_t *)(uintptr_t)environment, name, value) {
        bool ours = strncmp(name, "TESSERA_", 8) == 0 || strncmp(name, "LD_", 3) == 0 ||
                    strstr(name, "NUM_THREADS");
        if (ours || !json_is_string(value))
            continue;
        text_append(out, first ? "" : ", ");
        put_string(name, out);
        text_append(out, ": ");
        put_string(json_string_value(value), out);
        first = false;
    }
    text_append(out, "}\n");
}

static void put_constants(const capture_stream *s, const capture_call *c, const json_t *arguments,
                          const capture_kernel *k) {
    text *out = (text *)(uintptr_t)&k->code;
    const capture_tensor *last = NULL;
    bool returns = strcmp(k->output->name, "result") == 0;
    size_t i;
    json_t *one;
    text_append(out, "LIBRARY = ");
    put_string(c->library, out);
    text_append(out, "\nFUNCTION = ");
    put_string(c->function, out);
    text_printf(out, "\nINTEGER = ctypes.%s\n", strstr(c->function, "64_") ? "c_int64" : "c_int");
    text_printf(out, "REAL = ctypes.%s\n", k->output->type == DTYPE_F64 ? "c_double" : "c_float");
    text_printf(out, "BY_REFERENCE = %s\n", strstr(c->function, "cblas_") ? "False" : "True");
    text_printf(out, "RETURNS = %s\nOUTPUT = ", returns ? "True" : "False");
    put_string(k->output->name, out);
    text_append(out, "\nCHANGED = ");
    put_string(k->output->role == CAPTURE_BOTH ? k->output->name : "", out);
    text_append_char(out, '\n');
    text_printf(out, "PART = %s\n", k->output->part ? "True" : "False");
    put_environment(s->processes.items[c->process].environment, out);
    text_append(out, "ARGUMENTS = [\n");
    json_array_foreach(arguments, i, one) put_argument(c, one, &last, out);
    text_append(out, "]\n");
}

void capture_again_write(const capture_stream *s, const capture_call *c, const json_t *arguments,
                         capture_kernel *k) {
    text *out = &k->code;
    text_printf(out,
                "\"\"\"Calls %s as a recorded program did. TESSERA_LIBRARY=FILE names another "
                "library.\"\"\"\n\nimport ctypes\nimport os\n\n",
                c->function);
    put_constants(s, c, arguments, k);
    text_append(out, body);
    text_printf(out, "\n\ndef %s(", k->name);
    for (uint32_t i = 0; i < k->input_count; i++)
        text_printf(out, "%s, ", k->inputs[i]->name);
    text_append(out, "out):\n    call({");
    for (uint32_t i = 0; i < k->input_count; i++)
        text_printf(out, "%s\"%s\": %s", i ? ", " : "", k->inputs[i]->name, k->inputs[i]->name);
    text_printf(out, "}, out)\n\n\n%s.tessera_arrays = \"dlpack\"\n", k->name);
}
