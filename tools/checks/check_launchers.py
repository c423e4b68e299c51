#!/usr/bin/env python3
"""`tandem train` and other commands under launchers, and with faults: torchrun, mpirun, srun, an indexed Job's
variables, variables set by hand.

    python3 tools/checks/check_launchers.py --program build/release/tandem --model FOLDER --data FOLDER
        --torchrun PROGRAM [--only WORD]... [--keep FOLDER]

Two processes of each launcher must leave the same bytes as two started by hand, with a loss within
1e-6 of one process. Then ranks are killed, stopped and asked to end in the middle of a run: the
others must end in time with exit 7 (or 143) and name the rank, and the resumed run must end in the
bytes of the undisturbed one, also where torchrun or Slurm starts it again by itself. At last input
that cannot work. Each check prints one line; the first that does not hold ends the script with
status 1 and keeps all runs. Needs root for Slurm; only the standard library.
"""

import argparse
import json
import os
import re
import shutil
import signal
import socket
import sys
import time

from launched_runs import (Failed, Runs, free_port, losses_of, rank_environment, require,
                           require_same, runs_of_check, steps_of)
from one_machine_slurm import Slurm
from run_contents import contents

STEPS = 16
DISTURBED = 6  # the step after which a fault comes: between two checkpoints
TIMEOUT = 20  # --timeout of runs with faults
PEER_LOST = 7
LOSS_BOUND = 1e-6


def settings_of(arguments):
    return {"seed": 3, "threads": 1, "precision": '"fp32"',
            "model.base": f'"{os.path.abspath(arguments.model)}"',
            "model.max_query_tokens": 32, "model.max_document_tokens": 64,
            "data.train": f'"{os.path.abspath(arguments.data)}"', "data.positive_grade": 2,
            "objective.name": '"infonce"', "optimizer.learning_rate": 5e-5,
            "train.batch": 8, "train.steps": STEPS, "train.checkpoint_every": '"4 steps"',
            "validation.data": f'"{os.path.abspath(arguments.data)}"',
            "validation.split": '"dev"', "validation.every": '"8 steps"', "logging.every": 1}


def worst_loss(name, other, runs):
    got, want = losses_of(runs.path(name)), losses_of(runs.path(other))
    require(len(got) == len(want) == STEPS, f"{name} has {len(got)} losses, {other} {len(want)}")
    return max(abs(a - b) for a, b in zip(got, want))


# --- launchers -----------------------------------------------------------------------------------

def check_by_hand(runs):
    one = runs.by_hand("one", ranks=1)
    one.wait_for_success()
    runs.by_hand("hand").wait_for_success()
    worst = worst_loss("hand", "one", runs)
    require(worst <= LOSS_BOUND, f"two processes: a loss is {worst:.2e} from that of one")
    return f"worst difference of a loss from one process {worst:.1e}"


def check_twice(runs):
    runs.by_hand("again").wait_for_success()
    require_same(runs.path("again"), runs.path("hand"))
    return "same bytes"


# Commands besides train that several processes share: name and arguments. What they write is called
# by the name after a prefix of the launcher's.
def other_commands(runs, prefix):
    model, data = os.path.abspath(runs.arguments.model), os.path.abspath(runs.arguments.data)
    to = lambda name: ["--output", runs.path(f"{prefix}-{name}")]
    shared = ["--threads", "1", "--quiet"]
    yield "encode", ["encode", model, os.path.join(data, "corpus.jsonl"), *to("encode"), *shared]
    yield "mine", ["mine", "--model", model, "--dataset", data, "--range", "1:20", "--no-cache",
                   *to("mine"), *shared]
    yield "prune", ["prune", data, "--model", model, "--keep", "0.5", "--no-cache",
                    *to("prune"), *shared]
    yield "evaluate", ["evaluate", "--model", model, "--dataset", data, "--split", "dev",
                       "--format", "json", *shared]


def written(path):
    """What a command wrote, be it a file or a folder."""
    if os.path.isdir(path):
        return contents(path)
    with open(path, "rb") as file:
        return {"": file.read()}


def check_other_commands(runs, prefix, start):
    """`start` starts a command under a launcher; it must write what ranks by hand write."""
    for name, command in other_commands(runs, prefix):
        job = start(f"{prefix}-{name}", command)
        job.wait_for_success()
        if prefix == "others":
            continue
        if name == "evaluate":
            got, want = (json_of(runs.path(f"{of}-{name}.0.err")) for of in (prefix, "others"))
        else:
            got, want = (written(runs.path(f"{of}-{name}")) for of in (prefix, "others"))
        require(got == want, f"{name} under {prefix} writes something else than ranks by hand")
    return "encode, mine, prune, evaluate: as by hand"


