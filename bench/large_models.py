#!/usr/bin/env python3
"""Peak memory of training large encoders on a machine of 24 GiB: `tandem train`, from start to end.

    python3 bench/large_models.py --program build/release/tandem --tokenizer FOLDER --peer-python PYTHON
        --work FOLDER [--runs NAME,NAME]

Runs are those of RUNS: shapes of made_models.py with made-up weights in bf16, trained in bf16 with
AdamW by gradient cache; queries of 32 tokens, documents of 256. The folders take up to 6.5 GB each,
and a run writes its whole model. A run that --work has a result of is not made again. Peak memory
counts the weights that are mapped from their file, too.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import time

import speed

# Shape, pairs of a step, tokens of a chunk of the gradient cache, rank of adapters (0: all is
# trained), limit in GB.
RUNS = {
    "qwen3-0.6b": ("qwen3-0.6b", 64, 2048, 0, 14),
    "llama-3.2-1b": ("llama-3.2-1b", 16, 1024, 32, 6),
    "llama-3.2-3b": ("llama-3.2-3b", 4, 256, 32, 10),
}
RECIPE = """precision = "bf16"
[model]
base = "{base}"
max_query_tokens = 32
max_document_tokens = 256
train = "{train}"
{lora}
[data]
train = "{pairs}"
[objective]
name = "infonce"
[train]
batch = {batch}
steps = {steps}
chunk_tokens = {chunk}
checkpoint_every = 0
"""
WORDS = "the of and to in for with on as at by from his her that which were been their also".split()


def write_pairs(path):
    source = random.Random(3)
    with open(path, "w", encoding="utf-8") as file:
        for number in range(256):  # each longer than the limits
            query, positive = (" ".join([f"number {number}"] + source.choices(WORDS, k=count))
                               for count in (40, 300))
            file.write(json.dumps({"query": query, "positive": positive}) + "\n")


def measure(options, name):
    shape, batch, chunk, rank, limit = RUNS[name]
    base = os.path.join(options.work, shape)
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "made_models.py")
    subprocess.run([options.peer_python, script, shape, base, "--tokenizer", options.tokenizer,
                    "--dtype", "bfloat16"], check=True)
    pairs, recipe, run = (os.path.join(options.work, part)
                          for part in ("large-pairs.jsonl", f"{name}.toml", f"{name}.run"))
    write_pairs(pairs)
    with open(recipe, "w", encoding="utf-8") as file:
        file.write(RECIPE.format(base=base, pairs=pairs, batch=batch, chunk=chunk, steps=options.steps,
                                 train="lora" if rank else "all",
                                 lora=f"[lora]\nrank = {rank}" if rank else ""))
    shutil.rmtree(run, ignore_errors=True)
    speed.note(name)
    start = time.perf_counter()
    child = subprocess.Popen([options.program, "train", recipe, "--output", run])
    _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit(f"large_models.py: training {name} ended with status {os.waitstatus_to_exitcode(status)}")
    shutil.rmtree(run)
    return {"what": f"rank {rank}" if rank else "everything", "pairs": batch, "chunk": chunk,
            "seconds": time.perf_counter() - start, "peak_bytes": 1024 * usage.ru_maxrss, "limit": limit}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--tokenizer", required=True, help="model folder whose tokenizer all shapes get")
    parser.add_argument("--peer-python", required=True, help="a Python with transformers")
    parser.add_argument("--work", required=True)
    parser.add_argument("--runs", default=",".join(RUNS))
    parser.add_argument("--steps", type=int, default=1)
    options = parser.parse_args()
    os.makedirs(options.work, exist_ok=True)
    path = os.path.join(options.work, "large-models.json")
    found = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    for name in options.runs.split(","):
        if name not in RUNS:
            parser.error(f"unknown run {name}; there are {', '.join(RUNS)}")
        if name not in found:
            found[name] = measure(options, name)
            with open(path, "w", encoding="utf-8") as file:
                json.dump(found, file, indent=1)
    rows = [[name, run["what"], str(run["pairs"]), str(run["chunk"]), f"{run['peak_bytes'] / 1e9:.2f} GB",
             f"{run['limit']} GB"] for name, run in found.items()]
    print(speed.table(["shape", "trained", "pairs a step", "tokens of a chunk", "peak memory", "limit"], rows),
          end="")


if __name__ == "__main__":
    main()
