#!/usr/bin/env python3
"""How the cost of training and encoding grows with length, batch, width, layers and threads.

    python3 bench/scaling.py --build build/release --model FOLDER --output docs/figures/scaling.tsv
        [--svg docs/figures/scaling.svg] [--varied width,layers] [--threads 1,2]

One thing is varied at a time, around texts of 128 tokens, 32 pairs a step and the model's own size.
Widths and layers are those of models with random weights and FOLDER's tokenizer, which are made in
the build folder (attention heads are 32 wide, the inner width is four times the width). All texts of
a point have the same number of tokens. TSV: varied, value, instruction set, precision, threads, what,
seconds of a step (training) or of a text (encoding), tokens/s, share of the product rate at that
model's shapes. Points that are not measured again, those of other instruction sets among them, stay
as the TSV has them. --svg draws it all with gnuplot (Debian: gnuplot-nox); --varied "" only draws.
"""

import argparse
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys

COLUMNS = ["varied", "value", "isa", "precision", "threads", "what", "seconds", "tokens_per_second",
           "share"]
BASE = {"length": 128, "batch": 32, "width": 384, "layers": 6}
POINTS = {
    "length": [8, 16, 32, 64, 128, 256, 512],
    "batch": [4, 8, 16, 32, 64, 128],
    "width": [128, 256, 384, 768, 1024],
    "layers": [1, 2, 6, 12],
}
# Words that are one token each in BERT's vocabularies.
WORDS = "the of and to in for with on as at by from his her that which were been their also".split()


