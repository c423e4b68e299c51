"""MW's Lemma 1 on real scores: what a shift of each query's scores does to a loss and to measures.

A shift c_i of all scores of query i is a further number of the embeddings, c_i of the query and 1 of
every document, in a model that compares by dot products. So the program computes the loss and the
measures of the shifted scores by itself.
"""

import array
import itertools
import json
import os
import struct

QUERIES = 256
SHIFT = 10.0  # between one query's scores and the next one's; cosines differ by 2 at most
TEMPERATURE = 0.05


def read_npy(path):
    """The rows of a float32 matrix."""
    with open(path, "rb") as file:
        file.seek(8)
        length, = struct.unpack("<H", file.read(2))
        shape = file.read(length).decode("latin-1").split("(")[1].split(")")[0]
        rows, columns = (int(number) for number in shape.split(",")[:2])
        values = array.array("f", file.read())
    return [list(values[columns * i:columns * (i + 1)]) for i in range(rows)]


def unit(row):
    length = sum(value * value for value in row) ** 0.5
    return [value / length for value in row]


def first_pairs(folder, rows):
    """The texts of one pair of each of the first queries whose documents differ."""
    documents = {}
    for query, document, grade in rows:
        if float(grade) > 0 and document not in documents.values():
            documents.setdefault(query, document)
    pairs = list(itertools.islice(documents.items(), QUERIES))
    texts = []
    for name, wanted in (("queries", [query for query, _ in pairs]),
                         ("corpus", [document for _, document in pairs])):
        with open(os.path.join(folder, f"{name}.jsonl"), encoding="utf-8") as file:
            found = {line["_id"]: line for line in map(json.loads, file)}
        texts.append([found[i] for i in wanted])
    return texts


def shifted(queries, documents, shift):
    return ([[*query, shift * i] for i, query in enumerate(queries)],
            [[*document, 1.0] for document in documents])


def loss_of(tandem, path, queries, documents):
    count = len(queries)
    case = {"objective": "infonce", "queries": queries, "documents": documents,
            "parameters": {"temperature": TEMPERATURE, "similarity_kind": "dot"},
            "positive": [*range(count)],
            "negative_mask": [[i != j for j in range(count)] for i in range(count)]}
    with open(path, "w", encoding="utf-8") as file:
        json.dump([case], file)
    return json.loads(tandem("loss", path))[0]["loss"]


def measures_of(tandem, folder, queries, documents):
    run, qrels = os.path.join(folder, "lemma.run"), os.path.join(folder, "lemma.qrels")
    with open(run, "w", encoding="utf-8") as file:
        for i, query in enumerate(queries):
            for j, document in enumerate(documents):
                score = sum(a * b for a, b in zip(query, document))
                file.write(f"q{i} Q0 d{j} 0 {score!r} lemma\n")
    with open(qrels, "w", encoding="utf-8") as file:
        file.writelines(f"q{i} 0 d{i} 1\n" for i in range(len(queries)))
    out = tandem("evaluate", "--run", run, "--qrels", qrels, "--measures", "ndcg@10,auc",
                 "--score-precision", "double", "--format", "json")
    return json.loads(out)["measures"]


def show_lemma(tandem, model, folder, rows, work):
    """A table of InfoNCE, nDCG@10 and pooled AUC of the model's scores of the data set's pairs,
    as they are and shifted. `tandem(*arguments)` returns what the program prints."""
    embeddings = []
    for kind, lines in zip(("query", "document"), first_pairs(folder, rows)):
        path = os.path.join(work, f"lemma-{kind}")
        with open(path + ".jsonl", "w", encoding="utf-8") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
        tandem("encode", "--model", model, "--input", path + ".jsonl", "--kind", kind,
               "--output", path, "--force")
        embeddings.append([unit(row) for row in read_npy(os.path.join(path, "embeddings.npy"))])
    table = [["scores", "InfoNCE", "nDCG@10", "pooled AUC"]]
    for name, shift in (("of the model", 0.0), ("each query's shifted", SHIFT)):
        queries, documents = shifted(*embeddings, shift)
        loss = loss_of(tandem, os.path.join(work, "lemma.json"), queries, documents)
        measures = measures_of(tandem, work, queries, documents)
        table.append([name, f"{loss:.6f}", f"{measures['ndcg@10']:.4f}", f"{measures['auc']:.4f}"])
    return table
