"""Makes a study's data sets: a folder to train on and one to measure on, both BEIR folders.

What is measured on has a corpus of its own, of the documents that dev and test queries are judged
against and others up to `documents`: encoding it is most of what a measurement takes. Queries are
taken in the order of a hash of their ids, so that a smaller part is the beginning of a larger one.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys

from . import tags

HERE = os.path.dirname(os.path.abspath(__file__))
DEMO = os.path.join(HERE, "..", "..", "demo")
# Kind -> the keys that it needs, and those that it may have.
KINDS = {
    "beir": ({"folder", "dev", "test", "documents"}, {"train", "dev_from"}),
    "squad": ({"folder", "paragraphs", "questions", "dev", "test", "documents"}, {"train"}),
    "packages": ({"train", "dev", "test", "documents"}, {"per_source", "least_positives", "grades"}),
    "xquad": ({"folder", "language", "train", "dev", "test", "documents"}, set()),
}

OF_ALL_KINDS = {"wrong"}
NOT_OF_THE_FILES = {"says", "recipe", "relevance_level", "mined_negatives", "mined_range", "judge_train"}


# What a study makes of a set's files and a model, beside them.
MADE_FROM_IT = ("mined.jsonl", "grades.jsonl", "teacher.jsonl", "cross_grades.jsonl", "cross_teacher.jsonl")


class DataError(Exception):
    pass


def by_hash(names):
    return sorted(names, key=lambda name: hashlib.sha256(f"tandem-study:{name}".encode()).digest())


def read_jsonl(path):
    with open(path, encoding="utf-8") as file:
        return {line["_id"]: line for line in map(json.loads, file)}


def read_judgements(folder, split):
    """Query -> {document: grade} of a split, in the file's order."""
    path = os.path.join(folder, "qrels", f"{split}.tsv")
    if not os.path.exists(path):
        raise DataError(f"{path} is not there: the set has no split {split!r}")
    judged = {}
    with open(path, encoding="utf-8") as file:
        next(file)
        for line in file:
            query, document, grade = line.rstrip("\n").split("\t")
            judged.setdefault(query, {})[document] = grade
    return judged


def first(judged, count):
    """The first `count` queries by hash (None: all); fewer than that are an error."""
    names = by_hash(judged)
    if count is not None and len(names) < count:
        raise DataError(f"{count} queries are asked for, and there are {len(names)}")
    return {name: judged[name] for name in names[:count]}


def write_folder(folder, queries, corpus, splits, spare=()):
    os.makedirs(os.path.join(folder, "qrels"))
    asked, held = {}, dict.fromkeys(spare)
    for split, judged in splits.items():
        with open(os.path.join(folder, "qrels", f"{split}.tsv"), "w", encoding="utf-8") as file:
            file.write("query-id\tcorpus-id\tscore\n")
            for query, documents in judged.items():
                asked[query] = None
                if query not in queries:
                    raise DataError(f"queries.jsonl has no {query!r}, which {split} judges")
                for document, grade in documents.items():
                    if document not in corpus:
                        raise DataError(f"corpus.jsonl has no {document!r}, which {split} judges for {query!r}")
                    held[document] = None
                    file.write(f"{query}\t{document}\t{grade}\n")
    for name, ids, texts in (("queries", asked, queries), ("corpus", held, corpus)):
        with open(os.path.join(folder, f"{name}.jsonl"), "w", encoding="utf-8") as file:
            for one in sorted(ids):
                file.write(json.dumps(texts[one], ensure_ascii=False) + "\n")


def write_sets(target, queries, corpus, splits, documents):
    """Writes TARGET/train and TARGET/eval; the latter's corpus is filled up to `documents`."""
    judged = {document for split in ("dev", "test") for documents_of in splits[split].values()
              for document in documents_of}
    taught = {document for documents_of in splits["train"].values() for document in documents_of}
    spare = by_hash(name for name in corpus if name not in judged and name not in taught)
    spare = spare[:max(0, documents - len(judged))]
    measured = {split: splits[split] for split in ("dev", "test") if splits[split]}
    write_folder(os.path.join(target, "eval"), queries, corpus, measured, spare)
    if splits["train"]:
        write_folder(os.path.join(target, "train"), queries, corpus, {"train": splits["train"]})


def source_folder(root, spec):
    folder = os.path.join(root, spec["folder"])
    if not os.path.isfile(os.path.join(folder, "corpus.jsonl")):
        raise DataError(f"{folder} is not there, or is no BEIR folder; it is `folder` below --data-root "
                        "(./dev study: STUDY_DATA); studies/README.md says what it is made of, and where that is")
    return folder