def write_model(base, folder, width, layers):
    """A model folder like `base` with random weights of another size."""
    os.makedirs(folder, exist_ok=True)
    for name in os.listdir(base):
        if name.endswith((".json", ".txt")):
            shutil.copy(os.path.join(base, name), folder)
    shutil.copytree(os.path.join(base, "1_Pooling"), os.path.join(folder, "1_Pooling"),
                    dirs_exist_ok=True)
    with open(os.path.join(base, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    config.update(hidden_size=width, num_hidden_layers=layers, num_attention_heads=width // 32,
                  intermediate_size=4 * width)
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
        json.dump(config, file)
    pooling_path = os.path.join(folder, "1_Pooling", "config.json")
    with open(pooling_path, encoding="utf-8") as file:
        pooling = json.load(file)
    pooling["word_embedding_dimension"] = width
    with open(pooling_path, "w", encoding="utf-8") as file:
        json.dump(pooling, file)
    write_weights(os.path.join(folder, "model.safetensors"), config)


def shapes_of(config):
    width, inner = config["hidden_size"], config["intermediate_size"]
    shapes = {"embeddings.word_embeddings.weight": [config["vocab_size"], width],
              "embeddings.position_embeddings.weight": [config["max_position_embeddings"], width],
              "embeddings.token_type_embeddings.weight": [config["type_vocab_size"], width]}

    def linear(name, out, depth):
        shapes[name + ".weight"], shapes[name + ".bias"] = [out, depth], [out]

    def norm(name):
        shapes[name + ".weight"], shapes[name + ".bias"] = [width], [width]

    norm("embeddings.LayerNorm")
    for layer in range(config["num_hidden_layers"]):
        prefix = f"encoder.layer.{layer}."
        for name in ("query", "key", "value"):
            linear(f"{prefix}attention.self.{name}", width, width)
        linear(prefix + "attention.output.dense", width, width)
        norm(prefix + "attention.output.LayerNorm")
        linear(prefix + "intermediate.dense", inner, width)
        linear(prefix + "output.dense", width, inner)
        norm(prefix + "output.LayerNorm")
    return shapes


def write_weights(path, config):
    """Numbers from a normal distribution, a block of them over and over; times do not depend on it."""
    source = random.Random(1)
    block = struct.pack("<8191f", *(source.gauss(0, 0.02) for _ in range(8191)))
    header, offset = {}, 0
    for name, shape in shapes_of(config).items():
        size = 4
        for extent in shape:
            size *= extent
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.write((block * (offset // len(block) + 1))[:offset])


def write_pairs(path, length, count):
    source = random.Random(2)
    with open(path, "w", encoding="utf-8") as file:
        for _ in range(count):
            texts = [" ".join(source.choices(WORDS, k=length - 2)) for _ in range(2)]
            file.write(json.dumps({"query": texts[0], "document": texts[1]}) + "\n")


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"scaling.py: {' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
    return json.loads(done.stdout.strip().splitlines()[-1])


class Scaling:
    def __init__(self, options):
        self.options = options
        self.scratch = os.path.join(options.build, "bench", "scaling")
        self.program = os.path.join(options.build, "bench", "encoder_bench")
        os.makedirs(self.scratch, exist_ok=True)
        self.rates = {}

    def model(self, width, layers):
        if (width, layers) == (BASE["width"], BASE["layers"]):
            return self.options.model
        folder = os.path.join(self.scratch, f"random-{width}-{layers}")
        if not os.path.exists(os.path.join(folder, "model.safetensors")):
            write_model(self.options.model, folder, width, layers)
        return folder

    def rate(self, model, precision, threads):
        key = (model, precision, threads)
        if key not in self.rates:
            found = run([self.program, "products", model, "--precision", precision, "--threads", threads])
            self.rates[key] = found["flops_per_second"]
        return self.rates[key]

    def point(self, varied, value, threads, precision):
        at = dict(BASE, **{varied: value})
        model = self.model(at["width"], at["layers"])
        pairs = os.path.join(self.scratch, f"pairs-{at['length']}.jsonl")
        steps = self.options.steps
        write_pairs(pairs, at["length"], at["batch"] * (steps + 1))
        common = [pairs, "--precision", precision, "--threads", str(threads), "--max-tokens", "512"]
        training = run([self.program, "training", model, *common, "--batch", str(at["batch"]),
                        "--steps", str(steps), "--seconds", str(self.options.seconds)])
        encoding = run([self.program, "encoding", model, *common])
        rate = self.rate(model, precision, str(threads))
        for what, found, count in (("training", training, training["steps"]),
                                   ("encoding", encoding, encoding["texts"])):
            speed = found["tokens"] / found["seconds"]
            yield [varied, value, found["isa"], precision, threads, what, f"{found['seconds'] / count:.6f}",
                   f"{speed:.0f}", f"{speed * found['flops_per_token'] / rate:.4f}"]


def draw(tsv, svg, rows):
    kinds = " ".join(sorted({f"{row[2]}:{row[3]}" for row in rows}))
    plot(f"tsv='{tsv}'; svg='{svg}'; kinds='{kinds}'", "scaling.gp", svg)


def plot(settings, script, svg):
    """Removes what gnuplot repeats in its SVG; a third of the size is left."""
    subprocess.run(["gnuplot", "-e", settings, os.path.join(os.path.dirname(__file__), script)], check=True)
    with open(svg, encoding="utf-8") as file:
        text = file.read()
    for pattern, by in ((r"<defs>.*?</defs>", ""), (r"<g [^>]*>\s*</g>", ""), ("\t", ""),
                        (r' color="\w+" stroke="currentColor"', ""), (r"(\d)\.00\b", r"\1"),
                        (r' stroke-linecap="butt" stroke-linejoin="miter"', ""),
                        (r"<title>gnuplot_plot_\w+</title>", ""), (r" +", " "), (r"\n+", "\n")):
        text = re.sub(pattern, by, text, flags=re.S)
    with open(svg, "w", encoding="utf-8") as file:
        file.write(text)


def save(path, rows):
    rows.sort(key=lambda row: (list(POINTS).index(row[0]), int(row[1]), row[2:6]))
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.writelines("\t".join(row) + "\n" for row in [COLUMNS] + rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--output", required=True)
    parser.add_argument("--svg", help="picture to draw")
    parser.add_argument("--varied", default=",".join(POINTS))
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--precisions", default="fp32,bf16", help="bf16 needs AVX512-BF16 or AMX")
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2)
    options = parser.parse_args()
    scaling = Scaling(options)
    rows = []
    if os.path.exists(options.output):  # what is not measured again stays
        with open(options.output, encoding="utf-8") as file:
            rows = [line.rstrip("\n").split("\t") for line in file][1:]
    varied = [name for name in options.varied.split(",") if name]
    threads = [int(t) for t in options.threads.split(",")]
    precisions = options.precisions.split(",")
    for name in varied:
        for value in POINTS[name]:
            for count in threads:
                for precision in precisions:
                    for found in scaling.point(name, value, count, precision):
                        new = list(map(str, found))
                        rows = [row for row in rows if row[:6] != new[:6]] + [new]
                        print("\t".join(new), file=sys.stderr, flush=True)
            save(options.output, rows)  # so that a run that is stopped has not been for nothing
    if options.svg:
        draw(options.output, options.svg, rows)


if __name__ == "__main__":
    main()