def json_of(log):
    """The JSON object in what the processes said, which launchers add lines to."""
    with open(log, encoding="utf-8") as file:
        text = file.read()
    return json.loads(text[text.index("{"):text.rindex("}") + 1])


def check_others_by_hand(runs):
    check_other_commands(runs, "others", runs.others_by_hand)
    for shard in range(2):
        name, (_, command) = f"shard-{shard}", next(other_commands(runs, "shards"))
        job = runs.job(name)
        job.start([runs.program, *command, "--shard", f"{shard}/2"], {})
        job.wait_for_success()
    require(written(runs.path("shards-encode")) == written(runs.path("others-encode")),
            "encode --shard writes other parts than ranks by hand")
    return "encode, mine, prune, evaluate; the parts are those of --shard"


def indexed_job(rank, ranks, port):
    variables = rank_environment(rank, ranks, port)
    for name in ("RANK", "LOCAL_RANK", "LOCAL_WORLD_SIZE"):
        del variables[name]
    return {**variables, "JOB_COMPLETION_INDEX": str(rank)}


def check_kubernetes(runs):
    runs.by_hand("kubernetes", environment_of=indexed_job).wait_for_success()
    require_same(runs.path("kubernetes"), runs.path("hand"))
    return "same bytes"


def torchrun(arguments, *flags):
    return [arguments.torchrun, "--nproc-per-node", "2", "--master-port", str(free_port()),
            *flags, "--no-python"]


def check_others_kubernetes(runs):
    return check_other_commands(
        runs, "kubernetes",
        lambda name, command: runs.others_by_hand(name, command, environment_of=indexed_job))


def check_others_torchrun(runs):
    return check_other_commands(
        runs, "torchrun",
        lambda name, command: runs.others_launched(name, torchrun(runs.arguments), command))


def check_others_mpirun(runs):
    return check_other_commands(
        runs, "mpirun",
        lambda name, command: runs.others_launched(
            name, [*MPIRUN, "-x", f"MASTER_PORT={free_port()}"], command))


def check_others_srun(runs):
    with Slurm(runs.path("slurm-others"), free_port()) as slurm:
        return check_other_commands(
            runs, "srun",
            lambda name, command: runs.others_launched(name, ["srun", "-n", "2"], command,
                                                       slurm.environment))


def check_torchrun(runs):
    runs.launched("torchrun", torchrun(runs.arguments)).wait_for_success()
    require_same(runs.path("torchrun"), runs.path("hand"))
    return "same bytes"


def check_torchrun_restart(runs):
    job = runs.launched("restarted", torchrun(runs.arguments, "--max-restarts", "1"))
    job.wait_for_step(DISTURBED)
    job.signal_rank(1, signal.SIGKILL)
    job.wait_for_success()
    require_same(runs.path("restarted"), runs.path("hand"))
    require(starts_of(runs.path("restarted")) == 2, "torchrun has not started the job again")
    return "rank 1 killed, started again by itself, same bytes"


def starts_of(output):
    with open(os.path.join(output, "timing.jsonl"), encoding="utf-8") as file:
        return sum('"event":"start"' in line for line in file)


MPIRUN = ["mpirun", "-n", "2", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]


def check_mpirun(runs):
    runs.launched("mpirun", [*MPIRUN, "-x", f"MASTER_PORT={free_port()}"]).wait_for_success()
    require_same(runs.path("mpirun"), runs.path("hand"))
    return "same bytes"


def check_srun(runs):
    with Slurm(runs.path("slurm"), free_port()) as slurm:
        runs.launched("srun", ["srun", "-n", "2"], environment=slurm.environment).wait_for_success()
    require_same(runs.path("srun"), runs.path("hand"))
    return "same bytes"


BATCH_SCRIPT = """\
#!/bin/sh
#SBATCH --ntasks=2 --requeue --open-mode=append --output={log}
srun {command}
code=$?
# A process was killed (137) and the others have lost it (7): back into the queue. Slurm starts the
# job again, which resumes.
case $code in 7 | 137) scontrol requeue "$SLURM_JOB_ID" ;; esac
exit $code
"""


def check_requeue(runs, disturb, name):
    script = runs.path(f"{name}.sh")
    with open(script, "w", encoding="utf-8") as file:
        command = " ".join(runs.command(name, "--timeout", str(TIMEOUT)))
        file.write(BATCH_SCRIPT.format(log=runs.path(f"{name}.log"), command=command))
    with Slurm(runs.path(f"{name}.slurm"), free_port()) as slurm:
        number = slurm.run("sbatch", "--parsable", script)
        job = runs.job(name)
        job.wait_for_step(DISTURBED)
        disturb(slurm, number, job)
        end = time.monotonic() + 300
        while slurm.state_of(number) != "COMPLETED":
            state = slurm.state_of(number)
            require(state not in ("FAILED", "CANCELLED", "TIMEOUT") and time.monotonic() < end,
                    f"Slurm's job is {state}; see {runs.path(name)}.log")
            time.sleep(0.5)
    require_same(runs.path(name), runs.path("hand"))
    require(starts_of(runs.path(name)) == 2, "Slurm has not started the job again")


