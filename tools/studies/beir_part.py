"""Cuts a part out of a BEIR folder, so that a study with it ends in minutes."""

import json
import os


def read_qrels(path):
    with open(path, encoding="utf-8") as file:
        next(file)
        return [line.rstrip("\n").split("\t") for line in file]


def take_part(source, target, queries, documents):
    """Writes into `target` the first `queries[split]` queries of each split by name, all documents
    that they are judged against, and others in the corpus's order up to `documents`."""
    os.makedirs(os.path.join(target, "qrels"))
    wanted, judged = set(), set()
    for split, count in queries.items():
        rows = read_qrels(os.path.join(source, "qrels", f"{split}.tsv"))
        names = set(sorted({query for query, _, _ in rows})[:count])
        rows = [row for row in rows if row[0] in names]
        wanted |= names
        judged |= {document for _, document, _ in rows}
        with open(os.path.join(target, "qrels", f"{split}.tsv"), "w", encoding="utf-8") as file:
            file.write("query-id\tcorpus-id\tscore\n")
            file.writelines("\t".join(row) + "\n" for row in rows)
    keep_lines(source, target, "queries.jsonl", wanted, 0)
    keep_lines(source, target, "corpus.jsonl", judged, documents - len(judged))


def keep_lines(source, target, name, keep, spare):
    """The lines with the ids of `keep`, and the first `spare` others."""
    with open(os.path.join(source, name), encoding="utf-8") as file, \
         open(os.path.join(target, name), "w", encoding="utf-8") as out:
        for line in file:
            if json.loads(line)["_id"] not in keep:
                if spare <= 0:
                    continue
                spare -= 1
            out.write(line)
