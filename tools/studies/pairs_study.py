#!/usr/bin/env python3
"""What pairs that `tandem pairs` makes of a corpus alone bring, measured on real queries.

    python3 tools/studies/pairs_study.py --program build/release/tandem --model FOLDER --data FOLDER
        --work FOLDER [--sets medquad,cranfield] [--ways all] [--steps 64] [--threads N]
        [--update docs/no-queries.md]

--data holds the BEIR folders of SETS. For each set and each way of making pairs:

1. `pairs` sees the set's corpus and nothing else: a copy of corpus.jsonl in a folder of its own.
2. the model is trained on the pairs for the same number of steps, in bf16, seed 1 (SEEDS).
3. it is evaluated on the set's test queries, as the model before training is: nDCG@10 over the
   corpus, of which POOLS says how many documents are kept (all judged ones, and others of seed 1).

Nothing is chosen by test queries: steps, rate and batch are one setting for all sets. Every result is
a file in WORK/results, and one that is there with the same settings is not made again. --update
writes the table between `<!-- pairs study -->` and `<!-- end -->` of a page.
"""

import argparse
import json
import os
import shutil
import statistics

from study import Results, cell, markdown, number, run_program, spread, update, write_recipe

SETS = ["medquad", "cranfield", "scifact", "squad-v1.1"]
POOLS = {"medquad": 3000, "squad-v1.1": 3000}
WAYS = {  # flags of `pairs`
    "all": [],
    "title": ["--sources", "title"],
    "round trip": ["--round-trip", "20"],
}
SEEDS = [1]
RECIPE = {
    "model.max_query_tokens": 64,
    "model.max_document_tokens": 128,
    "objective.name": "infonce",
    "optimizer.learning_rate": 3e-5,
    "train.batch": 64,
}


class Study:
    def __init__(self, options):
        self.options = options
        self.results = Results(os.path.join(options.work, "results"))

    def folder(self, *parts):
        path = os.path.join(self.options.work, *parts)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def run(self, *arguments):
        return run_program([self.options.program, *arguments, "--threads", self.options.threads])[0]

    def corpus(self, name):
        """A folder with the corpus of a set and nothing else."""
        folder = self.folder("corpora", name)
        if not os.path.exists(folder):
            os.makedirs(folder + ".partial", exist_ok=True)
            shutil.copy(os.path.join(self.options.data, name, "corpus.jsonl"), folder + ".partial")
            os.rename(folder + ".partial", folder)
        return folder

    def pairs(self, name, way):
        """The folder of the pairs, and how many there are; none where no source finds one."""
        folder = self.folder("pairs", f"{name}-{way}".replace(" ", "-"))
        settings = {"flags": WAYS[way]}
        found = self.results.find(f"pairs {name} {way}", settings)
        if found and (os.path.exists(folder) or found["pairs"] == 0):
            return folder, found
        shutil.rmtree(folder, ignore_errors=True)
        flags = [*WAYS[way], "--output", folder, "--format", "json"]
        if "--round-trip" in flags:
            flags += ["--model", self.options.model, "--precision", "bf16"]
        out, _ = run_program([self.options.program, "pairs", self.corpus(name), *flags, "--threads",
                              self.options.threads], expected=(0, 2))
        counts = json.loads(out) if out else {"pairs": 0}
        kept = {one["name"]: one["kept"] for one in counts.get("sources", []) if one["kept"]}
        return folder, self.results.keep(f"pairs {name} {way}", settings,
                                         {"pairs": counts["pairs"], "sources": kept})

    def measure(self, name, what, model, settings):
        found = self.results.find(f"measure {name} {what}", settings)
        if found:
            return found
        pool = ["--pool", POOLS[name]] if name in POOLS else []
        out = self.run("evaluate", "--model", model, "--dataset", os.path.join(self.options.data, name),
                       "--measures", "ndcg@10", "--format", "json", "--precision", "bf16",
                       "--max-query-tokens", 64, "--max-document-tokens", 256, *pool)
        value = json.loads(out)["measures"]["ndcg@10"]
        return self.results.keep(f"measure {name} {what}", settings, {"ndcg@10": value})

    def base(self, name):
        return self.measure(name, "base", self.options.model, {"pool": POOLS.get(name)})["ndcg@10"]

    def trained(self, name, way, seed):
        """nDCG@10 after training; None where there is no pair."""
        folder, counts = self.pairs(name, way)
        if counts["pairs"] == 0:
            return None
        settings = {"steps": self.options.steps, "recipe": RECIPE, "pairs": counts,
                    "pool": POOLS.get(name)}
        what = f"{way} seed {seed}"
        found = self.results.find(f"measure {name} {what}", settings)
        if found:
            return found["ndcg@10"]
        run = self.folder("runs", f"{name}-{way}-{seed}".replace(" ", "-"))
        shutil.rmtree(run, ignore_errors=True)
        write_recipe(run + ".toml", {"seed": seed, "model.base": self.options.model,
                                     "data.train": folder, "train.steps": self.options.steps,
                                     **RECIPE})
        self.run("train", run + ".toml", "--output", run, "--precision", "bf16")
        value = self.measure(name, what, os.path.join(run, "model"), settings)
        shutil.rmtree(run)
        return value["ndcg@10"]

    def rows(self):
        rows = [["set", "pairs of", "pairs", "before", "after", "gain"]]
        for name in self.options.sets:
            for way in self.options.ways:
                values = [self.trained(name, way, seed) for seed in SEEDS]
                counts = self.pairs(name, way)[1]
                before = self.base(name)
                sources = ", ".join(f"{source} {kept:,}" for source, kept in counts["sources"].items())
                if values[0] is None:
                    rows.append([name, f"{way}: none", "0", number(before, 4), "-", "-"])
                    continue
                mean = statistics.fmean(values)
                rows.append([name, f"{way}: {sources}", f"{counts['pairs']:,}", number(before, 4),
                             cell(mean, spread(values), 4), f"{mean - before:+.4f}"])
                print(markdown(rows), flush=True)
        return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    for flag in ("--program", "--model", "--data", "--work"):
        parser.add_argument(flag, required=True)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--ways", default="all")
    parser.add_argument("--steps", type=int, default=64)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--update")
    options = parser.parse_args()
    options.sets, options.ways = options.sets.split(","), options.ways.split(",")
    table = markdown(Study(options).rows())
    print(table)
    if options.update:
        update(options.update, table, "pairs study")


if __name__ == "__main__":
    main()
