#!/usr/bin/env python3
"""Trains on the processor and on a GPU with the same recipes, and compares what both made.

    python losses.py --program TANDEM --model FOLDER --data BEIR --work FOLDER --on cuda|portable [--small]

`--on portable` compares the forms of operations that a GPU runs, computed on the processor (a machine
without a GPU shows by it that the comparison works). `--small`: shorter texts and fewer steps.

In float32 (docs/training.md: "the results are those of the processor up to rounding") the bounds are
those of the test TrainWithForms, which compares the same forms on the processor: each step's loss
within 1e-4 of its value, each gradient's norm within 1e-3, the trained weights within 1e-4 of their
length, biases of attention's keys left out. These add the same number to all scores of a query, which a
softmax does not see: their gradient is 0 in exact arithmetic, and what is computed is rounding alone.
Adafactor divides a gradient by its own size, so that rounding moves them as far as a true gradient
would. Embeddings are within 1e-5 for each number of a row of length 1, as the encoders' tests ask.

In bf16 and fp16 activations have 8 and 11 bits. Cosines of rows that err by 2^-8 of their length move a
loss at temperature 0.05 by at most 2^-8 / 0.05 = 0.08; the mean over queries, whose errors have both
signs, must be within a quarter of that in the first step: 0.02. Later steps multiply such differences
(and fp16 may leave a step out), so that of them only the fall of the loss is asked.

A run whose loss hardly moves could not show a wrong gradient: each must fall by a twentieth, or the
comparison fails.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys

import numpy

from runs import read_rows, train

FP32 = {"loss": 1e-4, "gradient_norm": 1e-3, "weights": 1e-4}
NARROW = {"first_loss": 0.02}


def recipes(options):
    """Name, keys, the precision on the device, bounds."""
    texts = {"model.max_query_tokens": 16 if options.small else 32,
             "model.max_document_tokens": 24 if options.small else 128}
    common = {"seed": 1, "model.base": options.model, "data.train": options.data, "logging.every": 1,
              "optimizer.learning_rate": 3e-4, "objective.temperature": 0.05,
              "train.batch": 32, "train.steps": 6 if options.small else 20, **texts}
    # 300 queries by 300 documents are enough cells for the device form of the objective by itself;
    # TANDEM_FORMS=portable takes it at any size.
    large = {**common, "objective.name": "mann_whitney", "train.batch": 48 if options.small else 300,
             "train.chunk_tokens": 1024 if options.small else 8192, "train.steps": 6 if options.small else 8}
    infonce = {**common, "objective.name": "infonce"}
    adafactor = {**infonce, "optimizer.name": "adafactor", "optimizer.learning_rate": 1e-2}
    return [("infonce-adamw", infonce, "fp32", FP32), ("infonce-adafactor", adafactor, "fp32", FP32),
            ("mann_whitney-chunks", large, "fp32", FP32), ("infonce-bf16", infonce, "bf16", NARROW),
            ("infonce-fp16", infonce, "fp16", NARROW)]


def weights_of(folder):
    """All numbers of model.safetensors by the tensors' names, without biases of keys."""
    with open(os.path.join(folder, "model", "model.safetensors"), "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        start = file.tell()
        parts = []
        for name in sorted(key for key in header if key != "__metadata__"):
            if header[name]["dtype"] != "F32" or name.endswith(".attention.self.key.bias"):
                continue
            first, last = header[name]["data_offsets"]
            file.seek(start + first)
            parts.append(numpy.frombuffer(file.read(last - first), "<f4"))
    return numpy.concatenate(parts).astype(numpy.float64)


def on_device(options, precision):
    """Flags and environment of a run there."""
    if options.on == "portable":
        return ["--precision", precision], {"TANDEM_FORMS": "portable"}
    return ["--precision", precision, "--device", "cuda"], {}


def compare_runs(options, name, settings, precision, bounds):
    """Prints a line; says whether it held."""
    here = os.path.join(options.work, f"{name}-here")
    there = os.path.join(options.work, f"{name}-there")
    train(options, here, settings, ["--precision", "fp32"])
    flags, environment = on_device(options, precision)
    train(options, there, settings, flags, environment)
    wanted, got = (read_rows(os.path.join(run, "metrics.jsonl"), "step") for run in (here, there))
    if len(wanted) != len(got) or not wanted:
        print(f"= {name}: FAILED, {len(got)} steps instead of {len(wanted)}")
        return False
    found = {key: max(abs(b[key] - a[key]) / abs(a[key]) for a, b in zip(wanted, got))
             for key in ("loss", "gradient_norm")}
    a, b = weights_of(here), weights_of(there)
    found["weights"] = float(numpy.linalg.norm(a - b) / numpy.linalg.norm(a))
    found["first_loss"] = abs(got[0]["loss"] - wanted[0]["loss"])
    first, last = got[0]["loss"], min(row["loss"] for row in got)
    problems = [f"{key} above {bound:g}" for key, bound in bounds.items() if not found[key] <= bound]
    if not last < 0.95 * first:
        problems.append("the loss did not fall by a twentieth")
    if found["weights"] == 0:
        problems.append("the same bytes: other forms were not used")
    print(f"= {name} in {precision}: loss {first:.4f} to {got[-1]['loss']:.4f}; differences: first loss "
          f"{found['first_loss']:.1e}, largest of loss {found['loss']:.1e}, "
          f"gradient's norm {found['gradient_norm']:.1e}, weights {found['weights']:.1e}: "
          + ("FAILED, " + ", ".join(problems) if problems else "held"), flush=True)
    return not problems


def encode(options, name, flags, environment):
    output = os.path.join(options.work, name)
    shutil.rmtree(output, ignore_errors=True)
    command = [options.program, "encode", options.model, os.path.join(options.data, "queries.jsonl"), "--output",
               output, "--quiet", *flags]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"exit {done.returncode} of {' '.join(command)}\n{done.stderr}")
    return numpy.load(os.path.join(output, "embeddings.npy"))


def compare_embeddings(options):
    here = encode(options, "encode-here", ["--precision", "fp32"], {})
    there = encode(options, "encode-there", *on_device(options, "fp32"))
    difference = float(numpy.abs(here - there).max()) if here.shape == there.shape else float("inf")
    held = 0 < difference <= 1e-5
    print(f"= embeddings of {len(here)} texts in fp32: largest difference {difference:.1e}: "
          + ("held" if held else "FAILED, not above 0 and within 1e-5"), flush=True)
    return held


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--on", choices=["cuda", "portable"], required=True)
    parser.add_argument("--small", action="store_true")
    options = parser.parse_args()
    held = [compare_embeddings(options)]
    held += [compare_runs(options, *recipe) for recipe in recipes(options)]
    sys.exit(0 if all(held) else 1)


if __name__ == "__main__":
    main()
