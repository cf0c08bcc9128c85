"""shard_recipes.py RECIPE OUTPUT: checks the fields of a recipe in ci/examples/shards against what its scheduler reads, and writes its
shell: OUTPUT/shard.sh and OUTPUT/merge.sh, with the variables of the recipe before the lines, and OUTPUT/of, the number of shards. What the
scheduler sets is left to the caller: JOB_COMPLETION_INDEX; matrix.shard as MATRIX_SHARD, github.run_id as RUN_ID; CI_NODE_INDEX and the
like. A variable that the caller has set stays."""
import pathlib
import re
import shlex
import sys

import yaml

path, output = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
output.mkdir(parents=True)
documents = list(yaml.safe_load_all(path.read_text()))


def write(name, variables, lines):
    fixed = [f'[ -n "${{{key}+x}}" ] || export {key}={shlex.quote(str(value))}\n' for key, value in variables]
    (output / name).write_text("".join(fixed) + lines + "\n")


def allow(mapping, *names):
    assert set(mapping) <= set(names), set(mapping) - set(names)


def job_of_kubernetes(job):
    assert job["apiVersion"] == "batch/v1" and job["kind"] == "Job" and re.fullmatch(r"[a-z0-9-]{1,63}", job["metadata"]["name"])
    spec, pod = job["spec"], job["spec"]["template"]["spec"]
    allow(spec, "completionMode", "completions", "parallelism", "backoffLimit", "template", "suspend")
    allow(pod, "restartPolicy", "affinity", "containers", "volumes")
    assert pod["restartPolicy"] in ("Never", "OnFailure")
    (container,) = pod["containers"]
    allow(container, "name", "image", "command", "args", "env", "resources", "volumeMounts")
    mounted = {mount["name"] for mount in container["volumeMounts"]}
    assert mounted == {volume["name"] for volume in pod["volumes"]}
    assert all(isinstance(one["value"], str) for one in container["env"])
    assert container["command"] == ["bash", "-euc"] and len(container["args"]) == 1
    return spec, pod, [(one["name"], one["value"]) for one in container["env"]], container["args"][0]


def kubernetes():
    shards, merge = (job_of_kubernetes(document) for document in documents)
    spec, pod, variables, lines = shards
    assert spec["completionMode"] == "Indexed" and spec["parallelism"] <= spec["completions"]
    assert dict(variables)["SHARDS"] == str(spec["completions"])
    (rule,) = pod["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    label = rule["labelSelector"]["matchLabels"]["batch.kubernetes.io/job-name"]
    assert label == documents[0]["metadata"]["name"] and rule["topologyKey"] == "kubernetes.io/hostname"
    assert merge[0]["suspend"] is True and dict(merge[2])["SET"] == dict(variables)["SET"]
    write("shard.sh", variables, lines)
    write("merge.sh", merge[2], merge[3])
    return spec["completions"]


def github():
    (pipeline,) = documents
    assert {"schedule", "workflow_dispatch"} == set(pipeline[True])  # YAML 1.1 reads the key `on` as true
    shard, merge = pipeline["jobs"]["shard"], pipeline["jobs"]["merge"]
    numbers = shard["strategy"]["matrix"]["shard"]
    assert numbers == list(range(1, len(numbers) + 1)) and shard["strategy"]["fail-fast"] is False
    assert merge["needs"] == "shard" and merge["if"] == "always()"
    for job in (shard, merge):
        allow(job, "runs-on", "timeout-minutes", "strategy", "env", "steps", "needs", "if")
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step)
            assert "uses" not in step or re.fullmatch(r"[\w-]+(/[\w-]+)+@v\d+|\./\.github/actions/install-tessera", step["uses"])
    upload = next(s for s in shard["steps"] if "upload-artifact" in s.get("uses", ""))
    download = next(s for s in merge["steps"] if "download-artifact" in s.get("uses", ""))
    assert upload["if"] == "always()" and upload["with"]["overwrite"] is True and download["with"]["merge-multiple"] is True
    assert upload["with"]["name"].startswith(download["with"]["pattern"].rstrip("*"))
    words = {"matrix.shard": '"$MATRIX_SHARD"', "strategy.job-total": str(len(numbers)), "github.run_id": '"$RUN_ID"'}

    def fill(text):
        return re.sub(r"\$\{\{ *(.*?) *\}\}", lambda found: words[found[1]], text)

    set_up = "".join(f"export {name}={fill(value)}\n" for name, value in shard["env"].items())
    runs = [[s["run"] for s in job["steps"] if "run" in s] for job in (shard, merge)]
    write("shard.sh", pipeline["env"].items(), set_up + "".join(runs[0]))
    write("merge.sh", pipeline["env"].items(), "".join(runs[1]))
    assert fill(upload["with"]["path"]) == 'shard-"$MATRIX_SHARD".db*'
    return len(numbers)


def gitlab():
    (pipeline,) = documents
    shard, merge = pipeline["shard"], pipeline["merge"]
    assert pipeline["stages"] == [shard["stage"], merge["stage"]] and pipeline["default"]["image"]["entrypoint"] == [""]
    assert merge["needs"] == ["shard"] and merge["when"] == "always" and shard["artifacts"]["when"] == "always"
    assert shard["artifacts"]["paths"] == ["shard-*.db*"]
    allow(shard, "stage", "parallel", "timeout", "script", "artifacts")
    allow(merge, "stage", "when", "needs", "script", "artifacts")
    write("shard.sh", pipeline["variables"].items(), "\n".join(shard["script"]))
    write("merge.sh", pipeline["variables"].items(), "\n".join(merge["script"]))
    return shard["parallel"]


print({"kubernetes": kubernetes, "github": github, "gitlab": gitlab}[path.stem](), file=open(output / "of", "w"))
