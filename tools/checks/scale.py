#!/usr/bin/env python3
"""Trains on a data set of MS MARCO's size and says what that takes, beside a limit of memory.

    python3 tools/checks/scale.py --program build/release/tandem --model FOLDER --work FOLDER
        [--documents 8841823] [--queries 500000] [--limit-gib 6] SOURCE...

Makes the data set from the SOURCEs (tools/checks/scale_dataset.py) in WORK/data, unless it is there, and does
with it what a user would: inspect, train --check, three steps of training, the same run resumed after
its second step, and with 1,000 held-out queries. Prints a table with the seconds and the resident memory
of each; seconds of processors hardly depend on what else the machine does. Ends with status 1 where
something takes more than the limit, where --check says of memory what is off by more than 10 %, or where
the resumed run does not write the bytes of the one that nobody stopped.
At full size it needs 4 GB of disk and some minutes. Needs only the standard library.
"""

import argparse
import filecmp
import json
import os
import re
import shutil
import subprocess
import sys
import time

TOOLS = os.path.dirname(os.path.abspath(__file__))
GIB = 2**30
TRAIN = {"train.batch": "64", "train.steps": "3", "train.checkpoint_every": '"2 steps"',
         "train.keep_checkpoints": "2", "objective.name": '"infonce"'}


class Finding:
    """What a command took and printed."""

    def __init__(self, what, command):
        start = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"scale: failed with status {process.returncode}: {' '.join(command)}")
        self.what = what
        self.seconds = time.monotonic() - start
        self.processor_seconds = usage.ru_utime + usage.ru_stime
        self.resident = usage.ru_maxrss * 1024  # Linux counts KiB
        self.remark = ""
        self.failure = ""

    def number(self, pattern):
        found = re.search(pattern, self.output)
        if found is None:
            sys.exit(f"scale: {self.what} does not print {pattern}:\n{self.output}")
        return float(found[1])


def make_data(arguments):
    """Writes WORK/data, with a note of its arguments at its end; keeps what the same ones made."""
    folder = os.path.join(arguments.work, "data")
    note = os.path.join(folder, "made.json")
    made = {"documents": arguments.documents, "queries": arguments.queries,
            "sources": arguments.sources}
    if os.path.exists(note):
        with open(note, encoding="utf-8") as file:
            if json.load(file) == made:
                return folder, None
    shutil.rmtree(folder, ignore_errors=True)
    finding = Finding("make the data set", [
        sys.executable, os.path.join(TOOLS, "scale_dataset.py"), "--output", folder,
        "--documents", str(arguments.documents), "--queries", str(arguments.queries),
        *arguments.sources])
    with open(note, "w", encoding="utf-8") as file:
        json.dump(made, file)
    return folder, finding


class Runs:
    def __init__(self, arguments, data):
        self.program = arguments.program
        self.work = arguments.work
        self.recipe = os.path.join(arguments.work, "recipe.toml")
        with open(self.recipe, "w", encoding="utf-8") as file:
            file.write(f"[model]\nbase = {json.dumps(os.path.abspath(arguments.model))}\n"
                       f"[data]\ntrain = {json.dumps(os.path.abspath(data))}\n")

    def folder(self, name):
        return os.path.join(self.work, name)

    def train(self, what, flags, further=None):
        command = [self.program, "train", self.recipe, *flags]
        for key, value in {**TRAIN, **(further or {})}.items():
            command += ["--set", f"{key}={value}"]
        return Finding(what, command)


def check(runs, what, further=None):
    """What --check says, with the seconds of reading and tokenising."""
    found = runs.train(what, ["--check", "--quiet"], further)
    read = found.number(r"each start \(([0-9.]+) s to read")
    ids = found.number(r"([0-9.]+) s for token ids")
    found.said = found.number(r"memory: about ([0-9]+) MiB") * 2**20
    found.remark = f"read {read:.1f} s, token ids {ids:.1f} s; says {found.said / GIB:.2f} GiB"
    return found


def compare_with(said, taken):
    """What --check said of memory against what the run took."""
    if abs(said.said / taken.resident - 1) > 0.1:
        taken.failure = f"--check says {said.said / GIB:.2f} GiB"


def resume(runs):
    """Goes on after step 2, as after a kill in step 3, and compares what is written."""
    whole, resumed = runs.folder("run"), runs.folder("resumed")
    shutil.rmtree(resumed, ignore_errors=True)
    shutil.copytree(whole, resumed)
    shutil.rmtree(os.path.join(resumed, "checkpoints", "step-00000003"))
    shutil.rmtree(os.path.join(resumed, "model"))
    found = runs.train("train, resumed after step 2", ["--resume", "--quiet", "--output", resumed])
    for name in ("metrics.jsonl", os.path.join("model", "model.safetensors")):
        if not filecmp.cmp(os.path.join(whole, name), os.path.join(resumed, name), shallow=False):
            found.failure = f"{name} differs from that of the run that nobody stopped"
    return found


def measure(arguments):
    """A Finding after the other, as they are made."""
    data, made = make_data(arguments)
    runs = Runs(arguments, data)
    if made:
        yield made
    yield Finding("inspect", [arguments.program, "inspect", data])
    said = check(runs, "train --check")
    shutil.rmtree(runs.folder("run"), ignore_errors=True)
    run = runs.train("train, three steps", ["--quiet", "--output", runs.folder("run")])
    compare_with(said, run)
    yield from (said, run, resume(runs))
    holdout = {"validation.holdout": str(min(1000, arguments.queries // 10)),
               "validation.measure": '"loss"'}
    said = check(runs, "train --check, with held-out queries", holdout)
    shutil.rmtree(runs.folder("held_out"), ignore_errors=True)
    run = runs.train("train, three steps, with held-out queries",
                     ["--quiet", "--output", runs.folder("held_out")], holdout)
    compare_with(said, run)
    yield from (said, run)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="+", metavar="SOURCE")
    parser.add_argument("--program", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--documents", type=int, default=8841823)
    parser.add_argument("--queries", type=int, default=500000)
    parser.add_argument("--limit-gib", type=float, default=6)
    arguments = parser.parse_args()
    os.makedirs(arguments.work, exist_ok=True)
    print(f"| what | seconds | of processors | resident, GiB | limit | {arguments.documents:,} documents, "
          f"{arguments.queries:,} queries |\n| --- | --- | --- | --- | --- | --- |")
    held = True
    for found in measure(arguments):
        if found.resident > arguments.limit_gib * GIB:
            found.failure += " more memory than the limit"
        held = held and not found.failure
        print(f"| {found.what} | {found.seconds:.0f} | {found.processor_seconds:.0f} | "
              f"{found.resident / GIB:.2f} | {arguments.limit_gib:g} | {found.remark}"
              f"{' **FAILED:' + found.failure + '**' if found.failure else ''} |",
              flush=True)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
