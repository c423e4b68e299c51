#!/usr/bin/env python3
"""Compares `tandem mine` with mine_hard_negatives of sentence-transformers, plain and with faiss.

    PEER_PYTHON tools/studies/mine_peers.py build/release/tandem MODEL_FOLDER BEIR_FOLDER WORK_FOLDER
        [THREADS [MAX_DOCUMENT_TOKENS]]

PEER_PYTHON has sentence-transformers, datasets and faiss-cpu. Everybody ranks the corpus for the
queries of split train (SQuAD v1.1: 87,599 x 20,958) and mines five negatives from ranks 10 to 199, with
the same embeddings: a first call of `tandem mine` keeps them in a cache in WORK_FOLDER, where the
peers read them too. Every measurement runs in a process of its own, one after another. Prints
seconds, peak memory, ratios (above 1: how many times faster Tandem is) and the share of the peer's
negatives that Tandem mines too.

Seconds of the peers are those of the call, with texts and embeddings in memory and the data set made;
Tandem's are those of the whole process, reading and writing included. Documents are cut at
MAX_DOCUMENT_TOKENS, where a shorter time for the embeddings matters more than what they are.
"""

import json
import os
import resource
import subprocess
import sys
import time

RANGE, NEGATIVES = (10, 200), 5


def note(text):
    print(f"mine_peers.py: {text}", file=sys.stderr, flush=True)


def records(path):
    with open(path, encoding="utf-8") as file:
        yield from map(json.loads, file)


def read(folder):
    """Texts of documents and queries by id, and the positives of split train."""
    documents = {r["_id"]: (r["title"] + " " if r.get("title") else "") + r["text"]
                 for r in records(os.path.join(folder, "corpus.jsonl"))}
    queries = {r["_id"]: r["text"] for r in records(os.path.join(folder, "queries.jsonl"))}
    with open(os.path.join(folder, "qrels", "train.tsv"), encoding="utf-8") as file:
        rows = [line.split("\t") for line in file.read().splitlines()[1:]]
    return documents, queries, [(q, d) for q, d, grade in rows if float(grade) >= 1]


# --- The peers, in processes of their own ----------------------------------------------------------


def cached_rows(path):
    """The embeddings of a file of the cache (src/embeddings/layouts/cache_file.h)."""
    import numpy
    with open(path, "rb") as file:
        head = dict(line.split(" ", 1) for line in file.read(4096).decode().split("\n") if " " in line)
    rows, columns, block = (int(head[name]) for name in ("rows", "columns", "block"))
    blocks = (rows + block - 1) // block
    start = (4096 + 8 * blocks + 4095) // 4096 * 4096
    return numpy.fromfile(path, dtype="<f4", count=rows * columns, offset=start).reshape(rows, columns)


class Embedded:
    """What mine_hard_negatives asks of a model, answered from embeddings in Tandem's cache.

    `documents` and `queries` are texts in the order of the files' rows: each once, by its first
    occurrence."""

    def __init__(self, work, documents, queries):
        import numpy
        import torch
        from sentence_transformers import util
        self.device = torch.device("cpu")
        self.model_card_data = None
        self.similarity = util.cos_sim
        self.similarity_pairwise = util.pairwise_cos_sim
        self.rows = {}
        folder = os.path.join(work, "cache", "embeddings")
        for name in os.listdir(folder):
            values = cached_rows(os.path.join(folder, name))
            values /= numpy.linalg.norm(values, axis=1, keepdims=True)
            texts = documents if len(values) == len(documents) else queries
            assert len(values) == len(texts), name
            self.rows["documents" if texts is documents else "queries"] = (
                values, {text: row for row, text in enumerate(texts)})

    def get_embedding_dimension(self):
        return self.rows["documents"][0].shape[1]

    def take(self, kind, texts):
        values, row_of = self.rows[kind]
        return values[[row_of[text] for text in texts]]

    def encode_document(self, texts, **_):
        return self.take("documents", texts)

    def encode_query(self, texts, **_):
        return self.take("queries", texts)


