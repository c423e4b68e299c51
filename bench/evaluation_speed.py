#!/usr/bin/env python3
"""Prints how fast `tandem evaluate` is beside pytrec_eval and ranx, on the same run.

Run it with a Python that has one or both of the packages (pytrec-eval-terrier, ranx):

    python bench/evaluation_speed.py --program build/release/tandem

Each is measured from the files on disk to the means, best of three, on one thread, in processor
time (user and system), which other work on the machine disturbs little. For the peers the time
without reading the files is printed too. A ratio above 1 says how many times longer the peer takes.
The means of all are compared, so that nobody is fast at something else.
"""

import argparse
import json
import os
import random
import subprocess
import tempfile

OURS = ["ndcg@10", "map", "recall@100", "precision@10"]


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


def best_of_three(work):
    """Processor seconds of the fastest of three calls, and what the last returned."""
    times = []
    for _ in range(3):
        start = processor_time()
        result = work()
        times.append(processor_time() - start)
    return min(times), result


def tandem(program, run, qrels):
    command = [program, "evaluate", "--run", run, "--qrels", qrels, "--format", "json"]
    command += ["--threads", "1", "--measures", ",".join(OURS)]
    out = subprocess.run(command, check=True, capture_output=True).stdout
    return json.loads(out)["measures"]


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def pytrec_eval_times(run, qrels):
    import pytrec_eval

    names = {"ndcg_cut.10": "ndcg_cut_10", "map": "map", "recall.100": "recall_100", "P.10": "P_10"}

    def read():
        with open(run) as run_file, open(qrels) as qrels_file:
            return pytrec_eval.parse_run(run_file), pytrec_eval.parse_qrel(qrels_file)

    read_run, read_qrels = read()

    def evaluate(the_run, the_qrels):
        got = pytrec_eval.RelevanceEvaluator(the_qrels, set(names)).evaluate(the_run)
        return [mean(query[name] for query in got.values()) for name in names.values()]

    whole, values = best_of_three(lambda: evaluate(*read()))
    return whole, best_of_three(lambda: evaluate(read_run, read_qrels))[0], values


def ranx_times(run, qrels):
    import numba
    import ranx

    numba.set_num_threads(1)
    names = ["ndcg@10", "map", "recall@100", "precision@10"]

    def read():
        return ranx.Qrels.from_file(qrels, kind="trec"), ranx.Run.from_file(run, kind="trec")

    read_qrels, read_run = read()

    def evaluate(the_qrels, the_run):
        got = ranx.evaluate(the_qrels, the_run, names)
        return [float(got[name]) for name in names]

    evaluate(read_qrels, read_run)  # compiles
    whole, values = best_of_three(lambda: evaluate(*read()))
    return whole, best_of_three(lambda: evaluate(read_qrels, read_run))[0], values


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="build/release/tandem")
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--results", type=int, default=1000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run, qrels = write_data(folder, options.queries, options.results)
        megabytes = os.path.getsize(run) / 1e6
        ours, measures = best_of_three(lambda: tandem(options.program, run, qrels))
        print(f"{options.queries} queries x {options.results} results, {megabytes:.1f} MB")
        print(f"tandem       {ours:8.3f} s  {megabytes / ours:6.0f} MB/s")
        for name, times in (("pytrec_eval", pytrec_eval_times), ("ranx", ranx_times)):
            try:
                whole, evaluation, values = times(run, qrels)
            except ImportError:
                print(f"{name:12} not installed")
                continue
            difference = max(abs(a - b) for a, b in zip(values, measures.values()))
            print(
                f"{name:12} {whole:8.3f} s  ratio {whole / ours:6.1f}   without reading "
                f"{evaluation:.3f} s, ratio {evaluation / ours:.1f}   largest difference "
                f"of a mean {difference:.1e}"
            )


if __name__ == "__main__":
    main()
