#!/usr/bin/env python3
"""Checks that sentence-transformers loads a folder that Tandem wrote and embeds as Tandem does.

    tandem encode --model FOLDER --input TEXTS.jsonl --output ENCODED --kind document
    check_saved_model.py FOLDER ENCODED TEXTS.jsonl [--kind query|document] [--tolerance 1e-5]

Compares every number of ENCODED/embeddings.npy with what sentence-transformers computes in fp32 for
the same texts (encode_query or encode_document, so that prompts are tried too), and the order of
ENCODED/ids.txt with TEXTS.jsonl. Prints the largest difference; exits 6 where it is too large.
"""

import argparse
import json
import pathlib
import sys

import numpy
from sentence_transformers import SentenceTransformer


def read_texts(path, kind):
    ids, texts = [], []
    for line in path.read_text(encoding="utf-8").split("\n"):
        if not line.strip():
            continue
        entry = json.loads(line)
        title = entry.get("title") or ""
        ids.append(str(entry["_id"]))
        texts.append(title + " " + entry["text"] if kind == "document" and title else entry["text"])
    return ids, texts


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("encoded", type=pathlib.Path)
    parser.add_argument("texts", type=pathlib.Path)
    parser.add_argument("--kind", choices=["query", "document"], default="document")
    parser.add_argument("--tolerance", type=float, default=1e-5)
    arguments = parser.parse_args()

    ids, texts = read_texts(arguments.texts, arguments.kind)
    got = numpy.load(arguments.encoded / "embeddings.npy")
    got_ids = (arguments.encoded / "ids.txt").read_text(encoding="utf-8").split("\n")[:-1]
    if got_ids != ids:
        sys.exit(f"{arguments.encoded}/ids.txt does not list the texts of {arguments.texts}")

    model = SentenceTransformer(str(arguments.folder), device="cpu")
    encode = model.encode_query if arguments.kind == "query" else model.encode_document
    wanted = encode(texts, convert_to_numpy=True)
    if got.shape != wanted.shape:
        sys.exit(f"shape {got.shape} from Tandem, {wanted.shape} from sentence-transformers")
    differences = numpy.abs(got.astype(numpy.float64) - wanted.astype(numpy.float64)).max(axis=1)
    worst = int(differences.argmax())
    print(f"{len(ids)} texts, {got.shape[1]} columns, largest difference {differences[worst]:.3g} "
          f"(id {ids[worst]})")
    if not differences[worst] <= arguments.tolerance:
        print(f"above the tolerance {arguments.tolerance:g}", file=sys.stderr)
        sys.exit(6)


if __name__ == "__main__":
    main()