def peak_mib():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run_peer(folder, work, use_faiss, threads):
    import torch
    from datasets import Dataset
    from sentence_transformers.util import mine_hard_negatives
    torch.set_num_threads(threads)
    if use_faiss:
        import faiss
        faiss.omp_set_num_threads(threads)
    documents, queries, positives = read(folder)
    model = Embedded(work, list(dict.fromkeys(documents.values())),
                     list(dict.fromkeys(queries[q] for q, _ in positives)))
    data = Dataset.from_dict({"query": [queries[q] for q, _ in positives],
                              "positive": [documents[d] for _, d in positives]})
    corpus = list(documents.values())
    before = peak_mib()
    start = time.monotonic()
    mined = mine_hard_negatives(
        data, model, corpus=corpus, range_min=RANGE[0], range_max=RANGE[1],
        num_negatives=NEGATIVES, output_format="n-tuple", use_faiss=use_faiss, verbose=False)
    seconds = time.monotonic() - start
    peak = peak_mib()
    name = "faiss" if use_faiss else "plain"
    with open(os.path.join(work, f"{name}.jsonl"), "w", encoding="utf-8") as file:
        for row in mined:
            negatives = [row[f"negative_{i + 1}"] for i in range(NEGATIVES)]
            file.write(json.dumps([row["query"], negatives]) + "\n")
    print(json.dumps({"name": name, "seconds": seconds, "peak_mib": peak, "before_mib": before}))


# --- Tandem ----------------------------------------------------------------------------------------


def run_tandem(program, model, folder, work, precision, threads, cut):
    output = os.path.join(work, f"tandem_{precision}.jsonl")
    if os.path.exists(output):
        os.remove(output)
    command = [program, "mine", "--model", model, "--dataset", folder, "--output", output,
               "--range", f"{RANGE[0]}:{RANGE[1]}", "--negatives", str(NEGATIVES),
               "--search-precision", precision, "--threads", str(threads), *cut]
    environment = dict(os.environ, TANDEM_CACHE=os.path.abspath(os.path.join(work, "cache")))
    start = time.monotonic()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{' '.join(command)} failed")
    return {"name": f"tandem {precision}", "seconds": time.monotonic() - start,
            "peak_mib": usage.ru_maxrss / 1024, "output": output}


def negatives_of(path):
    """The mined negatives of each query's text."""
    mined = {}
    for row in records(path):
        query, negatives = row if isinstance(row, list) else (row["query"], row["neg"])
        mined[query] = set(negatives)
    return mined


def main():
    if sys.argv[1:2] == ["--peer"]:
        folder, work, use_faiss, threads = sys.argv[2:]
        return run_peer(folder, work, use_faiss == "faiss", int(threads))
    if len(sys.argv) not in (5, 6, 7):
        sys.exit(__doc__)
    program, model, folder, work = sys.argv[1:5]
    threads = int(sys.argv[5]) if len(sys.argv) > 5 else os.cpu_count()
    cut = ["--max-document-tokens", sys.argv[6]] if len(sys.argv) > 6 else []
    os.makedirs(work, exist_ok=True)
    note("making the embeddings")
    run_tandem(program, model, folder, work, "fp32", threads, cut)
    ours = []
    for precision in ("fp32", "bf16"):
        note(f"tandem {precision}")
        ours.append(run_tandem(program, model, folder, work, precision, threads, cut))
    peers = []
    for name in ("plain", "faiss"):
        note(f"sentence-transformers, {name}")
        done = subprocess.run([sys.executable, __file__, "--peer", folder, work, name, str(threads)],
                              check=True, stdout=subprocess.PIPE)
        peers.append(json.loads(done.stdout.decode().splitlines()[-1]))
    for result in ours + peers:
        print(f"{result['name']:12} {result['seconds']:8.1f} s {result['peak_mib']:8.0f} MiB")
    for peer in peers:
        wanted = negatives_of(os.path.join(work, peer["name"] + ".jsonl"))
        for own in ours:
            mined = negatives_of(own["output"])
            same = sum(len(negatives & mined[query]) for query, negatives in wanted.items())
            share = same / sum(map(len, wanted.values()))
            print(f"{own['name']} against {peer['name']}: {peer['seconds'] / own['seconds']:.2f} times "
                  f"as fast, {own['peak_mib'] / peer['peak_mib']:.2f} of the memory, "
                  f"{100 * share:.2f} % of the negatives")


if __name__ == "__main__":
    main()
