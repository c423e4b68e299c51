"""The data of tools/studies/sampling_study.py: sources of several packages, cut out of the demo's data."""

import hashlib
import json
import os
import random
import shutil

from beir_part import read_qrels

OWN = 2  # the grade of the package itself in the demo's data; those of the same source have 1
BEGINNING = 200  # characters; about what the study's token limit leaves of a document


def digest(text):
    return hashlib.sha256(f"tandem-sampling-study:{text}".encode()).hexdigest()


def read_texts(path):
    with open(path, encoding="utf-8") as file:
        return {line["_id"]: line["text"] for line in map(json.loads, file)}


def sources_of(folder, split, documents, least):
    """The sources of a split with at least `least` packages, in the order of their hashes: each the
    names of its packages. Of packages whose descriptions begin alike one stays: to an encoder that
    sees only the beginning they are the same document."""
    packages = {}  # source -> its packages; a source is named by the first of its packages
    for query, document, _ in read_qrels(os.path.join(folder, "qrels", f"{split}.tsv")):
        packages.setdefault(query, set()).add(document)
    found = []
    for names in {tuple(sorted(names)) for names in packages.values()}:
        beginnings = {documents[name][:BEGINNING]: name for name in reversed(names)}
        kept = sorted(beginnings.values())
        if len(kept) >= least:
            found.append(kept)
    return sorted(found, key=lambda names: digest(names[0]))


def first_sources(sources, queries):
    """The first sources until there are so many queries; the last one is cut."""
    taken, left = [], queries
    for names in sources:
        if left > 0:
            taken.append((names, names[:left]))
            left -= len(names)
    if left > 0:
        raise SystemExit(f"sampling_study: the data have {left} queries too few for its size")
    return taken


def judgements(taken, false_positives=None):
    """(query, document, grade): a query's own package has grade 2, the others of its source 1.
    With `false_positives` so many of the others, at random, have grade 2 and the rest none."""
    rows = []
    for names, asked in taken:
        for name in asked:
            others = [other for other in names if other != name]
            rows.append((f"q-{name}", name, OWN))
            if false_positives is None:
                rows.extend((f"q-{name}", other, 1) for other in others)
            else:
                wrong = random.Random(digest(name)).sample(others, false_positives)
                rows.extend((f"q-{name}", other, OWN) for other in wrong)
    return rows


def write_lines(path, lines):
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in lines)


def write_folder(folder, queries, documents, splits, spare=()):
    """A BEIR folder with the judgements `splits` {split: rows}, their texts and spare documents."""
    os.makedirs(os.path.join(folder, "qrels"))
    rows = [row for part in splits.values() for row in part]
    asked = sorted({query for query, _, _ in rows})
    held = sorted({document for _, document, _ in rows} | set(spare))
    for name, ids, texts in (("queries", asked, queries), ("corpus", held, documents)):
        write_lines(os.path.join(folder, f"{name}.jsonl"),
                    (json.dumps({"_id": i, "text": texts[i]}, ensure_ascii=False) for i in ids))
    for split, part in splits.items():
        write_lines(os.path.join(folder, "qrels", f"{split}.tsv"),
                    ["query-id\tcorpus-id\tscore", *(f"{q}\t{d}\t{g}" for q, d, g in part)])


def make_data(packages, target, sizes):
    """Makes the folder `target` with BEIR folders: `clean`, `own` and `noisy` with the split train;
    `dev` and `test` with a corpus of their own, where the split `own` judges the own package only.
    `sizes`: queries of train, dev and test, documents of test, packages of a source at least."""
    queries = read_texts(os.path.join(packages, "queries.jsonl"))
    documents = read_texts(os.path.join(packages, "corpus.jsonl"))
    taken = {split: first_sources(sources_of(packages, split, documents, sizes["least"]),
                                  sizes[split]) for split in ("train", "dev", "test")}
    partial = target + ".partial"
    shutil.rmtree(partial, ignore_errors=True)
    for name, wrong in (("clean", None), ("own", 0), ("noisy", 1)):
        write_folder(os.path.join(partial, name), queries, documents,
                     {"train": judgements(taken["train"], wrong)})
    others = sorted(documents, key=digest)
    for split, count in (("dev", sizes["documents"] // 2), ("test", sizes["documents"])):
        rows = judgements(taken[split])
        judged = {document for _, document, _ in rows}
        spare = [name for name in others if name not in judged][:max(0, count - len(judged))]
        write_folder(os.path.join(partial, split), queries, documents,
                     {split: rows, "own": judgements(taken[split], 0)}, spare)
    os.rename(partial, target)
