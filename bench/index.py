#!/usr/bin/env python3
"""Exact search in an index beside its limits and its peers, on the same vectors in one run.

    python3 bench/index.py --build build/release [--peer-python PYTHON] [--rows 200000 1000000]

Prints, for one query and for a batch: milliseconds, the share of the rate at which the machine reads
memory (one query) or multiplies matrices (batch), the speed relative to the kind fp32, recall@10
against it, memory of searching, and the peers' milliseconds. The peers are faiss's IndexFlatIP,
hnswlib's BFIndex and usearch's exact search, all with inner products; PYTHON has faiss-cpu, hnswlib
and usearch, and by default is the python3 that runs this. A peer that is not installed is left out.

Vectors are random clusters of length 1 unless --vectors names a float32 .npy file; queries are rows of
it with noise. Each time is the best of several searches, each program alone on the machine.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time


def make_vectors(rows, width, path, queries_path, source):
    import numpy
    random = numpy.random.default_rng(1)
    if source:
        vectors = numpy.load(source, mmap_mode="r")[:rows].astype(numpy.float32)
    else:
        centres = random.standard_normal((max(1, rows // 100), width), dtype=numpy.float32)
        vectors = centres[random.integers(0, len(centres), rows)]
        vectors += random.standard_normal((rows, width), dtype=numpy.float32)
    vectors /= numpy.maximum(numpy.linalg.norm(vectors, axis=1, keepdims=True), 1e-30)
    queries = vectors[random.integers(0, rows, 512)].copy()
    queries += 0.5 / vectors.shape[1] ** 0.5 * random.standard_normal(queries.shape, dtype=numpy.float32)
    queries /= numpy.linalg.norm(queries, axis=1, keepdims=True)
    numpy.save(path, vectors)
    numpy.save(queries_path, queries)


def best_seconds(search, queries, count, least_seconds=1.0):
    best, start, turn = 1e30, time.perf_counter(), 0
    while turn < 2 or time.perf_counter() - start < least_seconds:
        starts = range(0, len(queries) - count + 1, count)
        for first in list(starts)[:20]:
            before = time.perf_counter()
            search(queries[first:first + count])
            best = min(best, time.perf_counter() - before)
        turn += 1
    return best


def peer(name, vectors, k, threads):
    """A function of queries [n, width] that searches for the best k."""
    if name == "faiss":
        import faiss
        faiss.omp_set_num_threads(threads)
        index = faiss.IndexFlatIP(vectors.shape[1])
        index.add(vectors)
        return lambda queries: index.search(queries, k)
    if name == "hnswlib":
        import hnswlib
        index = hnswlib.BFIndex(space="ip", dim=vectors.shape[1])
        index.init_index(max_elements=len(vectors))
        index.set_num_threads(threads)
        index.add_items(vectors)
        return lambda queries: index.knn_query(queries, k=k)
    import usearch.index
    return lambda queries: usearch.index.search(vectors, queries, k, usearch.index.MetricKind.IP,
                                                exact=True, threads=threads)


def run_peer(arguments):
    name, vectors_path, queries_path, k, batch, threads = arguments
    import numpy
    k, batch, threads = int(k), int(batch), int(threads)
    vectors, queries = numpy.load(vectors_path), numpy.load(queries_path)
    try:
        search = peer(name, vectors, k, threads)
    except ImportError as error:
        print(json.dumps({"peer": name, "missing": str(error)}))
        return
    print(json.dumps({"peer": name, "one_seconds": best_seconds(search, queries, 1),
                      "batch_seconds": best_seconds(search, queries, batch)}))


def lines_of(command):
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return [json.loads(line) for line in out.splitlines()]


def print_table(rows, width, batch, limits, kinds, peers):
    product = 2.0 * rows * width * batch
    fp32 = next(kind for kind in kinds if kind["kind"] == "fp32")
    print(f"\n{rows:,} vectors of {width}, {limits['threads']} threads, {limits['isa']}: reads "
          f"{limits['read_rate'] / 1e9:.1f} GB/s, multiplies {limits['product_rate'] / 1e9:.0f} GFLOP/s (fp32)\n")
    head = ["kind", "one query, ms", "share of reading", "times fp32", f"batch of {batch}, ms",
            "share of products", "times fp32", "recall@10", "memory, MB"]
    print("| " + " | ".join(head) + " |\n|" + " --- |" * len(head))
    for kind in kinds:
        one, many = kind["one_seconds"], kind["batch_seconds"]
        cells = [kind["kind"], f"{one * 1e3:.2f}",
                 f"{kind['resident_bytes'] / one / limits['read_rate']:.0%}",
                 f"{fp32['one_seconds'] / one:.2f}", f"{many * 1e3:.0f}",
                 f"{product / many / limits['product_rate']:.0%}", f"{fp32['batch_seconds'] / many:.2f}",
                 f"{kind['recall']:.5f}", f"{kind['resident_bytes'] / 1e6:.0f}"]
        print("| " + " | ".join(cells) + " |")
    for found in peers:
        if "missing" in found:
            print(f"| {found['peer']} | is not installed |")
            continue
        one, many = found["one_seconds"], found["batch_seconds"]
        print(f"| {found['peer']} | {one * 1e3:.2f} | | {fp32['one_seconds'] / one:.2f} | {many * 1e3:.0f} | "
              f"{product / many / limits['product_rate']:.0%} | {fp32['batch_seconds'] / many:.2f} | | |")
    sys.stdout.flush()


def main():
    if sys.argv[1:2] == ["--peer"]:
        run_peer(sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--peer-python", default=sys.executable)
    parser.add_argument("--rows", type=int, nargs="+", default=[200_000, 1_000_000])
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--vectors", help="float32 .npy; its first rows are taken")
    parser.add_argument("--make", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.make:
        rows, width, vectors, queries = options.make
        make_vectors(int(rows), int(width), vectors, queries, options.vectors)
        return
    for rows in options.rows:
        with tempfile.TemporaryDirectory(prefix="tandem-index-") as folder:
            vectors, queries = os.path.join(folder, "vectors.npy"), os.path.join(folder, "queries.npy")
            source = ["--vectors", options.vectors] if options.vectors else []
            # NumPy is the peers'.
            subprocess.run([options.peer_python, __file__, *source, "--make", str(rows),
                            str(options.width), vectors, queries], check=True)
            limits, *kinds = lines_of([os.path.join(options.build, "bench", "index_bench"), "--vectors", vectors,
                                       "--queries", queries, "--folder", os.path.join(folder, "kinds"),
                                       "--threads", str(options.threads), "--batch", str(options.batch)])
            peers = [found for name in ("faiss", "hnswlib", "usearch")
                     for found in lines_of([options.peer_python, __file__, "--peer", name, vectors, queries, "10",
                                            str(options.batch), str(options.threads)])]
            print_table(rows, options.width, options.batch, limits, kinds, peers)


main()
