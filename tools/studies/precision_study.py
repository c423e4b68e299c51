#!/usr/bin/env python3
"""What does another precision change? nDCG@10 of a model on five data sets and the cosines of its
embeddings with those of fp32, by precision.

    python3 tools/studies/precision_study.py --program build/release/tandem --model FOLDER --data FOLDER
        --work FOLDER [--update docs/performance.md]

--data holds the BEIR folders scifact, cranfield, medquad, squad-v1.1 and xquad/de. Each is cut to at
most DOCUMENTS documents, all that are judged for at most QUERIES queries of the split `test` among
them. (--only SET: measures this set and prints nothing.) Each precision that the processor computes
encodes queries and documents anew and ranks the documents. Cosines are of documents, each with the same
document in fp32. Every result is one file in WORK/results, and one that is there with the same settings
is not made again. The table is printed, and --update writes it between `<!-- precision study -->` and
`<!-- end -->` of a page.
"""

import argparse
import array
import ast
import json
import math
import os
import shutil
import struct

from beir_part import take_part
from study import Results, fail, markdown, run_program, update

SETS = ["scifact", "cranfield", "medquad", "squad-v1.1", "xquad/de"]
PRECISIONS = ["fp32", "bf16", "int8"]
DOCUMENTS = 1500
QUERIES = 500
MEASURE = "ndcg@10"


def read_rows(path):
    """The rows of a .npy file of float32, as lists."""
    with open(path, "rb") as file:
        if file.read(6) != b"\x93NUMPY":
            fail(f"{path} is no .npy file")
        major = file.read(2)[0]
        length = struct.unpack("<H" if major == 1 else "<I", file.read(2 if major == 1 else 4))[0]
        header = ast.literal_eval(file.read(length).decode())
        if header["descr"] != "<f4" or header["fortran_order"]:
            fail(f"{path} has no rows of float32")
        values = array.array("f")
        values.frombytes(file.read())
    count, width = header["shape"]
    return [values[i * width:(i + 1) * width] for i in range(count)]


def cosine(a, b):
    dot = math.fsum(x * y for x, y in zip(a, b))
    return dot / math.sqrt(math.fsum(x * x for x in a) * math.fsum(y * y for y in b))


def size_of(folder):
    with open(os.path.join(folder, "corpus.jsonl"), encoding="utf-8") as file:
        documents = sum(1 for _ in file)
    with open(os.path.join(folder, "queries.jsonl"), encoding="utf-8") as file:
        return documents, sum(1 for _ in file)


def part_of(options, name):
    folder = os.path.join(options.work, "data", name)
    if not os.path.exists(folder):
        partial = folder + ".partial"
        shutil.rmtree(partial, ignore_errors=True)
        take_part(os.path.join(options.data, name), partial, {"test": QUERIES}, DOCUMENTS)
        os.rename(partial, folder)
    return folder


def measure(options, results, name, precision):
    """The measure, and where the documents' embeddings are."""
    folder = part_of(options, name)
    kept = os.path.join(options.work, "embeddings", name, precision)
    settings = {"model": os.path.basename(os.path.normpath(options.model)), "documents": DOCUMENTS,
                "queries": QUERIES, "set": name, "precision": precision}
    found = results.find(f"{name} {precision}", settings)
    if found is None or not os.path.exists(kept):
        shutil.rmtree(kept, ignore_errors=True)
        out, _ = run_program([options.program, "evaluate", "--model", options.model, "--dataset", folder,
                              "--precision", precision, "--measures", MEASURE, "--format", "json",
                              "--embeddings", kept, "--quiet"],
                             environment={**os.environ, "TANDEM_CACHE": ""})
        found = results.keep(f"{name} {precision}", settings,
                             {MEASURE: json.loads(out)["measures"][MEASURE]})
    return found[MEASURE], os.path.join(kept, "embeddings.npy")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ["program", "model", "data", "work"]:
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--only", choices=SETS)
    parser.add_argument("--update", help="page whose table is written anew")
    options = parser.parse_args()
    results = Results(os.path.join(options.work, "results"))
    if options.only:
        for precision in PRECISIONS:
            measure(options, results, options.only, precision)
        return
    rows = [["set", "documents", "queries", *(f"nDCG@10 {p}" for p in PRECISIONS)]]
    for precision in PRECISIONS[1:]:
        rows[0] += [f"cosine {precision}, least", f"{precision}, mean"]
    worst = {precision: 0.0 for precision in PRECISIONS}
    for name in SETS:
        measured = {p: measure(options, results, name, p) for p in PRECISIONS}
        documents, queries = size_of(part_of(options, name))
        row = [name, f"{documents:,}", f"{queries:,}", *(f"{measured[p][0]:.4f}" for p in PRECISIONS)]
        exact = read_rows(measured["fp32"][1])
        for precision in PRECISIONS[1:]:
            cosines = [cosine(a, b) for a, b in zip(exact, read_rows(measured[precision][1]))]
            row += [f"{min(cosines):.5f}", f"{math.fsum(cosines) / len(cosines):.5f}"]
            worst[precision] = max(worst[precision], abs(measured[precision][0] - measured["fp32"][0]))
        rows.append(row)
    table = markdown(rows)
    print(table)
    for precision in PRECISIONS[1:]:
        print(f"{precision}: nDCG@10 differs by {worst[precision]:.5f} at most")
    if options.update:
        update(options.update, table, "precision study")


if __name__ == "__main__":
    main()
