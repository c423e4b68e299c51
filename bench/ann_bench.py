#!/usr/bin/env python3
"""Recall against time of approximate search: Tandem's kinds of index beside other libraries.

    python3 bench/ann_bench.py --build build/release --vectors million.npy --queries queries.npy
        --output docs/figures/ann.tsv [--svg docs/figures/ann.svg] [--only tandem,hnswlib,...]

VECTORS and QUERIES are float32 rows of length 1, as `tandem encode` writes them. Everything is
built and searched in one run on the same rows with two threads; recall is that of the best 10
against exact search. Python needs numpy, faiss-cpu, hnswlib and usearch; what is missing is left
out. TSV: who, effort, recall@10, ms/query on one thread, on two (queries beside each other), bytes
in memory, bytes on disk, seconds of building. `--svg` draws the TSV with gnuplot.
"""

import argparse
import os
import subprocess
import sys
import time

COLUMNS = ["who", "effort", "recall_at_10", "ms_one_thread", "ms_two_threads", "resident_bytes",
           "disk_bytes", "build_seconds"]
TANDEM = ["hnsw", "ivf_flat", "ivf_pq"]
EFFORTS = [10, 16, 32, 64, 128, 256, 512]
PROBES = [1, 2, 4, 8, 16, 32, 64, 128, 256]
DEPTH = 10
THREADS = 2


def exact(vectors, queries):
    import numpy as np

    worst = []
    for begin in range(0, len(queries), 100):
        scores = queries[begin:begin + 100] @ vectors.T
        worst.append(np.partition(scores, -DEPTH, axis=1)[:, -DEPTH])
    return np.concatenate(worst)


class Judge:
    """Recall and time of a function (queries, threads) -> row numbers."""

    def __init__(self, vectors, queries):
        self.vectors, self.queries = vectors, queries
        self.worst = exact(vectors, queries)

    def recall(self, rows):
        import numpy as np

        scores = np.einsum("qkd,qd->qk", self.vectors[np.asarray(rows)], self.queries)
        return float((scores >= self.worst[:, None] - 1e-6).mean())

    def line(self, who, effort, search, resident, seconds):
        rows = search(self.queries, 1)
        times = []
        for threads in (1, THREADS):
            best = 1e9
            for _ in range(3):
                begin = time.perf_counter()
                search(self.queries, threads)
                best = min(best, time.perf_counter() - begin)
            times.append(1e3 * best / len(self.queries))
        return [who, effort, f"{self.recall(rows):.4f}", f"{times[0]:.4f}", f"{times[1]:.4f}",
                int(resident), 0, f"{seconds:.1f}"]


def timed(work):
    begin = time.perf_counter()
    result = work()
    return result, time.perf_counter() - begin


def run_tandem(arguments, _judge):
    for kind in arguments.kinds.split(";"):
        command = [os.path.join(arguments.build, "bench/ann_bench"), arguments.vectors,
                   arguments.queries, kind]
        output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        for line in output.splitlines():
            yield ["tandem " + line.split("\t")[0]] + line.split("\t")[1:]


def run_hnswlib(_arguments, judge):
    import hnswlib

    count, width = judge.vectors.shape
    index = hnswlib.Index(space="ip", dim=width)
    index.init_index(max_elements=count, M=16, ef_construction=100, random_seed=1)
    _, seconds = timed(lambda: index.add_items(judge.vectors, num_threads=THREADS))
    resident = count * (4 * width + 8 + 4 * (2 * 16 + 1))
    for effort in EFFORTS:
        index.set_ef(effort)
        yield judge.line("hnswlib", effort, lambda q, threads: index.knn_query(
            q, k=DEPTH, num_threads=threads)[0], resident, seconds)


def faiss_search(faiss, index):
    def search(queries, threads):
        faiss.omp_set_num_threads(threads)
        return index.search(queries, DEPTH)[1]
    return search


def run_faiss(_arguments, judge):
    import faiss

    faiss.omp_set_num_threads(THREADS)
    count, width = judge.vectors.shape
    lists = max(1, min(int(4 * count ** 0.5), count // 16, 16384))

    def build(text):
        faiss.omp_set_num_threads(THREADS)
        index = faiss.index_factory(width, text, faiss.METRIC_INNER_PRODUCT)
        if text.startswith("HNSW"):
            index.hnsw.efConstruction = 100
        index.train(judge.vectors[:: max(1, count // (40 * lists))])
        index.add(judge.vectors)
        return index

    index, seconds = timed(lambda: build("HNSW16,Flat"))
    for effort in EFFORTS:
        index.hnsw.efSearch = effort
        yield judge.line("faiss HNSW16,Flat", effort, faiss_search(faiss, index),
                         count * (4 * width + 8 * 16), seconds)
    for text, resident in ((f"IVF{lists},Flat", 4 * width + 8),
                           (f"IVF{lists},PQ{width // 8},RFlat", 4 * width + width // 8 + 8)):
        index, seconds = timed(lambda: build(text))
        inner = faiss.downcast_index(index.base_index) if "RFlat" in text else index
        if "RFlat" in text:
            index.k_factor = 16
        for probes in PROBES:
            inner.nprobe = probes
            yield judge.line(f"faiss {text}", probes, faiss_search(faiss, index),
                             count * resident, seconds)


def run_usearch(_arguments, judge):
    from usearch.index import Index
    import numpy as np

    count, width = judge.vectors.shape
    for dtype in ("f32", "i8"):
        index = Index(ndim=width, metric="cos", dtype=dtype, connectivity=16, expansion_add=100)
        _, seconds = timed(
            lambda: index.add(np.arange(count), judge.vectors, threads=THREADS))
        for effort in EFFORTS:
            index.expansion_search = effort
            yield judge.line(f"usearch {dtype}", effort, lambda q, threads: index.search(
                q, DEPTH, threads=threads).keys, index.memory_usage, seconds)


def draw(tsv, svg):
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ann_bench.gp")
    with open(tsv, encoding="utf-8") as file:
        who = dict.fromkeys(line.split("\t")[0] for line in list(file)[1:])
    names = [name for name in who if " own " not in name]
    subprocess.run(["gnuplot", "-e", f"tsv='{tsv}'; svg='{svg}'; names=\"{'|'.join(names)}\"",
                    script], check=True)


RUNS = {"tandem": run_tandem, "hnswlib": run_hnswlib, "faiss": run_faiss, "usearch": run_usearch}


def measure(arguments):
    import numpy as np

    judge = Judge(np.load(arguments.vectors), np.load(arguments.queries))
    with open(arguments.output, "w", encoding="utf-8") as file:
        print(*COLUMNS, sep="\t", file=file, flush=True)
        for name in arguments.only.split(","):
            try:
                for line in RUNS[name](arguments, judge):
                    print(*line, sep="\t", file=file, flush=True)
                    print(*line, sep="\t", flush=True)
            except ImportError as error:
                print(f"{name} is left out: {error}", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--vectors", help=".npy")
    parser.add_argument("--queries", help=".npy")
    parser.add_argument("--output", required=True, help="TSV")
    parser.add_argument("--svg")
    parser.add_argument("--only", default=",".join(RUNS), help="empty: only draw")
    parser.add_argument("--kinds", default=";".join(TANDEM),
                        help="of Tandem, with parameters: hnsw:m=32;ivf_pq")
    arguments = parser.parse_args()
    if arguments.only:
        measure(arguments)
    if arguments.svg:
        draw(arguments.output, arguments.svg)


if __name__ == "__main__":
    main()
