#!/usr/bin/env python3
"""Kills a training run with SIGKILL at random moments and resumes it until it ends.

    python3 tools/checks/kill_resume.py --program build/release/tandem --model FOLDER --data FOLDER
        [--kills 100] [--seed 1] [--keep FOLDER]

Each of several recipes (below) is trained once untouched. Then it is trained again and killed, at
moments that are drawn evenly from the time that the untouched run took, until it ends by itself.
Every file of both run folders must have the same bytes, except those that hold times, hosts or the
command line. That is repeated until --kills kills have happened; the first difference ends the
script with status 1 and keeps both folders. Needs only the standard library.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

from run_contents import contents


COMMON = {
    "train.epochs": "4",
    "train.batch": "16",
    "train.checkpoint_every": '"3 steps"',
    "train.keep_checkpoints": "2",  # also when a run is finished, so that their bytes are compared
    "validation.split": '"dev"',
    "validation.every": '"5 steps"',
    "model.max_query_tokens": "32",
    "model.max_document_tokens": "64",
}

# What keeps state beside the model: dropout and accumulation, a score bank, a learned bias, mined
# documents, adapters of two encoders after the gradient cache, parts that stay as they are.
RECIPES = {
    "infonce": {"objective.name": '"infonce"', "train.accumulate": "2"},
    "mann_whitney": {"objective.name": '"mann_whitney"', "objective.bank": "300"},
    "bixse": {"objective.name": '"bixse"', "data.grade_scale": "[0,2]"},
    "mining": {"objective.name": '"infonce"', "mining.every": '"4 steps"',
               "mining.range": '"5:100"', "data.negatives": "2"},
    "lora": {"objective.name": '"infonce"', "model.train": '"lora"', "lora.rank": "4",
             "lora.dropout": "0.1", "model.towers": '"separate"', "train.chunk_tokens": "256"},
    "frozen": {"objective.name": '"infonce"', "model.freeze": '["embeddings", "layers.0-3"]',
               "model.projection": "64"},
}


def command_of(arguments, settings, output):
    command = [arguments.program, "train", arguments.recipe, "--quiet", "--output", output]
    for key, value in settings.items():
        command += ["--set", f"{key}={value}"]
    return command


def run_to_end(command):
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"kill_resume.py: {' '.join(command)} ended with {done.returncode}:\n{done.stderr}")


def run_with_kills(command, output, longest, draw):
    """Starts and resumes the run until it ends by itself; how often it was killed."""
    kills = 0
    while True:
        resume = ["--resume"] if os.path.exists(output) else []
        with subprocess.Popen(command + resume, stderr=subprocess.PIPE, text=True) as child:
            try:
                errors = child.communicate(timeout=longest * draw.random())[1]
            except subprocess.TimeoutExpired:
                child.kill()
                child.communicate()
        if child.returncode == 0:
            return kills
        if child.returncode != -9:
            sys.exit(f"kill_resume.py: {' '.join(command + resume)} ended with "
                     f"{child.returncode}:\n{errors}")
        kills += 1


def compare(got, want, name):
    if sorted(got) != sorted(want):
        return f"{name}: files differ: {sorted(set(got) ^ set(want))}"
    different = [path for path in want if got[path] != want[path]]
    return f"{name}: bytes differ in {different}" if different else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", required=True, help="BEIR folder with splits train and dev")
    parser.add_argument("--recipe", default="recipes/demo-infonce.toml")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", help="folder for the runs (default: a temporary one)")
    arguments = parser.parse_args()
    draw = random.Random(arguments.seed)
    folder = arguments.keep or tempfile.mkdtemp(prefix="kill_resume.")
    os.makedirs(folder, exist_ok=True)

    whole = {}  # recipe -> (settings, files, seconds)
    for name, special in RECIPES.items():
        data = {"model.base": f'"{os.path.abspath(arguments.model)}"',
                "data.train": f'"{os.path.abspath(arguments.data)}"',
                "validation.data": f'"{os.path.abspath(arguments.data)}"'}
        settings = {**COMMON, **data, **special}
        output = os.path.join(folder, name)
        begin = time.monotonic()
        run_to_end(command_of(arguments, settings, output))
        whole[name] = (settings, contents(output), time.monotonic() - begin)

    kills, runs = 0, 0
    while kills < arguments.kills:
        for name, (settings, files, seconds) in whole.items():
            output = os.path.join(folder, f"{name}-killed")
            shutil.rmtree(output, ignore_errors=True)
            kills += run_with_kills(command_of(arguments, settings, output), output, seconds, draw)
            runs += 1
            problem = compare(contents(output), files, name)
            if problem:
                sys.exit(f"kill_resume.py: {problem}; both runs are in {folder}")
            print(f"{name}: same bytes; {kills} kills in {runs} runs", file=sys.stderr, flush=True)
    if not arguments.keep:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
