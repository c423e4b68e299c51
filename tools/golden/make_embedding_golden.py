#!/usr/bin/env python3
"""Makes tests/model/golden/NAME.tsv: what sentence-transformers computes in fp32 for 1,000 texts.

    make_embedding_golden.py MODEL_FOLDER SHARED_FOLDER OUTPUT.tsv

No text is stored: texts are taken by index from the reference data, so that a reader finds the same
ones (tests/model/embedding_golden.h does), and one hash over all of them shows when they differ.

The texts: for each line of SOURCES, `count` texts of the file with N of them, at indices
floor(i * N / count); a document's text is title + " " + text, a query's is its text. Then three
more: the empty text, one of blanks only, and all taken cranfield documents joined by a blank, which
is far longer than any limit.

The file, tab-separated, lines that start with "# " first:
    # texts COUNT fnv1a64 HASH       of the UTF-8 texts, each followed by a zero byte
    # columns C1 ... C8              which columns of the embedding are stored
then one line per text: tokens (with special tokens, cut at the model's limit), norm, projection
(sum over columns j of cos(j) * e_j, so that every column counts), and the stored columns.
"""

import json
import math
import pathlib
import sys

import numpy
from sentence_transformers import SentenceTransformer

SOURCES = [  # file under SHARED_FOLDER/data, whether they are documents, count
    ("squad-v1.1/corpus.jsonl", True, 200),
    ("squad-v1.1/queries.jsonl", False, 150),
    ("medquad/corpus.jsonl", True, 200),
    ("medquad/queries.jsonl", False, 100),
    ("scifact/corpus.jsonl", True, 150),
    ("scifact/queries.jsonl", False, 50),
    ("cranfield/corpus.jsonl", True, 90),
    ("cranfield/queries.jsonl", False, 57),
]
STORED_COLUMNS = 8


def text_of(line, is_document):
    entry = json.loads(line)
    title = entry.get("title") or ""
    return title + " " + entry["text"] if is_document and title else entry["text"]


def texts_of(shared):
    texts = []
    long_text = ""
    for name, is_document, count in SOURCES:
        with open(shared / "data" / name, encoding="utf-8") as file:
            lines = [line for line in file.read().split("\n") if line]
        taken = [text_of(lines[i * len(lines) // count], is_document) for i in range(count)]
        if name.startswith("cranfield/corpus"):
            long_text = " ".join(taken)
        texts += taken
    return texts + ["", " \t ", long_text]


def fnv1a64(texts):
    value = 0xCBF29CE484222325
    for text in texts:
        for byte in text.encode("utf-8") + b"\0":
            value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    model = SentenceTransformer(sys.argv[1], device="cpu")
    texts = texts_of(pathlib.Path(sys.argv[2]))
    tokens = [
        len(model.tokenizer(text, truncation=True, max_length=model.max_seq_length)["input_ids"])
        for text in texts
    ]
    embeddings = model.encode(texts, convert_to_numpy=True, prompt="").astype(numpy.float64)
    width = embeddings.shape[1]
    columns = [round(i * (width - 1) / (STORED_COLUMNS - 1)) for i in range(STORED_COLUMNS)]
    weights = numpy.array([math.cos(j) for j in range(width)])
    with open(sys.argv[3], "w", encoding="ascii") as out:
        out.write("# made by tools/golden/make_embedding_golden.py, which says what this is\n")
        out.write(f"# texts {len(texts)} fnv1a64 {fnv1a64(texts):016x}\n")
        out.write("# columns " + " ".join(map(str, columns)) + "\n")
        for count, row in zip(tokens, embeddings):
            numbers = [numpy.linalg.norm(row), row @ weights] + [row[c] for c in columns]
            out.write("\t".join([str(count)] + [f"{number:.8f}" for number in numbers]) + "\n")


if __name__ == "__main__":
    main()
