#!/usr/bin/env python3
"""Training speed on a GPU beside sentence-transformers', on the same texts, in tokens a second.

    python speed.py --program TANDEM --data BEIR --work FOLDER --peer peer_sentence_transformers.py
        --peer-python PYTHON --device cuda|cpu [--steps N] [--batches 64,256] [--least RATIO] MODEL

Both train MODEL with in-batch negatives, AdamW, texts of up to 256 tokens, on a GPU in bf16 (the peer by
autocast, as its trainer's `bf16=True`), on the processor in float32. Tandem's time is that of whole
steps in `tandem train` (timing.jsonl), batches made and tokens copied; the peer's is that of its step
with texts tokenised before. The peer's attention is torch's scaled_dot_product_attention, and
flash_attention_2 where flash_attn is installed: the faster one counts. Five steps warm up. Everything
is measured twice, in turns; the better measurement of each counts. Padding is no token.

Exit 1 where Tandem is slower than --least times the peer at any size of batch.
"""

import argparse
import importlib.util
import json
import os
import random
import subprocess
import sys

from runs import read_rows, train

WARM_UP = 5
MAX_TOKENS = 256


def read_pairs(folder):
    """(query, document) of the split train."""
    def texts(name):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            return {row["_id"]: " ".join(filter(None, (row.get("title", ""), row["text"])))
                    for row in map(json.loads, file)}

    documents, queries = texts("corpus.jsonl"), texts("queries.jsonl")
    with open(os.path.join(folder, "qrels", "train.tsv"), encoding="utf-8") as file:
        next(file)
        judged = [line.split() for line in file]
    return [(queries[query], documents[document]) for query, document, grade in judged if int(grade) > 0]


def write_pairs(options, path, count):
    """As many pairs as the steps take, shuffled anew for each turn through them."""
    pairs, stream = read_pairs(options.data), random.Random(1)
    os.makedirs(options.work, exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        while count > 0:
            stream.shuffle(pairs)
            for query, document in pairs[:count]:
                file.write(json.dumps({"query": query, "document": document}) + "\n")
            count -= len(pairs)


def precision(options):
    return "bf16" if options.device == "cuda" else "fp32"


def tandem_rate(options, batch):
    output = os.path.join(options.work, f"tandem-{batch}")
    train(options, output, {
        "seed": 1, "model.base": options.model, "model.max_query_tokens": MAX_TOKENS,
        "model.max_document_tokens": MAX_TOKENS, "data.train": options.data, "objective.name": "infonce",
        "train.batch": batch, "train.steps": options.steps + WARM_UP, "logging.every": WARM_UP,
    }, ["--precision", precision(options), "--device", options.device])
    rows = [row for row in read_rows(os.path.join(output, "timing.jsonl"), "step") if row["step"] > WARM_UP]
    return sum(row["tokens"] for row in rows) / sum(row["seconds"] for row in rows)


def peer_rate(options, batch, attention):
    pairs = os.path.join(options.work, f"pairs-{batch}.jsonl")
    write_pairs(options, pairs, batch * (options.steps + WARM_UP))
    command = [options.peer_python, options.peer, "training", options.model, pairs, "--precision",
               precision(options), "--device", options.device, "--attention", attention, "--batch", str(batch),
               "--steps", str(options.steps), "--warm-up", str(WARM_UP), "--max-tokens", str(MAX_TOKENS),
               "--seconds", "600"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"exit {done.returncode} of {' '.join(command)}\n{done.stderr}")
    result = json.loads(done.stdout.splitlines()[-1])
    return result["tokens"] / result["seconds"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--program", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--peer", required=True)
    parser.add_argument("--peer-python", required=True)
    parser.add_argument("--device", choices=["cuda", "cpu"], required=True)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--batches", default="64,256")
    parser.add_argument("--least", type=float, default=0)
    options = parser.parse_args()
    attentions = ["sdpa"]
    if options.device == "cuda" and importlib.util.find_spec("flash_attn"):
        attentions.append("flash_attention_2")
    name, held = os.path.basename(options.model), True
    for batch in map(int, options.batches.split(",")):
        own, peers = 0.0, dict.fromkeys(attentions, 0.0)
        for _ in range(2):
            own = max(own, tandem_rate(options, batch))
            for attention in attentions:
                peers[attention] = max(peers[attention], peer_rate(options, batch, attention))
        best = max(peers, key=peers.get)
        ratio = own / peers[best]
        held = held and ratio >= options.least
        print(f"= {name}, {batch} pairs a step, {options.device}, {precision(options)}: {own:,.0f} tokens/s; "
              f"sentence-transformers ({best}) {peers[best]:,.0f}; ratio {ratio:.2f}"
              + (f": {'held' if ratio >= options.least else 'FAILED'}, at least {options.least:g}"
                 if options.least else ""), flush=True)
    sys.exit(0 if held else 1)


if __name__ == "__main__":
    main()
