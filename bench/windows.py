#!/usr/bin/env python3
"""What sliding windows cost: time of a token by the length of its text, of layers of ModernBERT-base.

    python3 bench/windows.py --build build/release --tokenizer FOLDER --peer-python PYTHON
        --output docs/figures/windows.tsv [--svg docs/figures/windows.svg]

Three models of 6 layers of ModernBERT-base's shape, with made-up weights: all layers read windows of
128 tokens, all layers read all tokens, and as published, where every third does. --peer-python has
transformers, which makes the folders. TSV: layers, tokens of a text, instruction set, precision,
threads, microseconds for a token and layer, tokens/s. --svg draws it with gnuplot.
"""

import argparse
import json
import os
import shutil
import subprocess

import scaling

COLUMNS = ["layers", "tokens", "isa", "precision", "threads", "microseconds", "tokens_per_second"]
LENGTHS = [64, 128, 256, 512, 1024, 2048, 4096, 8192]
LAYERS = 6
KINDS = {
    "windows": ["sliding_attention"] * LAYERS,
    "all tokens": ["full_attention"] * LAYERS,
    "published": ["full_attention", "sliding_attention", "sliding_attention"] * (LAYERS // 3),
}


def write_models(options, scratch):
    """Folders by kind; they share their weights."""
    base = os.path.join(scratch, f"modernbert-{LAYERS}")
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "made_models.py")
    subprocess.run([options.peer_python, script, "modernbert-base", base, "--tokenizer", options.tokenizer,
                    "--layers", str(LAYERS)], check=True)
    folders = {}
    for kind, layer_types in KINDS.items():
        folder = folders[kind] = os.path.join(scratch, "modernbert-" + kind.replace(" ", "-"))
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(base, folder, copy_function=os.link)
        path = os.path.join(folder, "config.json")
        with open(path, encoding="utf-8") as file:
            config = json.load(file)
        os.unlink(path)  # a link to the base's file
        with open(path, "w", encoding="utf-8") as file:
            json.dump(dict(config, layer_types=layer_types), file)
    return folders


def measure(options):
    scratch = os.path.join(options.build, "bench", "windows")
    os.makedirs(scratch, exist_ok=True)
    program = os.path.join(options.build, "bench", "encoder_bench")
    folders = write_models(options, scratch)
    for length in LENGTHS:
        pairs = os.path.join(scratch, f"pairs-{length}.jsonl")
        scaling.write_pairs(pairs, length, max(2, options.tokens // (2 * length)))
        for kind, folder in folders.items():
            turns = [scaling.run([program, "encoding", folder, pairs, "--precision", options.precision,
                                  "--threads", str(options.threads), "--max-tokens", str(length)])
                     for _ in range(options.turns)]
            best = min(turns, key=lambda found: found["seconds"])
            rate = best["tokens"] / best["seconds"]
            yield [kind, length, best["isa"], options.precision, best["threads"],
                   f"{1e6 / rate / LAYERS:.2f}", f"{rate:.0f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--tokenizer", required=True)
    parser.add_argument("--peer-python", required=True)
    parser.add_argument("--output", required=True)
    parser.add_argument("--svg", help="picture to draw")
    parser.add_argument("--precision", choices=["fp32", "bf16"], default="fp32")
    parser.add_argument("--threads", type=int, default=0, help="0 (default): all")
    parser.add_argument("--tokens", type=int, default=65536, help="encoded at each point")
    parser.add_argument("--turns", type=int, default=2, help="the best of so many counts")
    parser.add_argument("--draw", action="store_true", help="measure nothing")
    options = parser.parse_args()
    if not options.draw:
        rows = [list(map(str, row)) for row in measure(options)]
        with open(options.output, "w", encoding="utf-8") as file:
            file.writelines("\t".join(row) + "\n" for row in [COLUMNS] + rows)
    if options.svg:
        scaling.plot(f"tsv='{options.output}'; svg='{options.svg}'", "windows.gp", options.svg)


if __name__ == "__main__":
    main()
