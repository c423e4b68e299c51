"""The data of tools/studies/threshold_study.py: BEIR folders with the splits train, dev and test."""

import hashlib
import json
import os
import shutil

from beir_part import read_qrels

HEADER = "query-id\tcorpus-id\tscore"


def digest(text):
    return hashlib.sha256(f"tandem-threshold-study:{text}".encode()).hexdigest()


def rows_of(folder, split):
    """The judgements of a split; none where the folder has no such split."""
    path = os.path.join(folder, "qrels", f"{split}.tsv")
    return read_qrels(path) if os.path.exists(path) else []


def first_queries(rows, count):
    """The rows of the first `count` queries in the order of their hashes."""
    names = set(sorted({row[0] for row in rows}, key=digest)[:count])
    return [row for row in rows if row[0] in names]


def splits_of(folder, sizes):
    """{split: rows}. A folder without a split dev holds out queries of train, of other documents
    than those that train is judged against."""
    train = rows_of(folder, "train")
    taken = first_queries(train, sizes["train"])
    dev = rows_of(folder, "dev")
    if not dev:
        seen = {row[1] for row in taken}
        judged = {row[0] for row in train if row[1] in seen}
        dev = [row for row in train if row[0] not in judged]
    return {"train": taken, "dev": first_queries(dev, sizes["dev"]),
            "test": first_queries(rows_of(folder, "test"), sizes["test"])}


def keep_lines(source, target, names):
    with open(source, encoding="utf-8") as file, open(target, "w", encoding="utf-8") as out:
        out.writelines(line for line in file if json.loads(line)["_id"] in names)


def documents_of(source, judged, count):
    """The ids of all judged documents, and of the first others by their hashes, up to `count`."""
    with open(os.path.join(source, "corpus.jsonl"), encoding="utf-8") as file:
        others = {json.loads(line)["_id"] for line in file} - judged
    return judged | set(sorted(others, key=digest)[:max(0, count - len(judged))])


def make_data(source, target, sizes):
    """Writes the folder `target` with at most sizes[split] queries of each split of the BEIR folder
    `source`, and sizes["corpus"] documents, or more where more are judged for these queries. A
    split without queries is left out."""
    if os.path.exists(target):
        return
    partial = target + ".partial"
    shutil.rmtree(partial, ignore_errors=True)
    os.makedirs(os.path.join(partial, "qrels"))
    splits = splits_of(source, sizes)
    rows = [row for split in splits.values() for row in split]
    for name, ids in (("queries", {row[0] for row in rows}),
                      ("corpus", documents_of(source, {row[1] for row in rows}, sizes["corpus"]))):
        keep_lines(os.path.join(source, f"{name}.jsonl"), os.path.join(partial, f"{name}.jsonl"),
                   ids)
    for split, rows in splits.items():
        if rows:
            with open(os.path.join(partial, "qrels", f"{split}.tsv"), "w", encoding="utf-8") as out:
                out.writelines(line + "\n" for line in [HEADER, *map("\t".join, rows)])
    os.rename(partial, target)
