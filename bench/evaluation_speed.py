#!/usr/bin/env python3
"""Prints how fast `tandem evaluate` is beside pytrec_eval and ranx, on the same run.

Run it with a Python that has one or both of the packages (pytrec-eval-terrier, ranx with pandas):

    python bench/evaluation_speed.py --program build/release/tandem
    python bench/evaluation_speed.py --program build/release/tandem --queries 7000 --repeats 2

The first is 1,000 queries x 1,000 results x 10 measures, the second has the size of MS MARCO's
development queries. Runs and judgements are made in a temporary folder. Each program is measured
from the files on disk to the means, the best of `--repeats` turns that the programs take one after
the other: by the clock, with the threads that are asked for (ranx has threads too, pytrec_eval has
none), and in processor time (user and system, of all threads), which other work on the machine
disturbs little. Tandem's time has the start of its process in it; the peers' time has no imports in
it, and for ranx, which numba compiles, nothing that is compiled. The peers read in each way that
their documentation shows, and the fastest counts: pytrec_eval.parse_run, ranx.Run.from_file, and
ranx.Run.from_df of what pandas reads. A ratio above 1 says how many times longer the peer takes. The
means of all are compared, so that nobody is fast at something else.
"""

import argparse
import json
import os
import random
import subprocess
import tempfile
import time

# Our name, pytrec_eval's when asked and in its answer, ranx's; "" where the peer has none.
MEASURES = [
    ("ndcg@10", "ndcg_cut.10", "ndcg_cut_10", "ndcg@10"),
    ("ndcg", "ndcg", "ndcg", "ndcg"),
    ("map", "map", "map", "map"),
    ("map@10", "map_cut.10", "map_cut_10", "map@10"),
    ("mrr", "recip_rank", "recip_rank", "mrr"),
    ("recall@100", "recall.100", "recall_100", "recall@100"),
    ("recall@1000", "recall.1000", "recall_1000", "recall@1000"),
    ("precision@10", "P.10", "P_10", "precision@10"),
    ("success@1", "success.1", "success_1", "hit_rate@1"),
    ("rprec", "Rprec", "Rprec", "r-precision"),
]


def write_data(folder, queries, results):
    """A run with some ties and qrels with 60 judgements a query; returns both paths."""
    source = random.Random(1)
    run, qrels = os.path.join(folder, "run.trec"), os.path.join(folder, "qrels.trec")
    with open(run, "w") as run_file, open(qrels, "w") as qrels_file:
        for query in range(queries):
            documents = source.sample(range(10_000_000), results + 30)
            scores = sorted((round(source.gauss(0.5, 0.1), 5) for _ in range(results)), reverse=True)
            for rank, (document, score) in enumerate(zip(documents, scores), 1):
                run_file.write(f"q{query} Q0 doc{document} {rank} {score} bench\n")
            for document in source.sample(documents[:results], 30) + documents[results:]:
                qrels_file.write(f"q{query} 0 doc{document} {source.choice([0, 0, 1, 2])}\n")
    return run, qrels


def processor_time():
    """Seconds of this process and of the children it has waited for."""
    return sum(os.times()[:4])


def timed(work):
    """Processor seconds and seconds of one call, and what it returned."""
    start, clock = processor_time(), time.perf_counter()
    result = work()
    return processor_time() - start, time.perf_counter() - clock, result


def tandem(program, run, qrels, threads):
    command = [program, "evaluate", "--run", run, "--qrels", qrels, "--format", "json"]
    command += ["--threads", str(threads), "--measures", ",".join(ours for ours, *_ in MEASURES)]
    out = subprocess.run(command, check=True, capture_output=True).stdout
    return list(json.loads(out)["measures"].values())


def pytrec_eval_ways(run, qrels, _):
    """[(name, function that reads and evaluates)]"""
    import pytrec_eval

    def evaluate():
        with open(run) as run_file, open(qrels) as qrels_file:
            the_run, judged = pytrec_eval.parse_run(run_file), pytrec_eval.parse_qrel(qrels_file)
        evaluator = pytrec_eval.RelevanceEvaluator(judged, {asked for _, asked, *_ in MEASURES})
        values = list(evaluator.evaluate(the_run).values())
        return [sum(v[name] for v in values) / len(values) for _, _, name, _ in MEASURES]

    return [("pytrec_eval", evaluate)]


def ranx_ways(run, qrels, threads):
    import numba
    import pandas
    import ranx

    numba.set_num_threads(threads)
    names = [name for *_, name in MEASURES]

    def means(judged, the_run):
        got = ranx.evaluate(judged, the_run, names)
        return [float(got[name]) for name in names]

    def from_files():
        return means(ranx.Qrels.from_file(qrels, kind="trec"), ranx.Run.from_file(run, kind="trec"))

    def frame(path, columns, types):
        return pandas.read_csv(path, sep=" ", header=None, names=columns, usecols=types, dtype=types)

    def from_frames():
        judged = frame(qrels, ["q_id", "0", "doc_id", "score"],
                       {"q_id": object, "doc_id": object, "score": int})  # fmt: skip
        found = frame(run, ["q_id", "Q0", "doc_id", "rank", "score", "tag"],
                      {"q_id": object, "doc_id": object, "score": float})  # fmt: skip
        return means(ranx.Qrels.from_df(judged), ranx.Run.from_df(found))

    return [("ranx, from_file", from_files), ("ranx, pandas", from_frames)]


def peers(run, qrels, threads):
    ways = []
    for make in (pytrec_eval_ways, ranx_ways):
        try:
            ways += make(run, qrels, threads)
        except ImportError as error:
            print(f"not installed: {error.name}")
    return ways


def warm_up(folder, threads):
    """Compiles what numba compiles, on a small run."""
    os.makedirs(folder)
    for _, evaluate in peers(*write_data(folder, 10, 40), threads):
        evaluate()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="build/release/tandem")
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--results", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        warm_up(os.path.join(folder, "small"), options.threads)
        run, qrels = write_data(folder, options.queries, options.results)
        ways = [("tandem", lambda: tandem(options.program, run, qrels, options.threads))]
        ways += peers(run, qrels, options.threads)
        turns = [[timed(work) for _, work in ways] for _ in range(options.repeats)]
        size = os.path.getsize(run) / 1e6
        print(f"{options.queries} queries x {options.results} results x {len(MEASURES)} measures, "
              f"{size:.0f} MB; {options.threads} threads, best of {options.repeats}")
        best = [[min(turn[i][time] for turn in turns) for time in range(2)]
                for i in range(len(ways))]
        for i, (name, _) in enumerate(ways):
            processor, clock = best[i]
            off = max(abs(a - b) for a, b in zip(turns[0][i][2], turns[0][0][2]))
            print(f"{name:16} by the clock {clock:8.3f} s  ratio {clock / best[0][1]:5.1f}  "
                  f"{size / clock:5.0f} MB/s  processor {processor:8.3f} s  "
                  f"ratio {processor / best[0][0]:5.1f}  largest difference of a mean {off:.1e}")


if __name__ == "__main__":
    main()
