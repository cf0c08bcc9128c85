/* code_text.c - Python functions of a Definition's and a Solution's, as functions of the kernel's
 * name. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "definition/definition.h"

/* Scalars of theirs are Python's numbers; tensors are torch's where that is installed, else
 * NumPy's. */
static const char helpers[] =
    "\n\n"
    "def _given(arrays):\n"
    "    return [array.item() if scalar else array for array, scalar in zip(arrays, _SCALARS)]\n"
    "\n\n"
    "def _made(result):\n"
    "    if isinstance(result, dict):\n"
    "        result = tuple(result[name] for name in _OUTPUTS)\n"
    "    parts = result if isinstance(result, (tuple, list)) else (result,)\n"
    "    parts = tuple(_array(part, kind) if isinstance(part, (bool, int, float)) else part "
    "for part, kind in zip(parts, _TYPES))\n"
    "    return parts[0] if len(parts) == 1 else parts\n"
    "\n\n"
    "def _array(value, kind):\n"
    "    framework = _importlib.import_module(_ARRAYS)\n"
    "    make = framework.tensor if _ARRAYS == \"torch\" else framework.array\n"
    "    return make(value, dtype=getattr(framework, kind))\n"
    "\n\n"
    "_ARRAYS = \"torch\" if _importlib.util.find_spec(\"torch\") else \"numpy\"\n";

/* Its files are modules that are never written anywhere; inspect finds their text all the same. */
static const char solution_helpers[] =
    "\n\n"
    "class _Files(_abc.MetaPathFinder, _abc.SourceLoader):\n"
    "    def _place(self, name):\n"
    "        path = name.replace(\".\", \"/\")\n"
    "        for base in (path, f\"{_ENTRY.rpartition('/')[0]}/{path}\"):\n"
    "            if f\"{base}.py\" in _SOURCES:\n"
    "                return f\"{base}.py\"\n"
    "            if any(file.startswith(f\"{base}/\") for file in _SOURCES):\n"
    "                return f\"{base}/__init__.py\"\n"
    "        return None\n"
    "\n"
    "    def find_spec(self, name, path=None, target=None):\n"
    "        place = self._place(name)\n"
    "        package = place is not None and place.endswith(\"/__init__.py\")\n"
    "        return place and _importlib.util.spec_from_loader(name, self, origin=place, "
    "is_package=package)\n"
    "\n"
    "    def get_filename(self, name):\n"
    "        return f\"<solution>/{self._place(name)}\"\n"
    "\n"
    "    def get_data(self, path):\n"
    "        return _SOURCES.get(path.removeprefix(\"<solution>/\"), \"\").encode()\n"
    "\n\n"
    "_sys.meta_path.insert(0, _Files())\n"
    "_called = getattr(_importlib.import_module(_ENTRY.removesuffix(\".py\").replace(\"/\", "
    "\".\")), _FUNCTION)\n";

/* A JSON string with its escapes is one of Python's, too. */
static void put_string(const char *value, text *out) {
    json_t *string = json_string(value);
    char *dumped = json_dumps(string, JSON_ENCODE_ANY);
    text_printf(out, "%s", dumped ? dumped : "\"\"");
    free(dumped);
    json_decref(string);
}

static void put_constants(const json_t *definition, text *out) {
    json_t *inputs = json_object_get(definition, "inputs"), *tensor;
    json_t *outputs = json_object_get(definition, "outputs");
    const char *name;
    text_append(out, "\n_SCALARS = [");
    json_object_foreach(inputs, name, tensor)
        text_append(out, json_is_null(json_object_get(tensor, "shape")) ? "True, " : "False, ");
    text_append(out, "]\n_OUTPUTS = [");
    json_object_foreach(outputs, name, tensor) {
        put_string(name, out);
        text_append(out, ", ");
    }
    text_append(out, "]\n_TYPES = [");
    json_object_foreach(outputs, name, tensor) {
        put_string(json_string_value(json_object_get(tensor, "dtype")), out);
        text_append(out, ", ");
    }
    text_append(out, "]\n");
}