def check_scontrol_requeue(runs):
    check_requeue(runs, lambda slurm, number, job: slurm.run("scontrol", "requeue", number),
                  "requeued")
    return "scontrol requeue in the middle, same bytes"


def check_requeue_after_loss(runs):
    check_requeue(runs, lambda slurm, number, job: job.signal_rank(1, signal.SIGKILL), "lost")
    return "rank 1 killed, the script puts the job back, same bytes"


# --- faults --------------------------------------------------------------------------------------

def check_fault(runs, rank, number):
    """A rank is lost during the run: the other one says so."""
    name = f"{signal.Signals(number).name.lower()}-{rank}"
    job, other = runs.by_hand(name, "--timeout", str(TIMEOUT)), 1 - rank
    job.wait_for_step(DISTURBED)
    begin = time.monotonic()
    job.signal_rank(rank, number)
    codes = job.wait([other], limit=TIMEOUT + 5)
    seconds = time.monotonic() - begin
    require(codes == [PEER_LOST], f"{name}: exit {codes}:\n{job.said(other)}")
    require(seconds <= TIMEOUT, f"{name}: the other one ended after {seconds:.1f} s")
    require(f"rank {rank} (" in job.said(other) or f"rank {rank} has" in job.said(other),
            f"{name}: the message does not name rank {rank}:\n{job.said(other)}")
    job.processes[rank].kill()
    message = last_line(job.said(other))
    runs.resume(name)
    return f"exit 7 after {seconds:.1f} s: {message}"


def check_termination(runs, ranks):
    name = "-".join(["sigterm", *map(str, ranks)])
    job = runs.by_hand(name, "--timeout", str(TIMEOUT))
    job.wait_for_step(DISTURBED)
    for rank in ranks:
        job.signal_rank(rank, signal.SIGTERM)
    codes = job.wait()
    require(codes == [143, 143], f"{name}: exit {codes}:\n{job.said(0)}\n{job.said(1)}")
    steps = sorted(int(entry[5:]) for entry in os.listdir(runs.path(f"{name}/checkpoints"))
                   if entry.startswith("step-"))
    step = steps_of(runs.path(name))
    require(steps[-1] == step < STEPS, f"{name}: checkpoints {steps}, last step {step}")
    require("is saved, continue with --resume" in job.said(0), job.said(0))
    require(job.said(1) == "", f"{name}: rank 1 speaks too: {job.said(1)}")
    message = last_line(job.said(0))
    runs.resume(name)
    return f"both exit 143: {message}"


def last_line(text):
    """Without the folder of the run, which is of this check alone."""
    return re.sub(r"/\S*/(?=checkpoints/)", "RUN/", text.splitlines()[-1])


# --- input that cannot work ----------------------------------------------------------------------

def expect(runs, name, starts, timeout=TIMEOUT):
    """starts: (variables, further arguments, exit code, words of the message) of each process."""
    job = runs.job(name)
    for variables, further, _, _ in starts:
        job.start(runs.command(name, "--timeout", str(timeout), *further), variables)
    codes = job.wait(limit=timeout + 30)
    for number, (_, _, code, words) in enumerate(starts):
        require(codes[number] == code and words in job.said(number),
                f"{name}: process {number} ends with {codes[number]}, expected {code} and "
                f"\"{words}\":\n{job.said(number)}")
    require(not os.path.exists(runs.path(name)), f"{name}: a run folder was made")
    return f"exit {', '.join(map(str, codes))}: {last_line(job.said(0))}"


def check_no_address(runs):
    variables = rank_environment(0, 2, free_port())
    del variables["MASTER_ADDR"]
    return expect(runs, "no-address", [(variables, [], 2, "MASTER_ADDR is missing")])


def check_rank_twice(runs):
    port = free_port()
    return expect(runs, "twice", [(rank_environment(rank, 3, port), [], 2, "have rank 1")
                                  for rank in (0, 1, 1)])


def check_port(runs):
    port = free_port()
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("", port))
        listener.listen()
        return expect(runs, "port", [(rank_environment(0, 2, port), [], 2,
                                      f"cannot listen on port {port}")])


def check_missing_rank(runs):
    return expect(runs, "missing", [(rank_environment(0, 2, free_port()), [], PEER_LOST,
                                     "rank 1 did not come")], timeout=3)


def differs(runs, name, further, code, words):
    port = free_port()
    return expect(runs, name, [(rank_environment(rank, 2, port), further if rank else [], code,
                                words) for rank in (0, 1)])


def check_other_recipe(runs):
    return differs(runs, "other-recipe", ["--set", "train.batch=16"], 2, "train.batch = 16")


