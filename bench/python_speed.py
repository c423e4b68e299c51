#!/usr/bin/env python3
"""Measures the Python package beside the program and pytrec_eval: python_speed.py --model FOLDER [--program tandem]

Run by a Python that has the package; pytrec_eval is measured where it is installed. Prints each figure with its ratio.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np


def seconds(work, repeats=5):
    """The shortest of several runs."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def import_seconds():
    """What the import takes, and what NumPy takes of that: (all, NumPy), the shortest of several processes."""
    code = ("import time; a = time.perf_counter(); import numpy; b = time.perf_counter(); import tandem_retrieval; "
            "print(time.perf_counter() - a, b - a)")
    return min(tuple(map(float, subprocess.run([sys.executable, "-c", code], check=True, capture_output=True,
                                               text=True).stdout.split()))
               for _ in range(10))


def sentences(count):
    random = np.random.default_rng(1)
    words = ("the a of station train bread north baker planet telescope rain coast night city river question answer "
             "paper model document query search engine result").split()
    return [" ".join(random.choice(words, random.integers(5, 120))) for _ in range(count)]


def encoding(program, model_folder, count):
    """Encoding alone: of the program the difference between many texts and few, so that its start is left out."""
    import tandem_retrieval as tandem

    texts = sentences(count)
    model = tandem.Model(model_folder)
    with tempfile.TemporaryDirectory() as folder:
        def by_program(some):
            corpus = Path(folder, "texts.jsonl")
            corpus.write_text("".join(json.dumps({"_id": str(i), "text": text}) + "\n" for i, text in enumerate(some)))
            return seconds(lambda: subprocess.run(
                [program, "encode", "--model", model_folder, "--kind", "document", str(corpus), "--output",
                 f"{folder}/rows.npy", "--force", "--quiet"], check=True), 3)

        few = texts[: count // 8]
        model.encode(few)
        program_seconds = by_program(texts) - by_program(few)
        python_seconds = (seconds(lambda: model.encode(texts, progress=False), 3)
                          - seconds(lambda: model.encode(few, progress=False), 3))
    return program_seconds, python_seconds


def measures(queries, documents, order):
    """Seconds of ours and of pytrec_eval, None where it is not installed; `order` is that of a query's documents."""
    import tandem_retrieval as tandem

    random = np.random.default_rng(2)
    ids = [f"doc{d}" for d in range(documents)]
    run = {}
    for query in range(queries):
        scores = random.random(documents)
        places = {"by id": np.arange(documents), "by score": np.argsort(-scores),
                  "shuffled": random.permutation(documents)}[order]
        run[f"q{query}"] = {ids[place]: float(scores[place]) for place in places}
    qrels = {query: {ids[d]: int(random.integers(0, 3)) for d in random.integers(0, documents, 20)} for query in run}
    ours = seconds(lambda: tandem.evaluate(qrels=qrels, run=run, measures="ndcg@10,map,recall@100,mrr"))
    try:
        import pytrec_eval
    except ImportError:
        return ours, None
    names = {"ndcg_cut.10", "map", "recall.100", "recip_rank"}
    theirs = seconds(lambda: pytrec_eval.RelevanceEvaluator(qrels, names).evaluate(run))
    return ours, theirs


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True)
    parser.add_argument("--program", default="tandem")
    parser.add_argument("--texts", type=int, default=4096)
    arguments = parser.parse_args()
    whole, of_numpy = import_seconds()
    print(f"import: {whole:.3f} s, of which NumPy takes {of_numpy:.3f} s", flush=True)
    for order in ("shuffled", "by id", "by score"):
        ours, theirs = measures(1000, 1000, order)
        peer = f", pytrec_eval {theirs:.3f} s, {theirs / ours:.1f} times" if theirs else ""
        print(f"evaluate of dicts, 1,000 queries x 1,000 documents {order}: {ours:.3f} s{peer}", flush=True)
    program, python = encoding(arguments.program, arguments.model, arguments.texts)
    print(f"encode {arguments.texts} texts: program {program:.2f} s, Python {python:.2f} s, {program / python:.3f} of "
          "the program's rate")


if __name__ == "__main__":
    main()