def make_beir(spec, root, target, _scratch):
    folder = source_folder(root, spec)
    train = first(read_judgements(folder, "train"), spec["train"]) if spec.get("train") else {}
    if "dev_from" in spec:  # a split that has no dev of its own gives its last queries
        split = spec["dev_from"]
        rest = read_judgements(folder, split)
        names = [name for name in reversed(by_hash(rest)) if name not in train][:spec["dev"]]
        if len(names) < spec["dev"]:
            raise DataError(f"{spec['dev']} dev queries are asked for, and {split} has {len(names)} besides "
                            "those that are trained on")
        dev = {name: rest[name] for name in names}
    else:
        dev = first(read_judgements(folder, "dev"), spec["dev"]) if spec["dev"] else {}
    test = {name: judged for name, judged in read_judgements(folder, "test").items() if name not in dev}
    splits = {"train": train, "dev": dev, "test": first(test, spec["test"])}
    write_sets(target, read_jsonl(os.path.join(folder, "queries.jsonl")),
               read_jsonl(os.path.join(folder, "corpus.jsonl")), splits, spec["documents"])


def of_paragraphs(judged, paragraphs, questions):
    """The first `questions` questions of so many paragraphs that have as many."""
    by_paragraph = {}
    for query, documents in judged.items():
        for document in documents:
            by_paragraph.setdefault(document, []).append(query)
    able = by_hash(name for name, asked in by_paragraph.items() if len(asked) >= questions)
    if len(able) < paragraphs:
        raise DataError(f"{paragraphs} paragraphs with {questions} questions are asked for, and there "
                        f"are {len(able)}")
    return {query: {name: 1} for name in able[:paragraphs]
            for query in by_paragraph[name][:questions]}


def make_squad(spec, root, target, _scratch):
    """Training questions by paragraphs; dev questions of other articles, test questions of SQuAD's dev set."""
    folder = source_folder(root, spec)
    judged = read_judgements(folder, "train")
    train = of_paragraphs(judged, spec["paragraphs"], spec["questions"])
    articles = {document.split("-")[0] for documents in train.values() for document in documents}
    other = {query: documents for query, documents in judged.items()
             if not any(document.split("-")[0] in articles for document in documents)}
    if len(other) < spec["dev"]:  # so many paragraphs are of nearly every article
        used = {document for documents in train.values() for document in documents}
        other = {query: documents for query, documents in judged.items() if not used & set(documents)}
    splits = {"train": train, "dev": first(other, spec["dev"]),
              "test": first(read_judgements(folder, "test"), spec["test"])}
    write_sets(target, read_jsonl(os.path.join(folder, "queries.jsonl")),
               read_jsonl(os.path.join(folder, "corpus.jsonl")), splits, spec["documents"])


