#!/usr/bin/env python3
"""Writes the data set of the demo: find the package for a job.

The index of the packages that this machine's apt knows becomes a BEIR folder. A package's one-line
description is a query, its long description a document, joined by `Description-md5`:

    corpus.jsonl    {"_id": "PACKAGE", "text": "LONG DESCRIPTION",
                     "metadata": {"section": "video", "installed_kib": 2048}}
    queries.jsonl   {"_id": "q-PACKAGE", "text": "ONE-LINE DESCRIPTION"}
    qrels/SPLIT.tsv grade 2 for the package itself, 1 for the packages of the same source

Packages without a long description of at least two lines are dropped, and so are those whose
query or document repeats another's. Of a source, at most five packages stay (--packages-per-source). A source
belongs to train, dev or test as a whole, by a hash of its name, so that no split sees another one's sources;
the corpus is common to all. The index is fetched once into its own folder and kept: the same index
and size give the same bytes. Needs only the standard library, apt and no root.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass

SEED = "tandem-packages-1"
PACKAGES_PER_SOURCE = 5
APT_HELPER = "/usr/lib/apt/apt-helper"

# Documents of the corpus and queries of each split; None: all there are.
SIZES = {
    "tiny": {"documents": 300, "train": 128, "dev": 40, "test": 80},
    "default": {"documents": 6000, "train": 3000, "dev": 500, "test": 1000},
    "full": {"documents": None, "train": None, "dev": None, "test": None},
}


@dataclass(frozen=True)
class Package:
    name: str
    source: str
    query: str
    document: str
    section: str  # without the archive's area: "video", not "contrib/video"
    installed_kib: int


def fail(message):
    sys.exit(f"package_dataset.py: {message}")


def digest(text):
    return hashlib.sha256(f"{SEED}:{text}".encode()).hexdigest()


# --- The index -----------------------------------------------------------------------------------


def apt_options(index):
    options = [
        f"Dir::State::Lists={index}/lists",
        f"Dir::Cache={index}/cache",
        "Acquire::Languages=en",
        "Acquire::Retries=3",
    ]
    if os.geteuid() == 0:  # else apt would fetch as a user who may not reach a folder below /root
        options.append("APT::Sandbox::User=root")
    return [word for option in options for word in ("-o", option)]


def run(command):
    environment = dict(os.environ, LC_ALL="C.UTF-8")
    try:
        done = subprocess.run(command, env=environment, capture_output=True, check=False)
    except FileNotFoundError:
        fail(f"{command[0]} is missing: the demo's data comes from apt (Debian, Ubuntu)")
    if done.returncode != 0:
        complaint = done.stderr.decode(errors="replace").strip()
        fail(f"{' '.join(command)} ended with {done.returncode}:\n{complaint}")
    return done.stdout.decode("utf-8", errors="replace")


def fetch_index(index):
    """Fetches the index unless an earlier run did; a run that was interrupted starts again."""
    complete = os.path.join(index, "complete")
    if os.path.exists(complete):
        return
    shutil.rmtree(index, ignore_errors=True)
    for folder in ("lists/partial", "cache/archives/partial"):
        os.makedirs(os.path.join(index, folder))
    print("fetching the package index with apt-get update", file=sys.stderr, flush=True)
    run(["apt-get", *apt_options(index), "update"])
    kinds = {kind for kind, _, _ in index_files(index)}
    if kinds != {"Packages", "Translations"}:  # a dead mirror is only a warning to apt
        fail("apt-get update brought no package lists with English descriptions; is there a network?")
    with open(complete, "w", encoding="utf-8"):
        pass


def index_files(index):
    """(kind, description, file) of the index's lists, in the order of apt's configuration."""
    form = "$(CREATED_BY)|$(DESCRIPTION)|$(FILENAME)"
    lines = run(["apt-get", *apt_options(index), "indextargets", "--format", form]).splitlines()
    rows = [tuple(line.split("|", 2)) for line in lines]
    return [row for row in rows if row[0] in ("Packages", "Translations") and os.path.exists(row[2])]


def stanzas(file):
    """The paragraphs of a Debian control file, each a dict of its fields."""
    for paragraph in run([APT_HELPER, "cat-file", file]).split("\n\n"):
        fields, name = {}, None
        for line in paragraph.split("\n"):
            if line[:1] in (" ", "\t"):
                if name is not None:
                    fields[name] += "\n" + line
            elif ":" in line:
                name, value = line.split(":", 1)
                fields[name] = value.strip()
        if fields:
            yield fields


# --- Packages ------------------------------------------------------------------------------------


def read_descriptions(files):
    """Description-md5 -> (one line, lines of the long description)."""
    descriptions = {}
    for file in files:
        for fields in stanzas(file):
            text = fields.get("Description-en")
            if text and "Description-md5" in fields:
                first, *rest = text.split("\n")
                lines = [line.strip() for line in rest]
                descriptions[fields["Description-md5"]] = (
                    " ".join(first.split()),
                    [line for line in lines if line not in ("", ".")],
                )
    return descriptions


def read_packages(files, descriptions):
    """One Package per name (the first suite that has it), without one-liners; sorted by name."""
    packages = {}
    for file in files:
        for fields in stanzas(file):
            name = fields.get("Package")
            one_line, lines = descriptions.get(fields.get("Description-md5"), ("", []))
            if name is None or name in packages or not one_line or len(lines) < 2:
                continue
            source = fields.get("Source", name).split()[0]
            packages[name] = Package(name, source, one_line, " ".join(" ".join(lines).split()),
                                     fields.get("Section", "unknown").rpartition("/")[2],
                                     int(fields.get("Installed-Size", 0)))
    return [packages[name] for name in sorted(packages)]


def without_repeats(packages):
    queries, documents, kept = set(), set(), []
    for package in packages:
        query, document = package.query.lower(), package.document.lower()
        if query not in queries and document not in documents:
            kept.append(package)
        queries.add(query)
        documents.add(document)
    return kept


def by_source(packages, most):
    """[(source, at most `most` of its packages)], both in the order of their hashes."""
    sources = {}
    for package in packages:
        sources.setdefault(package.source, []).append(package)
    return [
        (source, sorted(sources[source], key=lambda p: digest(p.name))[:most])
        for source in sorted(sources, key=digest)
    ]


# --- The data set --------------------------------------------------------------------------------


def split_of(source):
    """The split of a source, the same at every size: 20 % test, 10 % dev, the rest train."""
    share = int(digest(source)[-8:], 16) % 10
    return "test" if share < 2 else "dev" if share == 2 else "train"


def select(sources, sizes):
    """(corpus, {split: [(package, siblings)]}): whole sources, in order, until sizes are reached."""
    splits = {"train": [], "dev": [], "test": []}
    corpus, spare = [], []
    for source, packages in sources:
        queries, wanted = splits[split_of(source)], sizes[split_of(source)]
        if wanted is not None and len(queries) >= wanted:
            spare.extend(packages)
            continue
        corpus.extend(packages)
        pairs = [(p, [other for other in packages if other is not p]) for p in packages]
        queries.extend(pairs if wanted is None else pairs[: wanted - len(queries)])
    missing = 0 if sizes["documents"] is None else max(0, sizes["documents"] - len(corpus))
    if missing > len(spare) or any(len(splits[s]) < (sizes[s] or 1) for s in splits):
        fail(
            f"the package index has too few packages ({len(corpus) + len(spare)} usable) for this "
            "size; look at this machine's apt sources"
        )
    corpus.extend(spare[:missing])  # documents that no query asks for
    return sorted(corpus, key=lambda p: p.name), splits


def write_lines(path, lines):
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.writelines(line + "\n" for line in lines)


def json_line(identifier, text, **more):
    return json.dumps({"_id": identifier, "text": text, **more}, ensure_ascii=False)


def document_line(package):
    metadata = {"section": package.section, "installed_kib": package.installed_kib}
    return json_line(package.name, package.document, metadata=metadata)


def write_dataset(folder, corpus, splits, origin):
    partial = folder + ".partial"
    shutil.rmtree(partial, ignore_errors=True)
    os.makedirs(os.path.join(partial, "qrels"))
    asked = sorted((p for pairs in splits.values() for p, _ in pairs), key=lambda p: p.name)
    write_lines(f"{partial}/corpus.jsonl", map(document_line, corpus))
    write_lines(f"{partial}/queries.jsonl", (json_line(f"q-{p.name}", p.query) for p in asked))
    for split, pairs in splits.items():
        rows = ["query-id\tcorpus-id\tscore"]
        for package, siblings in pairs:
            rows.append(f"q-{package.name}\t{package.name}\t2")
            rows.extend(f"q-{package.name}\t{other.name}\t1" for other in siblings)
        write_lines(f"{partial}/qrels/{split}.tsv", rows)
    write_lines(f"{partial}/SOURCE", origin)
    shutil.rmtree(folder, ignore_errors=True)
    os.rename(partial, folder)


def origin_note(files, size, corpus, splits):
    counts = ", ".join(f"{len(pairs)} {split}" for split, pairs in splits.items())
    return [
        "Package descriptions of the distribution's own index, as fetched by apt from:",
        *sorted({f"  {description}" for _, description, _ in files}),
        "Texts are their packages' authors' and maintainers'; see the distribution's licence terms.",
        f"Made by tools/demo/package_dataset.py, size {size}: {len(corpus)} documents, {counts} queries.",
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--index", required=True, help="folder that keeps the package index")
    parser.add_argument("--output", required=True, help="folder of the data set; replaced")
    parser.add_argument("--size", choices=SIZES, default="default")
    parser.add_argument("--packages-per-source", type=int, default=PACKAGES_PER_SOURCE)
    arguments = parser.parse_args()
    index = os.path.abspath(arguments.index)
    fetch_index(index)
    files = index_files(index)
    descriptions = read_descriptions([file for kind, _, file in files if kind == "Translations"])
    packages = read_packages([file for kind, _, file in files if kind == "Packages"], descriptions)
    sources = by_source(without_repeats(packages), arguments.packages_per_source)
    corpus, splits = select(sources, SIZES[arguments.size])
    write_dataset(
        arguments.output, corpus, splits, origin_note(files, arguments.size, corpus, splits)
    )
    counts = ", ".join(f"{len(pairs)} {split}" for split, pairs in splits.items())
    print(f"{arguments.output}: {len(corpus)} documents; queries: {counts}", file=sys.stderr)


if __name__ == "__main__":
    main()