def check_other_data(runs):
    data = runs.path("data")
    shutil.copytree(runs.arguments.data, data, dirs_exist_ok=True)
    with open(os.path.join(data, "corpus.jsonl"), "a", encoding="utf-8") as file:
        file.write('{"_id": "another", "title": "", "text": "one more"}\n')
    # The folders' names are compared with the recipe: only what is in them differs.
    os.makedirs(runs.path("other"), exist_ok=True)
    named = runs.path(os.path.join("other", os.path.basename(runs.arguments.data.rstrip("/"))))
    if not os.path.exists(named):
        shutil.move(data, named)
    return differs(runs, "other-data", ["--set", f'data.train="{named}"'], 3,
                   "of rank 1 are not those of rank 0")


def check_other_base(runs):
    base = os.path.basename(runs.arguments.model.rstrip("/"))
    other = runs.path(os.path.join("other-base-model", base))
    shutil.copytree(runs.arguments.model, other, dirs_exist_ok=True)
    with open(os.path.join(other, "model.safetensors"), "r+b") as file:
        file.seek(os.path.getsize(file.name) // 2)
        byte = file.read(1)[0]
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte ^ 1]))
    return differs(runs, "other-base", ["--set", f'model.base="{other}"'], 4,
                   "of rank 1 are not those of rank 0")


def check_small_batch(runs):
    port = free_port()
    return expect(runs, "small-batch", [(rank_environment(rank, 3, port),
                                         ["--set", "train.batch=2"], 2, "3 processes cannot share")
                                        for rank in range(3)])


def checks(arguments):
    yield "by hand: 2 processes, 1 process", check_by_hand
    yield "by hand: again", check_twice
    yield "other commands by hand", check_others_by_hand
    yield "Kubernetes: JOB_COMPLETION_INDEX", check_kubernetes
    yield "other commands in an indexed Job", check_others_kubernetes
    if arguments.torchrun:
        yield "torchrun", check_torchrun
        yield "other commands under torchrun", check_others_torchrun
        yield "torchrun --max-restarts 1", check_torchrun_restart
    if shutil.which("mpirun"):
        yield "mpirun", check_mpirun
        yield "other commands under mpirun", check_others_mpirun
    if shutil.which("srun") and shutil.which("munged", path="/usr/sbin:/usr/bin") \
            and os.geteuid() == 0:
        yield "srun", check_srun
        yield "other commands under srun", check_others_srun
        yield "Slurm's requeue", check_scontrol_requeue
        yield "sbatch: requeue of a job that lost a rank", check_requeue_after_loss
    for number in (signal.SIGKILL, signal.SIGSTOP):
        for rank in (0, 1):
            yield (f"{signal.Signals(number).name} at rank {rank}",
                   lambda runs, rank=rank, number=number: check_fault(runs, rank, number))
    for ranks in ((0,), (1,), (0, 1)):
        yield (f"SIGTERM at rank {' and '.join(map(str, ranks))}",
               lambda runs, ranks=ranks: check_termination(runs, ranks))
    yield "WORLD_SIZE without MASTER_ADDR", check_no_address
    yield "a rank twice", check_rank_twice
    yield "a port in use", check_port
    yield "a rank that does not come", check_missing_rank
    yield "another recipe on a rank", check_other_recipe
    yield "other data on a rank", check_other_data
    yield "another base on a rank", check_other_base
    yield "batch smaller than the ranks", check_small_batch


class CheckedRuns(Runs):
    def __init__(self, arguments, folder):
        super().__init__(arguments.program, folder, settings_of(arguments))
        self.arguments = arguments

    def resume(self, name):
        self.by_hand(name, "--resume").wait_for_success()
        require_same(self.path(name), self.path("hand"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", required=True, help="BEIR folder with splits train and dev")
    parser.add_argument("--torchrun", default="", help="of PyPI's torch; empty: without it")
    parser.add_argument("--only", action="append", default=[],
                        help="checks whose name has this word, besides the first one")
    parser.add_argument("--keep", help="folder for the runs (default: a temporary one)")
    arguments = parser.parse_args()
    sys.stdout.reconfigure(line_buffering=True)
    width = max(len(name) for name, _ in checks(arguments))
    with runs_of_check(arguments, "check_launchers",
                       lambda folder: CheckedRuns(arguments, folder)) as runs:
        for number, (name, check) in enumerate(checks(arguments)):
            if number > 0 and arguments.only and not any(word in name for word in arguments.only):
                continue
            begin = time.monotonic()
            try:
                found = check(runs)
            except Failed as problem:
                raise Failed(f"{name}: {problem}") from problem
            print(f"{name:{width}}  {time.monotonic() - begin:4.0f} s  {found}")


if __name__ == "__main__":
    main()
