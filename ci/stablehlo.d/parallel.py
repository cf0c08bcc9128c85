"""parallel.py - StableHLO's test files that run one function on several devices (interpreter.run_parallel): what goes in, the program with the
devices as leading axes, and what is to come out.

The grid of programs has a row for each replica, and in it one for each partition. Here the module says how many there are
(mhlo.num_replicas, mhlo.num_partitions), and its kernel takes and gives the values of all of them.
"""
import re

RUN = re.compile(
    r'^\s*(?P<results>%\w+)(?::\d+)? = "interpreter\.run_parallel"\((?P<operands>[^)]*)\) \{\s*programs\s*=\s*(?P<grid>\[\[[^}]*\]\])\s*\} :\s*'
    r"\((?P<inputs>[^()]*)\)\s*->\s*(?:\([^()]*\)|[^()\n]*)$",
    re.M,
)
MAIN = re.compile(r"^ *func\.func (?:public )?@main\(\)(?: -> \([^()]*\))? \{\n(?P<body>.*?)^ *(?:func\.)?return\b[^\n]*\n *\}\n", re.M | re.S)
COMMENT = re.compile(r" *//.*$", re.M)
HEAD = re.compile(r"^\s*module @(?P<name>[\w.]+) \{", re.M)


def listed(words):
    return [one.strip() for one in words.split(",") if one.strip()]


class Parallel:
    """A file of this kind, in parts; ValueError: it is of another form."""

    def __init__(self, text, types_of):
        text = COMMENT.sub("", text)
        main, head = MAIN.search(text), HEAD.search(text)
        run = RUN.search(main["body"]) if main else None
        if not run or not head:
            raise ValueError("run_parallel in another form")
        grid = [listed(row) for row in re.findall(r"\[([^\[\]]*)\]", run["grid"])]
        names = {name for row in grid for name in row}
        if len(names) != 1 or len({len(row) for row in grid}) != 1:
            raise ValueError("run_parallel of several programs")
        self.grid = (len(grid), len(grid[0]))
        self.operands = listed(run["operands"])
        self.operand_types = types_of(f"({run['inputs']}) -> ()")
        self.results = run["results"]
        self.before, self.after = main["body"][: run.start()], main["body"][run.end() :]
        program = text[: main.start()] + text[main.end() :]
        counts = f"attributes {{mhlo.num_replicas = {self.grid[0]} : i32, mhlo.num_partitions = {self.grid[1]} : i32}} {{"
        program = HEAD.sub(lambda found: f"module @{found['name']} {counts}", program)
        self.program = program.replace(f"func.func {names.pop()}(", "func.func public @program(")
        if "@program" not in self.program:
            raise ValueError("run_parallel of a function that there is not")

    def values(self, lines, names, types):
        """A module whose function gives values of the main function."""
        return (
            f"module @values {{\n  func.func public @main() -> ({', '.join(types)}) {{\n{self.before}\n" + "\n".join(lines)
            + f"\n    func.return {', '.join(names)} : {', '.join(types)}\n  }}\n}}\n"
        )

    def leading(self, partitions):
        """The axes that the kernel's values have in front: those of more than one device."""
        axes = [self.grid[0]] if self.grid[0] > 1 else []
        return axes + ([self.grid[1]] if partitions else [])

    def number(self, name):
        """The number of a result, None: it is none of the run's."""
        if name == self.results:
            return 0
        return int(name[len(self.results) + 1 :]) if name.startswith(f"{self.results}#") else None
