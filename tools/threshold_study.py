#!/usr/bin/env python3
"""Does thresholding improve as the Mann-Whitney paper says? infonce, mann_whitney and bixse, each
at its best, measured as rankings and at one threshold for all queries.

    python3 tools/threshold_study.py --program build/release/tandem --model FOLDER --data FOLDER
        --work FOLDER [--minutes 90] [--update docs/evaluation.md] [--tsv FILE]

--data holds the BEIR folders medquad, squad-v1.1, cranfield and scifact; the package descriptions
(tools/package_dataset.py) are made in --work, which also keeps what was measured.

1. grid: on each training set, each objective is trained with each temperature (bixse: scale) and
   learning rate of a grid, one seed. The pair that is best on dev is taken for it; of infonce and
   mann_whitney also the learning rate that is best at the paper's temperature, 0.01.
2. final: those are trained with three seeds (the paper's temperature: one), calibrated on dev by
   Platt's method, and measured on the test queries of all sets: the one that they were trained on,
   and the others (zero-shot; what calibrates them is still the training set's dev). The base model
   is measured in the same way.
3. lemma: MW's Lemma 1 on the base model's scores.

A run is trained until dev does not rise for two validations, one an epoch, at a constant learning
rate; the best epoch's weights stay. Dev is the folder's own split, or held out of train, with
documents of its own. Every run that has ended is one file in WORK/results, and a run whose file is
there with the same settings is not made again. --minutes: no run is begun that would probably end
later; start the script again until it says that all are done. Whatever there is goes into the
tables, which --update writes between `<!-- threshold study -->` and `<!-- end -->` of a page.

The base model, all-MiniLM-L6-v2, has had contrastive training; the paper's had none.
"""

import argparse
import itertools
import json
import os
import shutil
import statistics
import subprocess
import sys
import time

from threshold_lemma import QUERIES, SHIFT, show_lemma
from threshold_study_data import make_data, rows_of
from study import (Results, cell, fail, markdown, number, run_program, spread, update,
                   write_recipe)

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDERS = {"squad": "squad-v1.1"}  # where a set's folder in --data has another name
SIZES = {"train": 4000, "dev": 500, "test": 1000}  # queries at most
TOKENS = 96
BATCH = 64
MOST_EPOCHS = 8
PATIENCE = 2
CHOICE = "ndcg@10"  # decides on dev, for all objectives
RATES = ["2e-5", "5e-5"]
PAPER = "0.01"
TEMPERATURES = [PAPER, "0.03", "0.1"]
# Objective: the parameter that sharpens its scores, and the grid of it.
GRID = {
    "infonce": ("temperature", TEMPERATURES),
    "mann_whitney": ("temperature", TEMPERATURES),
    "bixse": ("scale", ["10", "20", "40"]),
}
PRECISION = 0.9
COLUMNS = {
    "ndcg@10": "nDCG@10",
    "mrr@10": "MRR@10",
    "auc": "pooled AUC",
    "partial_auc": "partial AUC",
    "recall_at_precision": f"recall at {PRECISION:.0%} precision",
    "calibration_error": "calibration error",
}
MEASURES = ["ndcg@10", "mrr@10", "auc", "partial_auc"]  # columns that are measures of `evaluate`
BASE = "before training"
MARKER = "threshold study"