static void put_names(const json_t *tensors, bool more, text *out) {
    const char *name;
    json_t *tensor;
    bool first = !more;
    json_object_foreach((json_t *)(uintptr_t)tensors, name, tensor) {
        text_printf(out, "%s%s", first ? "" : ", ", name);
        first = false;
    }
}

/* `writes`: it takes the outputs, too. */
static void put_function(const json_t *definition, const char *kernel, const char *called,
                         bool writes, text *out) {
    const json_t *inputs = json_object_get(definition, "inputs");
    const json_t *outputs = json_object_get(definition, "outputs");
    text_printf(out, "\n\ndef %s(", kernel);
    put_names(inputs, false, out);
    if (writes)
        put_names(outputs, true, out);
    text_append(out, writes ? "):\n    " : "):\n    return _made(");
    text_printf(out, "%s(*_given([", called);
    put_names(inputs, false, out);
    text_append(out, "])");
    if (writes)
        put_names(outputs, true, out);
    text_printf(out,
                writes ? ")\n\n\n%s.tessera_arrays = _ARRAYS\n"
                       : "))\n\n\n%s.tessera_arrays = _ARRAYS\n",
                kernel);
}

bool definition_write_reference(const json_t *definition, const char *kernel, text *out,
                                status *st) {
    const char *reference = json_string_value(json_object_get(definition, "reference"));
    if (!reference || !*reference)
        return status_set(st, STATUS_NOT_FOUND, "the Definition has no reference");
    text_append(out, "import importlib as _importlib\nimport importlib.util\n\n");
    text_append(out, reference);
    text_append(out, "\n\n_called = run\n");
    put_constants(definition, out);
    text_append(out, helpers);
    put_function(definition, kernel, "_called", false, out);
    return true;
}

static bool put_sources(const json_t *solution, text *out, status *st) {
    size_t i;
    json_t *source;
    text_append(out, "\n_SOURCES = {\n");
    json_array_foreach(json_object_get(solution, "sources"), i, source) {
        const char *path = json_string_value(json_object_get(source, "path"));
        const char *content = json_string_value(json_object_get(source, "content"));
        if (!path || !content || *path == '/' || strstr(path, ".."))
            return status_set(st, STATUS_INVALID,
                              "source %zu of the Solution has no path in its folder, or no content",
                              i + 1);
        text_append(out, "    ");
        put_string(path, out);
        text_append(out, ": ");
        put_string(content, out);
        text_append(out, ",\n");
    }
    text_append(out, "}\n");
    return true;
}

bool definition_write_solution(const json_t *definition, const char *kernel, const json_t *solution,
                               text *out, status *st) {
    const json_t *spec = json_object_get(solution, "spec");
    const json_t *style = json_object_get(spec, "destination_passing_style");
    const char *language = json_string_value(json_object_get(spec, "language"));
    const char *entry = json_string_value(json_object_get(spec, "entry_point"));
    const char *colons = entry ? strstr(entry, "::") : NULL;
    text file;
    if (!language || (strcmp(language, "python") != 0 && strcmp(language, "triton") != 0))
        return status_set(st, STATUS_UNAVAILABLE,
                          "the Solution is in %s; those in python and triton are read",
                          language ? language : "no language");
    if (!colons || colons == entry || !colons[2])
        return status_set(st, STATUS_INVALID, "the Solution's entry_point is not FILE::FUNCTION");
    text_init(&file);
    text_append_bytes(&file, entry, (size_t)(colons - entry));
    text_append(out, "import importlib as _importlib\nimport importlib.abc as _abc\n"
                     "import importlib.util\nimport sys as _sys\n");
    bool ok = put_sources(solution, out, st);
    text_append(out, "_ENTRY = ");
    put_string(file.data, out);
    text_append(out, "\n_FUNCTION = ");
    put_string(colons + 2, out);
    put_constants(definition, out);
    text_append(out, helpers);
    text_append(out, solution_helpers);
    put_function(definition, kernel, "_called", !json_is_false(style), out);
    text_release(&file);
    return ok;
}
