"""ci_steps.py PIPELINE OUTPUT: checks an example pipeline, and writes the shell of its job as one script for each step:
OUTPUT/NN-name.sh, which bash -eo pipefail runs. Steps that install packages are left out; OUTPUT/env has the variables."""
import pathlib
import re
import sys

import yaml

path, output = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
pipeline = yaml.safe_load(path.read_text())
output.mkdir(parents=True)


def github(job):
    assert pipeline[True] == "pull_request"  # YAML 1.1 reads the key `on` as true
    assert job["runs-on"] and job["timeout-minutes"] and job["defaults"]["run"]["shell"] == "bash"
    used = [step["uses"] for step in job["steps"] if "uses" in step]
    assert all(re.fullmatch(r"[\w-]+(/[\w-]+)+@v\d+|\./\.github/actions/install-tessera", name) for name in used)
    checkout = next(s for s in job["steps"] if s.get("uses", "").startswith("actions/checkout"))
    assert checkout["with"]["fetch-depth"] == 0
    upload = next(s for s in job["steps"] if s.get("uses", "").startswith("actions/upload-artifact"))
    assert upload["if"] == "always()"
    for step in job["steps"]:
        assert ("run" in step) != ("uses" in step) and ("uses" in step or step["name"])
    steps = [(s["name"], s["run"], s.get("if")) for s in job["steps"] if "run" in s]
    return steps, job["env"], upload["with"]["path"].split()


def gitlab(job):
    assert job["variables"]["GIT_DEPTH"] == "0" and job["artifacts"]["when"] == "always"
    assert all(isinstance(line, str) for line in job["script"] + job["before_script"])
    reports = job["artifacts"]["reports"]
    return [("script", "\n".join(job["script"]), None)], job["variables"], job["artifacts"]["paths"] + list(reports.values())


if path.name == "action.yml":
    (step,) = pipeline["runs"]["steps"]
    assert pipeline["runs"]["using"] == "composite" and step["shell"] == "bash" and set(pipeline["inputs"]) == {"release", "sha256"}
    (output / "install.sh").write_text(step["run"])
    sys.exit()
if path.name in ("github.yml", "kernels.yml"):
    (job,) = pipeline["jobs"].values()
    steps, variables, artifacts = github(job)
else:
    steps, variables, artifacts = gitlab(pipeline["performance"])
assert {"BASE", "CORPUS", "GATE"} <= set(variables) and ("BUILD" in variables) == (path.name != "kernels.yml")
assert any("gate.xml" in a for a in artifacts) and "report.html" in artifacts
kept = [(name, run, when) for name, run, when in steps if "apt-get" not in run]
assert len(steps) - len(kept) <= 2 and all("${{" not in run for _, run, _ in kept)
for number, (name, run, when) in enumerate(kept):
    always = "# always\n" if when == "always()" else ""
    (output / f"{number:02}-{name.lower().split()[0]}.sh").write_text(always + run + "\n")
print("\n".join(artifacts))
