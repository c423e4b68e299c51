"""What a run needs against what there is, and what the program says of the machine."""
import os
import re
import resource
import subprocess

from .case import NotHere, case

RECIPE = """
output = "{output}"
[model]
base = "{model}"
max_document_tokens = 128
[data]
train = "{data}"
[objective]
name = "infonce"
[train]
batch = 32
steps = 2
checkpoint_every = "1 steps"
"""


def recipe(bench, output="run"):
    words = "the quick brown fox jumps over a lazy dog and runs away from it all day long".split()
    lines = [{"query": f"question {i} {words[i % 16]}",
              "positive": " ".join(f"{words[(i * j) % 16]}{i}" for j in range(1, 60))}
             for i in range(64)]
    data = bench.lines("train.jsonl", *lines)
    text = RECIPE.format(output=bench.work / output, model=bench.model(), data=data)
    return bench.text("recipe.toml", text)


def limited(bench, arguments, bytes_of_addresses):
    """Runs `tandem` under `ulimit -v`."""
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (bytes_of_addresses, bytes_of_addresses))
    done = subprocess.run([bench.program, *map(str, arguments)], capture_output=True,
                          preexec_fn=limit, timeout=600)
    return type(bench.tandem("--version"))(list(map(str, arguments)), done.returncode,
                                           done.stdout.decode(), done.stderr.decode())


def memory_cgroup(bench):
    """A cgroup below this process's own, of version 1 or 2, that limits memory to 350 MiB."""
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        mounts = [line.split() for line in file]
    for fields in mounts:
        point, kind, options = fields[4], fields[fields.index("-") + 1], fields[-1]
        first = kind == "cgroup" and "memory" in options.split(",")
        name = "memory.limit_in_bytes" if first else "memory.max"
        if not first and kind != "cgroup2":
            continue
        folder = f"{point}/tandem-case-{os.getpid()}"
        try:
            os.mkdir(folder)
            with open(f"{folder}/{name}", "w", encoding="utf-8") as file:
                file.write(str(350 << 20))
            return folder
        except OSError:
            if os.path.isdir(folder):
                os.rmdir(folder)
    raise NotHere("no cgroup can be made here that limits memory")


@case("memory of a cgroup", peer=None)
def memory_of_a_cgroup(bench):
    """A run that its cgroup would kill is refused before its first step, with the numbers and what
    would fit, in `train` and in `--check`; --ignore-limits begins all the same."""
    path = recipe(bench)
    folder = memory_cgroup(bench)
    try:
        def inside(*arguments):
            words = " ".join(f"'{a}'" for a in (bench.program, *arguments))
            done = subprocess.run(["sh", "-c", f"echo $$ > {folder}/cgroup.procs && exec {words}"],
                                  capture_output=True, timeout=600)
            return type(bench.tandem("--version"))(list(map(str, arguments)), done.returncode,
                                                   done.stdout.decode(), done.stderr.decode())
        for flags in [[], ["--check"]]:
            bench.refused(inside("train", path, *flags), 2, "this run needs ", " of memory or more",
                          f"cgroup /{os.path.basename(folder)} allows 350.0 MiB",
                          "--ignore-limits begins all the same")
        if os.path.exists(bench.work / "run"):
            bench.equal("a run folder", "none", "what a refused run leaves")
    finally:
        os.rmdir(folder)
    bench.works(bench.tandem("train", path))


@case("memory of a process")
def memory_of_a_process(bench):
    """`ulimit -v` counts addresses: a run that needs more is refused (exit 2) and told of the limit,
    before its first step where a forward pass of a part of a batch fits, else as soon as it does
    not; it is never an internal error."""
    path = recipe(bench)
    bench.refused(limited(bench, ["train", path, "--output", bench.work / "b", "--set",
                                  "train.batch=64"], 1500 << 20), 2, "ulimit -v")


@case("disk of a run")
def disk_of_a_run(bench):
    """Checkpoints that the disk has no room for are said before the first step (exit 3)."""
    path = recipe(bench)
    disk = bench.work / "disk"
    disk.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400m", "none", disk],
                          capture_output=True)
    if made.returncode != 0:
        raise NotHere("no file system can be mounted here")
    try:
        for flags in [["--output", disk / "run"], ["--check", "--set", f"output={disk}/run"]]:
            bench.refused(bench.tandem("train", path, *flags), 3,
                          f"{disk}/run: has no room for this run",
                          "No space left on device")
        bench.equal(os.listdir(disk), [], "what a refused run leaves")
        bench.works(bench.tandem("train", path, "--output", disk / "run", "--set",
                                 "train.checkpoint_every=\"2 steps\""))
    finally:
        subprocess.run(["umount", disk], check=True)


@case("instructions")
def instructions(bench):
    """--version names AMX where Linux offers it, and what kernels take under TANDEM_ISA."""
    said = bench.works(bench.tandem("--version")).stdout
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        flags = next(line for line in file if line.startswith("flags")).split()
    for feature in ["avx2", "avx512_bf16", "amx_bf16", "amx_int8"]:
        bench.equal(re.search(rf"[ (]{feature}[ )]", said) is not None, feature in flags, feature)
    low = bench.tandem("--version", environment={"TANDEM_ISA": "baseline"})
    bench.says(low, "kernels: baseline (TANDEM_ISA); bf16 is not offered")