class Study:
    """Makes runs and keeps what they gave, one file each, below the work folder."""

    def __init__(self, options):
        self.options = options
        self.results = Results(os.path.join(options.work, "results"))
        self.started = time.monotonic()
        self.longest = 0.0  # seconds of a run
        self.missing = 0

    def path(self, *names):
        return os.path.join(self.options.work, *names)

    def tandem(self, *arguments):
        return run_program([self.options.program, *arguments, "--quiet", "--threads",
                            self.options.threads])[0]

    def make_data(self):
        sizes = dict(SIZES, train=min(SIZES["train"], self.options.train))
        os.makedirs(self.path("data"), exist_ok=True)
        for name in self.options.train_sets + self.options.test_sets:
            source = os.path.join(self.options.data, FOLDERS.get(name, name))
            if name == "packages":
                source = self.path("packages")
                if not os.path.exists(source):
                    subprocess.run([sys.executable, os.path.join(HERE, "package_dataset.py"),
                                    "--index", self.path("index"), "--output", source], check=True)
            make_data(source, self.path("data", name), sizes)

    def kept(self, name, settings, make):
        """The result of a run, or None where it was not made and there is no time left for it."""
        options = self.options
        settings = dict(settings, model=os.path.basename(options.model), sizes=SIZES,
                        train=options.train, batch=BATCH, tokens=TOKENS, epochs=options.epochs,
                        pool=options.pool, precision=PRECISION)
        found = self.results.find(name, settings)
        if found is not None:
            return found
        begun = time.monotonic()
        if begun - self.started + self.longest > 60 * options.minutes:
            self.missing += 1
            return None
        result = self.results.keep(name, settings, make())
        self.longest = max(self.longest, time.monotonic() - begun)
        return result

    def train(self, data, objective, value, rate, seed):
        """Trains WORK/run/model."""
        options = self.options
        shutil.rmtree(self.path("run"), ignore_errors=True)
        folder = self.path("data", data)
        queries = len({row[0] for row in rows_of(folder, "train")})
        epoch = max(1, queries // BATCH)
        recipe = {
            "seed": seed, "model.base": options.model, "model.max_query_tokens": TOKENS,
            "model.max_document_tokens": TOKENS, "data.train": folder, "data.negatives": 0,
            "objective.name": objective, f"objective.{GRID[objective][0]}": float(value),
            "optimizer.learning_rate": float(rate), "schedule.name": "constant",
            "train.batch": BATCH, "train.steps": options.epochs * epoch,
            "train.checkpoint_every": 0, "validation.data": folder, "validation.measure": CHOICE,
            "validation.every": f"{epoch} steps", "validation.patience": PATIENCE}
        if objective == "bixse":
            recipe["data.binarize_at"] = 1.0  # siblings of a package are right, as for the others
        if options.pool:
            recipe["validation.pool"] = options.pool
        write_recipe(self.path("recipe.toml"), recipe)
        self.tandem("train", self.path("recipe.toml"), "--output", self.path("run"))

    def evaluate(self, data, split, columns, *further):
        """The columns that `evaluate` prints of WORK/run/model."""
        measures = [column for column in columns if column in MEASURES]
        arguments = ["evaluate", "--model", self.path("run", "model"), "--dataset",
                     self.path("data", data), "--split", split, "--measures", ",".join(measures),
                     "--format", "json", "--max-query-tokens", TOKENS, "--max-document-tokens",
                     TOKENS, *further]
        if "recall_at_precision" in columns:
            arguments += ["--thresholds", f"precision={PRECISION}"]
        report = json.loads(self.tandem(*arguments))
        found = {measure: report["measures"][measure] for measure in measures}
        if "recall_at_precision" in columns:
            found["recall_at_precision"] = recall_at_precision(report)
        if "calibration_error" in columns:
            found["calibration_error"] = report["calibration"]["calibration_error"]
        return found

    def measure(self, data):
        """Calibrates WORK/run/model on the dev of `data`, then measures it on all test sets."""
        columns = self.options.columns
        if "calibration_error" in columns:
            self.tandem("calibrate", self.path("run", "model"), "--dataset",
                        self.path("data", data), "--split", "dev", "--method", "platt")
        sets = [data, *(name for name in self.options.test_sets if name != data)]
        return {name: self.evaluate(name, "test", columns) for name in sets}

    def grid_run(self, data, objective, value, rate):
        def make():
            self.train(data, objective, value, rate, seed=1)
            pool = ["--pool", self.options.pool] if self.options.pool else []
            return self.evaluate(data, "dev", [CHOICE], *pool)[CHOICE]
        return self.kept(f"grid {data} {objective} {value} {rate}", {}, make)

    def grid(self, data, objective):
        """{(value, rate): CHOICE on dev} of the runs that are there."""
        found = {(value, rate): self.grid_run(data, objective, value, rate)
                 for value, rate in itertools.product(self.options.grid[objective],
                                                      self.options.rates)}
        return {key: value for key, value in found.items() if value is not None}

    def final(self, data, objective, value, rate, seed):
        """{test set: {column: value}}."""
        def make():
            self.train(data, objective, value, rate, seed)
            return self.measure(data)
        return self.kept(f"final {data} {objective} {value} {rate} {seed}",
                         {"columns": self.options.columns, "sets": self.options.test_sets}, make)

    def base(self, data):
        def make():
            shutil.rmtree(self.path("run"), ignore_errors=True)
            shutil.copytree(self.options.model, self.path("run", "model"))
            return self.measure(data)
        return self.kept(f"base {data}", {"columns": self.options.columns,
                                          "sets": self.options.test_sets}, make)

    def rows(self, data, grids):
        """(row of the tables, results of its seeds) of a training set."""
        yield BASE, [self.base(data)]
        for objective, (parameter, _) in GRID.items():
            whole = len(self.options.grid[objective]) * len(self.options.rates)
            if len(grids[objective]) < whole:
                continue  # nothing is chosen yet
            value, rate = max(grids[objective], key=grids[objective].get)
            yield (f"{objective}, {parameter} {value}",
                   [self.final(data, objective, value, rate, seed)
                    for seed in range(1, self.options.seeds + 1)])
            paper = {key: dev for key, dev in grids[objective].items() if key[0] == PAPER}
            if parameter == "temperature" and paper and value != PAPER:
                rate = max(paper, key=paper.get)[1]
                yield (f"{objective}, {parameter} {PAPER}",
                       [self.final(data, objective, PAPER, rate, 1)])


def recall_at_precision(report):
    """Of `evaluate --thresholds precision=P`; 0 where no threshold has the precision."""
    wish, = (entry for entry in report["thresholds"] if entry["wish"] == f"precision={PRECISION}")
    return wish["recall"] if wish["met"] else 0.0


def grid_table(data, grids, rates):
    rows = [["objective", "", *(f"learning rate {rate}" for rate in rates)]]
    for objective, (parameter, _) in GRID.items():
        for value in sorted({value for value, _ in grids[objective]}, key=float):
            rows.append([objective, f"{parameter} {value}",
                         *(number(grids[objective].get((value, rate)), 4) for rate in rates)])
    return f"\nGrid on {data}, nDCG@10 on dev:\n\n{markdown(rows)}"


def measured(results, test_set, column):
    """Mean and deviation over seeds."""
    values = [result[test_set][column] for result in results]
    if None in values:
        return "-"
    return cell(statistics.mean(values), spread(values), 4 if "auc" in column else 3)


def in_domain_table(data, rows, columns):
    table = [["trained by", *(COLUMNS[column] for column in columns)]]
    for row, results in rows.items():
        table.append([row, *(measured(results, data, column) for column in columns)])
    return f"\nTrained and tested on {data}:\n\n{markdown(table)}"


def zero_shot_table(column, rows_of_sets, test_sets):
    table = [["trained on", "trained by", *test_sets]]
    for data, rows in rows_of_sets.items():
        for row, results in rows.items():
            table.append([data, row, *("" if name == data else measured(results, name, column)
                                       for name in test_sets)])
    return f"\nZero-shot, {COLUMNS[column]}:\n\n{markdown(table)}"


def write_tsv(path, rows_of_sets, columns):
    """A line for each run and test set, unrounded."""
    with open(path + ".partial", "w", encoding="utf-8") as file:
        file.write("\t".join(["trained on", "trained by", "seed", "tested on", *columns]) + "\n")
        for data, rows in rows_of_sets.items():
            for row, results in rows.items():
                for seed, result in enumerate(results, 1):
                    file.writelines("\t".join([data, row, str(seed), name, *map(str, (
                        values[column] for column in columns))]) + "\n"
                                    for name, values in result.items())
    os.rename(path + ".partial", path)


def lemma_text(study):
    data = study.options.train_sets[0]
    folder = study.path("data", data)
    table = show_lemma(study.tandem, study.options.model, folder, rows_of(folder, "test"),
                       study.options.work)
    return (f"\nLemma 1 on {QUERIES} queries of {data} at most, each with one document of its own; "
            f"query i's scores are shifted by {SHIFT:g} i:\n\n{markdown(table)}")


def make_study(options):
    study = Study(options)
    study.make_data()
    text = lemma_text(study)
    rows_of_sets = {}
    for data in options.train_sets:
        grids = {objective: study.grid(data, objective) for objective in GRID}
        text += grid_table(data, grids, options.rates)
        rows = {row: [result for result in results if result is not None]
                for row, results in study.rows(data, grids)}
        rows_of_sets[data] = {row: results for row, results in rows.items() if results}
        if rows_of_sets[data]:
            text += in_domain_table(data, rows_of_sets[data], options.columns)
    text += "".join(zero_shot_table(column, rows_of_sets, options.test_sets)
                    for column in options.columns)
    print(text, end="")
    if options.tsv:
        write_tsv(options.tsv, rows_of_sets, options.columns)
    if options.update:
        update(options.update, text, MARKER)
    if study.missing:
        print(f"{study.missing} runs or more are to be made: start the script again",
              file=sys.stderr)
    else:
        print("all runs are done", file=sys.stderr)


def words(text):
    return [word for word in text.split(",") if word]


def read_options():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--model", required=True, help="folder of all-MiniLM-L6-v2")
    parser.add_argument("--data", required=True, help="folder of the BEIR folders")
    parser.add_argument("--work", required=True, help="folder of data, models and results")
    parser.add_argument("--minutes", type=float, default=90)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--train-sets", type=words, default="packages,medquad,squad")
    parser.add_argument("--test-sets", type=words,
                        default="packages,medquad,squad,cranfield,scifact")
    parser.add_argument("--train", type=int, default=SIZES["train"], help="training queries")
    parser.add_argument("--epochs", type=int, default=MOST_EPOCHS, help="at most")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--pool", type=int, default=5000,
                        help="documents that dev is ranked in; 0: all")
    parser.add_argument("--rates", type=words, default=",".join(RATES))
    parser.add_argument("--sharpness", type=int, default=3,
                        help="so many temperatures and scales of the grid")
    parser.add_argument("--columns", type=words, default=",".join(COLUMNS))
    parser.add_argument("--tsv", help="file to write all values into")
    parser.add_argument("--update", help="page to write the tables into")
    options = parser.parse_args()
    for column in options.columns:
        if column not in COLUMNS:
            fail(f"--columns {column} is unknown; expected some of {','.join(COLUMNS)}")
    options.grid = {name: values[:options.sharpness] for name, (_, values) in GRID.items()}
    return options


if __name__ == "__main__":
    make_study(read_options())