def make_packages(spec, _root, target, scratch):
    whole = os.path.join(scratch, "packages")
    per_source = spec.get("per_source", 5)
    whole = f"{whole}-{per_source}"
    if not os.path.isdir(whole):
        command = [sys.executable, os.path.join(DEMO, "package_dataset.py"), "--index",
                   os.path.join(scratch, "index"), "--output", whole + ".partial", "--size", "full",
                   "--packages-per-source", str(per_source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise DataError("the package data need apt and its index: " + done.stderr.strip())
        os.rename(whole + ".partial", whole)
    least = spec.get("least_positives", 1)
    judged = {split: read_judgements(whole, split) for split in ("train", "dev", "test")}
    if spec.get("grades", "sources") == "tags":
        known = tags.read_tags(os.path.join(scratch, "index"))
        judged = {split: tags.judge_split(found, known, by_hash) for split, found in judged.items()}
    elif spec.get("grades", "sources") != "sources":
        raise DataError(f"grades is {spec['grades']!r}, where sources or tags was expected")
    splits = {split: first({query: documents for query, documents in found.items() if len(documents) >= least},
                           spec[split])
              for split, found in judged.items()}
    write_sets(target, read_jsonl(os.path.join(whole, "queries.jsonl")),
               read_jsonl(os.path.join(whole, "corpus.jsonl")), splits, spec["documents"])


def make_xquad(spec, root, target, _scratch):
    """Questions of a language and paragraphs in English, whose ids are the same; splits share no paragraph."""
    english = os.path.join(spec["folder"], "en")
    folder = source_folder(root, spec | {"folder": english})
    asked = source_folder(root, spec | {"folder": os.path.join(spec["folder"], spec["language"])})
    judged = read_judgements(folder, "test")
    by_paragraph = {}
    for query, documents in judged.items():
        by_paragraph.setdefault(next(iter(documents)), []).append(query)
    splits, paragraphs = {}, iter(by_hash(by_paragraph))
    for split in ("test", "dev", "train"):
        names = []
        while len(names) < spec[split]:
            if (paragraph := next(paragraphs, None)) is None:
                raise DataError(f"{spec[split]} {split} queries are asked for, and {len(names)} are left")
            names += by_paragraph[paragraph]
        splits[split] = {name: judged[name] for name in names[:spec[split]]}
    write_sets(target, read_jsonl(os.path.join(asked, "queries.jsonl")),
               read_jsonl(os.path.join(folder, "corpus.jsonl")), splits, spec["documents"])


def make_wrong(folder, share):
    """Gives a share of the training queries what is judged for another of them."""
    judged = read_judgements(folder, "train")
    names = by_hash(judged)[::-1]
    chosen = names[:round(share * len(names))]
    if len(chosen) == 1:
        raise DataError(f"wrong = {share} of {len(names)} training queries is one, which has no other")
    taken = {name: judged[other] for name, other in zip(chosen, chosen[1:] + chosen[:1])}
    for name, other in zip(chosen, chosen[1:] + chosen[:1]):
        if set(judged[name]) & set(judged[other]):  # right all the same: another one's
            taken[name] = next(judged[one] for one in names if not set(judged[one]) & set(judged[name]))
    with open(os.path.join(folder, "qrels", "train.tsv"), "w", encoding="utf-8") as file:
        file.write("query-id\tcorpus-id\tscore\n")
        for name, documents in (judged | taken).items():
            file.writelines(f"{name}\t{document}\t{grade}\n" for document, grade in documents.items())


def make(name, spec, root, work):
    """The folder of a data set below WORK/data, made where it is not there as `spec` says."""
    kind = spec.get("kind")
    if kind not in KINDS:
        raise DataError(f"data {name}: kind is {kind!r}, where one of {', '.join(KINDS)} was expected")
    needed, further = KINDS[kind]
    if unknown := sorted(set(spec) - needed - further - OF_ALL_KINDS - NOT_OF_THE_FILES - {"kind"}):
        raise DataError(f"data {name}: a {kind} set has no key {unknown[0]!r}")
    if missing := sorted(needed - set(spec)):
        raise DataError(f"data {name}: a {kind} set needs {missing[0]!r}")
    target = os.path.join(work, "data", name)
    made_of = {key: value for key, value in spec.items() if key not in NOT_OF_THE_FILES}
    note = os.path.join(target, "made_of.json")
    if os.path.exists(note):
        with open(note, encoding="utf-8") as file:
            if json.load(file) == made_of:
                return target
    shutil.rmtree(target, ignore_errors=True)
    partial = target + ".partial"
    shutil.rmtree(partial, ignore_errors=True)
    os.makedirs(partial)
    makers = {"beir": make_beir, "squad": make_squad, "packages": make_packages, "xquad": make_xquad}
    try:
        makers[kind](spec, root, partial, work)
        if "wrong" in spec:
            make_wrong(os.path.join(partial, "train"), spec["wrong"])
    except DataError as error:
        raise DataError(f"data {name}: {error}") from None
    with open(os.path.join(partial, "made_of.json"), "w", encoding="utf-8") as file:
        json.dump(made_of, file)
    os.rename(partial, target)
    return target


def fingerprint(folder):
    """A hash of all that a data set says."""
    digest = hashlib.sha256()
    for root, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            path = os.path.join(root, name)
            if name.endswith((".jsonl", ".tsv")) and name not in MADE_FROM_IT:
                digest.update(os.path.relpath(path, folder).encode() + b"\0")
                with open(path, "rb") as file:
                    digest.update(hashlib.sha256(file.read()).digest())
    return digest.hexdigest()[:16]


def count_queries(folder, split):
    """How many judged queries a split of a folder has; 0 where it has none."""
    path = os.path.join(folder, "qrels", f"{split}.tsv")
    return len(read_judgements(folder, split)) if os.path.exists(path) else 0


def count_documents(folder):
    return len(read_jsonl(os.path.join(folder, "corpus.jsonl")))
