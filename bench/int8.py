#!/usr/bin/env python3
"""What eight bits cost and bring: nDCG@10 and speed of encoding, beside OpenVINO's int8.

    PYTHON bench/int8.py --program build/release/tandem --model FOLDER --data FOLDER [--data FOLDER]...
        [--documents N] [--timed N] [--work FOLDER]

PYTHON has numpy, openvino, nncf, tokenizers and safetensors (no torch; see peer_openvino_int8.py).
FOLDER of --data is a BEIR folder with split test. With --documents only that many of its documents
are ranked, all judged ones among them. `tandem evaluate` and `tandem encode` run in fp32, in int8 and,
where the processor has fast bf16 products, in bf16; OpenVINO in fp32 and in int8, made by nncf from
300 of the documents.

nDCG@10 is that of `tandem evaluate`, for OpenVINO of a run with its 100 best documents. Cosine: the
least and the mean of embeddings with Tandem's in fp32, over the timed texts. Speed is that of the first
--timed documents of the first --data, tokens of texts a second, without padding: `tandem encode` as a
whole, less the time of encoding one text; OpenVINO without start, conversion and tokenising, which
Tandem's figure has. Programs take turns, each --turns times, and the best of each counts.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np


def note(text):
    print(f"int8.py: {text}", file=sys.stderr, flush=True)


def records(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def write_records(path, rows):
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def judged(folder):
    with open(os.path.join(folder, "qrels", "test.tsv"), encoding="utf-8") as file:
        next(file)
        return [line.split("\t") for line in file]


def smaller(folder, count, to):
    """A copy of a BEIR folder with `count` documents, all judged ones of its test split among them."""
    os.makedirs(os.path.join(to, "qrels"), exist_ok=True)
    wanted = {row[1] for row in judged(folder)}
    asked = {row[0] for row in judged(folder)}
    corpus = records(os.path.join(folder, "corpus.jsonl"))
    others = [row for row in corpus if row["_id"] not in wanted]
    kept = {row["_id"] for row in others[:max(0, count - len(wanted))]} | wanted
    write_records(os.path.join(to, "corpus.jsonl"), [row for row in corpus if row["_id"] in kept])
    queries = records(os.path.join(folder, "queries.jsonl"))
    write_records(os.path.join(to, "queries.jsonl"), [row for row in queries if row["_id"] in asked])
    with open(os.path.join(folder, "qrels", "test.tsv"), encoding="utf-8") as file:
        text = file.read()
    with open(os.path.join(to, "qrels", "test.tsv"), "w", encoding="utf-8") as file:
        file.write(text)
    return to


class Bench:
    def __init__(self, options):
        self.options = options
        self.peer = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peer_openvino_int8.py")

    def tandem(self, *arguments):
        command = [self.options.program, *arguments, "--quiet"]
        if self.options.threads:
            command += ["--threads", str(self.options.threads)]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout

    def has_bf16(self):
        command = [self.options.program, "encode", "--model", self.options.model, "--input", "-",
                   "--output", os.path.join(self.options.work, "none"), "--precision", "bf16", "--force"]
        done = subprocess.run(command, input='{"_id": "a", "text": "a"}\n', text=True,
                              stderr=subprocess.DEVNULL)
        return done.returncode == 0

    def encode(self, texts, precision, kind="document"):
        """Seconds, and the embeddings."""
        to = os.path.join(self.options.work, "tandem-" + precision)
        start = time.perf_counter()
        self.tandem("encode", "--model", self.options.model, "--input", texts, "--output", to,
                    "--precision", precision, "--kind", kind, "--force")
        return time.perf_counter() - start, np.load(os.path.join(to, "embeddings.npy"))

    def openvino(self, texts, precision, calibration, batch=0):
        to = os.path.join(self.options.work, "openvino-" + precision)
        command = [sys.executable, self.peer, self.options.model, texts, "--precision", precision,
                   "--output", to, "--calibration-texts", calibration, "--batch", str(batch),
                   "--threads", str(self.options.threads)]
        lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               text=True).stdout.splitlines()
        return json.loads(lines[-1]), np.load(os.path.join(to, "embeddings.npy"))

    def ndcg_of_model(self, folder, precision):
        out = self.tandem("evaluate", "--model", self.options.model, "--dataset", folder,
                          "--measures", "ndcg@10", "--format", "json", "--precision", precision)
        return json.loads(out)["measures"]["ndcg@10"]

    def ndcg_of_openvino(self, folder, precision):
        corpus = os.path.join(folder, "corpus.jsonl")
        _, documents = self.openvino(corpus, precision, corpus, batch=16)
        _, queries = self.openvino(os.path.join(folder, "queries.jsonl"), precision, corpus, batch=16)
        names = [row["_id"] for row in records(corpus)]
        run = os.path.join(self.options.work, "run.trec")
        with open(run, "w", encoding="utf-8") as file:
            for query, row in zip(records(os.path.join(folder, "queries.jsonl")), queries):
                scores = documents @ row
                for rank, i in enumerate(np.argsort(-scores)[:100]):
                    file.write(f"{query['_id']} Q0 {names[i]} {rank + 1} {scores[i]:.9g} openvino\n")
        out = self.tandem("evaluate", "--qrels", os.path.join(folder, "qrels", "test.tsv"), "--run", run,
                          "--measures", "ndcg@10", "--format", "json")
        return json.loads(out)["measures"]["ndcg@10"]

    def quality(self, folders, precisions):
        rows = []
        for name, folder in folders:
            values = {}
            for precision in precisions:
                note(f"{name}: Tandem in {precision}")
                values["Tandem " + precision] = self.ndcg_of_model(folder, precision)
            if not self.options.no_peer:
                for precision in ("fp32", "int8"):
                    note(f"{name}: OpenVINO in {precision}")
                    values["OpenVINO " + precision] = self.ndcg_of_openvino(folder, precision)
            count = len(records(os.path.join(folder, "corpus.jsonl")))
            rows.append((name, count, values))
        return rows

    def speed(self, folder, precisions):
        corpus = records(os.path.join(folder, "corpus.jsonl"))[:self.options.timed]
        texts = os.path.join(self.options.work, "timed.jsonl")
        single = os.path.join(self.options.work, "single.jsonl")
        write_records(texts, corpus)
        write_records(single, [{"_id": "a", "text": "a"}])
        calibration = os.path.join(folder, "corpus.jsonl")
        best, rows, tokens = {}, {}, 0
        for _ in range(self.options.turns):
            for precision in precisions:
                name = "Tandem " + precision
                start, _ = self.encode(single, precision)
                seconds, rows[name] = self.encode(texts, precision)
                best[name] = min(best.get(name, 1e9), seconds - start)
            for precision in () if self.options.no_peer else ("fp32", "int8"):
                name = "OpenVINO " + precision
                result, rows[name] = self.openvino(texts, precision, calibration)
                best[name] = min(best.get(name, 1e9), result["seconds"])
                tokens = result["tokens"]
        reference = rows["Tandem fp32"]
        cosines = {name: (found * reference).sum(1) for name, found in rows.items()}
        return best, cosines, tokens


def table(head, rows):
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    lines = [head, ["-" * width for width in widths], *rows]
    return "\n".join("| " + " | ".join(c.ljust(w) for c, w in zip(row, widths)) + " |" for row in lines)


def report(bench, quality, speed):
    names = list(quality[0][2])
    head = ["nDCG@10", "documents", *names]
    rows = [[name, f"{count:,}", *(f"{values[n]:.4f}" for n in names)] for name, count, values in quality]
    text = table(head, rows)
    best, cosines, tokens = speed
    base = best["Tandem fp32"]
    head = ["encoding", "tokens/s", "of Tandem's fp32", "cosine, least", "mean"]
    rows = [[name, f"{tokens / seconds / 1000:.2f} k" if tokens else "-", f"{base / seconds:.2f}x",
             f"{cosines[name].min():.4f}", f"{cosines[name].mean():.4f}"] for name, seconds in best.items()]
    return text + "\n\n" + table(head, rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", action="append", required=True)
    parser.add_argument("--documents", type=int, default=0, help="0: all")
    parser.add_argument("--timed", type=int, default=1000)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--work", default=tempfile.mkdtemp(prefix="int8-bench-"))
    parser.add_argument("--only", choices=["quality", "speed"])
    parser.add_argument("--no-peer", action="store_true")
    options = parser.parse_args()
    os.makedirs(options.work, exist_ok=True)
    bench = Bench(options)
    precisions = ["fp32", "int8"] + (["bf16"] if bench.has_bf16() else [])
    folders = []
    for folder in options.data:
        name = os.path.basename(os.path.normpath(folder))
        count = options.documents or 10**9
        folders.append((name, smaller(folder, count, os.path.join(options.work, name))))
    quality = bench.quality(folders, precisions) if options.only != "speed" else None
    speed = bench.speed(folders[0][1], precisions) if options.only != "quality" else None
    print(report(bench, quality, speed))


if __name__ == "__main__":
    main()
