#!/usr/bin/env python3
"""Shows that speed does not hurt learning: trains the same recipe with fused and with reference
operations, in fp32 and in bf16, and compares what the models are worth.

    python3 tools/studies/learning_parity.py --program build/release/tandem --model FOLDER --data FOLDER
        [--update docs/studies/learning.md]

--data is the demo's data (demo/default/data). A part of it is taken, so that the slow reference forms
end in minutes: --train training queries, --test test queries, --documents documents. Every run has
the same seed, hence the same batches and the same dropout. All models are measured in fp32, and a
95 % bootstrap interval over the test queries stands beside each mean, and beside the mean difference
to fused fp32, query by query. A variant holds when that difference's interval holds 0, or when each
mean lies in the other's interval. --update writes the table into a Markdown file, between the lines
`<!-- learning -->` and `<!-- end -->`. Exits with 6 when a variant does not hold.
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile

from beir_part import take_part

VARIANTS = [("fused", "fp32"), ("fused", "bf16"), ("reference", "fp32"), ("reference", "bf16")]
MEASURE = "ndcg@10"
RESAMPLES = 2000


def tandem(options, arguments, forms="fused"):
    environment = dict(os.environ, TANDEM_FORMS=forms)
    done = subprocess.run([options.program, *arguments, "--quiet"], env=environment,
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"learning_parity.py: tandem {arguments[0]} ended with {done.returncode}:\n{done.stderr}")
    return done.stdout


def values_of(options, model, data):
    """The measure of each test query, by query."""
    out = tandem(options, ["evaluate", "--model", model, "--dataset", data, "--split", "test",
                           "--measures", MEASURE, "--per-query", "--format", "json",
                           "--precision", "fp32", "--max-query-tokens", "128",
                           "--max-document-tokens", "128"])
    return json.loads(out)["per_query"][MEASURE]


def train(options, data, folder, forms, precision):
    tandem(options, ["train", options.recipe, "--output", folder, "--set",
                     f"model.base={options.model}", "--set", f"data.train={data}",
                     "--precision", precision], forms)


def interval(values):
    source = random.Random(1)
    count = len(values)
    means = sorted(sum(source.choices(values, k=count)) / count for _ in range(RESAMPLES))
    return means[int(0.025 * RESAMPLES)], means[int(0.975 * RESAMPLES)]


def mean(values):
    return sum(values) / len(values)


def row_of(name, values, base):
    low, high = interval(values)
    difference = [a - b for a, b in zip(values, base)]
    d_low, d_high = interval(difference)
    b_low, b_high = interval(base)
    holds = d_low <= 0 <= d_high or (b_low <= mean(values) <= b_high and low <= mean(base) <= high)
    return [name, f"{mean(values):.4f}", f"{low:.4f} to {high:.4f}", f"{mean(difference):+.4f}",
            f"{d_low:+.4f} to {d_high:+.4f}"], holds


def measure_all(options, scratch):
    data = os.path.join(scratch, "data")
    take_part(options.data, data, {"train": options.train, "test": options.test},
              options.documents)
    before = values_of(options, options.model, data)
    queries = sorted(before)
    found = {}
    for forms, precision in VARIANTS:
        folder = os.path.join(scratch, f"{forms}-{precision}")
        train(options, data, folder, forms, precision)
        values = values_of(options, os.path.join(folder, "model"), data)
        found[forms, precision] = [values[query] for query in queries]
        print(f"{forms} {precision}: {mean(found[forms, precision]):.4f}", file=sys.stderr, flush=True)
    base = found[VARIANTS[0]]
    rows = [row_of("before training", [before[query] for query in queries], base)[0]]
    broken = []
    for variant in VARIANTS:
        row, holds = row_of(" ".join(variant), found[variant], base)
        rows.append(row)
        if not holds:
            broken.append(" ".join(variant))
    return rows, broken


def table(rows):
    header = ["trained with", f"mean {MEASURE}", "95 % interval", "against fused fp32",
              "95 % interval"]
    lines = [header, ["---"] * len(header)] + rows
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--recipe", default="recipes/demo-infonce.toml")
    parser.add_argument("--train", type=int, default=1024)
    parser.add_argument("--test", type=int, default=500)
    parser.add_argument("--documents", type=int, default=2000)
    parser.add_argument("--update", help="Markdown file to write the table into")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        rows, broken = measure_all(options, scratch)
    text = (f"{os.path.basename(options.recipe)}, {options.train} training queries, {options.test} test "
            f"queries.\n\n") + table(rows)
    print(text, end="")
    if options.update:
        with open(options.update, encoding="utf-8") as file:
            page = file.read()
        with open(options.update, "w", encoding="utf-8") as file:
            file.write(re.sub(r"(<!-- learning -->\n).*?(<!-- end -->)",
                              lambda match: match[1] + text + match[2], page, flags=re.S))
    if broken:
        print(f"learning_parity.py: does not hold: {', '.join(broken)}", file=sys.stderr)
        sys.exit(6)


if __name__ == "__main__":
    main()
