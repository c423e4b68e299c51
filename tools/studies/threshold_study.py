#!/usr/bin/env python3
"""Does thresholding improve as the Mann-Whitney paper says? infonce, mann_whitney and bixse, each
at its best, measured as rankings and at one threshold for all queries.

    python3 tools/studies/threshold_study.py --program build/release/tandem --model FOLDER --data FOLDER
        --work FOLDER [--minutes 90] [--update docs/studies/thresholds.md] [--tsv FILE]

--data holds the BEIR folders medquad, squad-v1.1, cranfield and scifact; the package descriptions
(tools/demo/package_dataset.py) are made in --work, which also keeps what was measured.

1. grid: on each training set, each objective is trained with each temperature (bixse: scale) at
   the first learning rate, seed 1; the temperature that is best on dev, and the paper's 0.01, then
   also at the other rates. The pair that is best on dev is taken for the objective (none where the
   model before training is better); of infonce and mann_whitney also the best rate at 0.01.
2. final: the pair that was taken is trained with two further seeds. Its models (of 0.01 that of
   seed 1) are calibrated on dev by Platt's method and measured on the set's test queries; the model
   of seed 1 also on those of the other sets (zero-shot: what calibrates it is still the training
   set's dev). The base model is measured in the same way.
3. lemma: MW's Lemma 1 on the base model's scores.

A run is trained until dev does not rise in PATIENCE epochs, at a constant learning rate; the
best epoch's weights stay. Dev is the folder's own split, or held out of train, with documents of its
own. Every corpus is cut to so many documents (SIZES), all judged ones among them.
Every run that has ended is one file in WORK/results, and a run whose file is there with the same
settings is not made again. --minutes: no run is begun that would probably end later; start the
script again until it says that all are done. Several calls with different --train-sets may share
one WORK at the same time. Whatever there is goes into the tables, which --update writes between
`<!-- threshold study -->` and `<!-- end -->` of a page.

The base model, all-MiniLM-L6-v2, has had contrastive training; the paper's had none.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass

from threshold_lemma import QUERIES, SHIFT, show_lemma
from threshold_study_data import make_data, rows_of
from study import Results, cell, markdown, number, run_program, spread, update, write_recipe

TRAIN_SETS = ["packages", "medquad", "squad"]
ALL_SETS = [*TRAIN_SETS, "cranfield", "scifact"]
SEEDS = [1, 2, 3]
HERE = os.path.dirname(os.path.abspath(__file__))
FOLDERS = {"squad": "squad-v1.1"}  # where a set's folder in --data has another name
# Queries of each split, and documents, at most.
SIZES = {"train": 800, "dev": 300, "test": 500, "corpus": 3000}
POOL = 1500  # documents that dev is ranked in while training
TOKENS = 64
BATCH = 64
MOST_EPOCHS = 5
PATIENCE = {"packages": 1, "medquad": 3, "squad": 1}  # epochs without a rise
CHOICE = "ndcg@10"  # decides on dev, for all objectives
RATES = {"packages": ["5e-5", "2e-5"], "medquad": ["5e-5", "2e-5"],
         "squad": ["5e-5", "2e-5", "5e-6"]}  # which the base model was trained on
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
UNMET = 6  # exit code of a threshold that cannot be met
BASE = "before training"
MARKER = "threshold study"


@dataclass(frozen=True)
class Run:
    """What is trained on a set."""
    data: str
    objective: str
    value: str  # of the objective's parameter in GRID
    rate: str
    seed: int = 1

    def name(self):
        return f"{self.data} {self.objective} {self.value} {self.rate} {self.seed}"


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
                            self.options.threads], expected=(0, UNMET))[0]

    def make_data(self):
        os.makedirs(self.path("data"), exist_ok=True)
        for name in ALL_SETS:
            source = os.path.join(self.options.data, FOLDERS.get(name, name))
            if name == "packages":
                source = self.path("packages")
                if not os.path.exists(source):
                    subprocess.run([sys.executable, os.path.join(HERE, "../demo/package_dataset.py"),
                                    "--index", self.path("index"), "--output", source], check=True)
            make_data(source, self.path("data", name), self.options.sizes)

    def kept(self, name, make):
        """The result of a run, or None where it was not made and there is no time left for it."""
        options = self.options
        settings = {"model": os.path.basename(options.model), "sizes": options.sizes,
                    "batch": BATCH, "tokens": TOKENS, "epochs": options.epochs,
                    "patience": max((PATIENCE[data] for data in name.split() if data in PATIENCE),
                                    default=0),
                    "pool": POOL, "precision": PRECISION}
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

    def folder(self, run):
        return self.path("runs", run.name().replace(" ", "-"))

    def recipe(self, run):
        folder = self.path("data", run.data)
        epoch = max(1, len({row[0] for row in rows_of(folder, "train")}) // BATCH)
        recipe = {
            "seed": run.seed, "model.base": self.options.model, "model.max_query_tokens": TOKENS,
            "model.max_document_tokens": TOKENS, "data.train": folder, "data.negatives": 0,
            "objective.name": run.objective,
            f"objective.{GRID[run.objective][0]}": float(run.value),
            "optimizer.learning_rate": float(run.rate), "schedule.name": "constant",
            "train.batch": BATCH, "train.steps": self.options.epochs * epoch,
            "train.checkpoint_every": 0, "validation.data": folder, "validation.measure": CHOICE,
            "validation.every": f"{epoch} steps", "validation.patience": PATIENCE[run.data],
            "validation.pool": POOL}
        if run.objective == "bixse":
            recipe["data.binarize_at"] = 1.0  # siblings of a package are right, as for the others
        return recipe

    def train(self, run):
        """Trains the model of `run`; returns CHOICE on dev, and the step that it was reached at."""
        folder = self.folder(run)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(os.path.dirname(folder), exist_ok=True)
        write_recipe(folder + ".toml", self.recipe(run))
        self.tandem("train", folder + ".toml", "--output", folder)
        shutil.rmtree(os.path.join(folder, "checkpoints"))
        with open(os.path.join(folder, "metrics.jsonl"), encoding="utf-8") as file:
            end, = (row for row in map(json.loads, file) if row["event"] == "finished")
        return {CHOICE: end[f"best_{CHOICE}"], "step": end["model_step"]}

    def trained(self, run):
        return self.kept(f"train {run.name()}", lambda: self.train(run))

    def evaluate(self, model, data):
        """The columns that `evaluate` prints of a model on the test queries of a set."""
        report = json.loads(self.tandem(
            "evaluate", "--model", model, "--dataset", self.path("data", data), "--measures",
            ",".join(MEASURES), "--thresholds", f"precision={PRECISION}", "--format", "json",
            "--precision", self.options.precision))
        return {**{measure: report["measures"][measure] for measure in MEASURES},
                "recall_at_precision": recall_at_precision(report),
                "calibration_error": report["calibration"]["calibration_error"]}

    def measure(self, model, data, sets):
        """Calibrates a model on the dev of `data`, then measures it on the test of all sets."""
        self.tandem("calibrate", model, "--dataset", self.path("data", data), "--split", "dev",
                    "--method", "platt", "--precision", self.options.precision)
        return {name: self.evaluate(model, name) for name in sets}

    def measured(self, run):
        """{test set: {column: value}}."""
        if self.trained(run) is None:
            return None
        sets = all_sets_from(run.data) if run.seed == 1 else [run.data]

        def make():
            if not os.path.exists(os.path.join(self.folder(run), "model")):
                self.train(run)  # another WORK's result, or a folder that was removed
            return self.measure(os.path.join(self.folder(run), "model"), run.data, sets)
        return self.kept(f"test {run.name()}", make)

    def base(self, data):
        def make():
            model = self.path("runs", f"base-{data}")
            shutil.rmtree(model, ignore_errors=True)
            shutil.copytree(self.options.model, model)
            with open(os.path.join(model, "sentence_bert_config.json"), "w",
                      encoding="utf-8") as file:
                json.dump({"max_seq_length": TOKENS}, file)  # as the trained ones
            return self.measure(model, data, all_sets_from(data))
        return self.kept(f"test {data} base", make)

    def grid(self, data, objective):
        """{(value, rate): CHOICE on dev}, or None where a run of the grid is missing."""
        first, *others = RATES[data]
        parameter, values = GRID[objective]
        found = {}

        def add(value, rate):
            result = self.trained(Run(data, objective, value, rate))
            found[value, rate] = result and result[CHOICE]

        for value in values:
            add(value, first)
        if None in found.values():
            return None
        best = max(values, key=lambda value: found[value, first])
        for value in {best: 0, PAPER: 0} if parameter == "temperature" else [best]:
            for rate in others:
                add(value, rate)
        return None if None in found.values() else found

    def is_trained(self, run):
        """Whether a run's best step is after the base model; a run that is not made yet counts."""
        result = self.trained(run)
        return result is None or result["step"] > 0

    def rows(self, data, grids):
        """(row of the tables, {seed: results}) of a training set. A seed whose best step is 0 has
        the weights of the base model: it is no measurement of the objective, and is left out."""
        yield BASE, {1: self.base(data)}
        for objective, (parameter, _) in GRID.items():
            grid = grids[objective]
            if grid is None:
                continue  # nothing is chosen yet
            value, rate = max(grid, key=grid.get)
            if self.trained(Run(data, objective, value, rate))["step"] == 0:
                continue  # the model before training is the best
            runs = {seed: Run(data, objective, value, rate, seed) for seed in SEEDS}
            trained = {seed: run for seed, run in runs.items() if self.is_trained(run)}
            remark = ("" if len(trained) == len(SEEDS) else
                      f" (seed {', '.join(map(str, trained))}; the others stayed the base)")
            yield (f"{objective}, {parameter} {value}{remark}",
                   {seed: self.measured(run) for seed, run in trained.items()})
            if parameter == "temperature" and value != PAPER:
                rate = max((key for key in grid if key[0] == PAPER), key=grid.get)[1]
                yield (f"{objective}, {parameter} {PAPER}",
                       {1: self.measured(Run(data, objective, PAPER, rate))})


def all_sets_from(data):
    return [data, *(name for name in ALL_SETS if name != data)]


def recall_at_precision(report):
    """Of `evaluate --thresholds precision=P`; 0 where no threshold has the precision."""
    wish, = (entry for entry in report["thresholds"] if entry["wish"] == f"precision={PRECISION}")
    return wish["recall"]["value"] if wish["met"] else 0.0


def grid_table(data, grids):
    rates = RATES[data]
    rows = [["objective", "", *(f"learning rate {rate}" for rate in rates)]]
    for objective, (parameter, values) in GRID.items():
        for value in values if grids[objective] else []:
            rows.append([objective, f"{parameter} {value}",
                         *(number(grids[objective].get((value, rate)), 4) for rate in rates)])
    return f"\nGrid on {data}, nDCG@10 on dev:\n\n{markdown(rows)}"


def value_of(results, test_set, column):
    """Mean and deviation over the seeds that were measured on the set."""
    values = [result[test_set][column] for result in results.values() if test_set in result]
    if None in values:
        return "-"
    return cell(statistics.mean(values), spread(values), 4 if "auc" in column else 3)


def in_domain_table(data, rows, grids):
    table = [["trained by", *COLUMNS.values()]]
    for row, results in rows.items():
        table.append([row, *(value_of(results, data, column) for column in COLUMNS)])
    worse = [name for name, grid in grids.items()
             if grid and not any(row.startswith(f"{name},") for row in rows)]
    remark = (f"\nNo run of {', '.join(worse)} was better on dev than the model before training.\n"
              if worse else "")
    return f"\nTrained and tested on {data}:\n\n{markdown(table)}{remark}"


def zero_shot_table(column, rows_of_sets):
    table = [["trained on", "trained by", *ALL_SETS]]
    for data, rows in rows_of_sets.items():
        for row, results in rows.items():
            table.append([data, row, *("" if name == data else value_of(results, name, column)
                                       for name in ALL_SETS)])
    return f"\nZero-shot, {COLUMNS[column]}:\n\n{markdown(table)}"


def write_tsv(path, rows_of_sets):
    """A line for each run and test set, unrounded."""
    with open(path + ".partial", "w", encoding="utf-8") as file:
        file.write("\t".join(["trained on", "trained by", "seed", "tested on", *COLUMNS]) + "\n")
        for data, rows in rows_of_sets.items():
            for row, results in rows.items():
                for seed, result in results.items():
                    file.writelines("\t".join([data, row, str(seed), name, *map(str, (
                        values[column] for column in COLUMNS))]) + "\n"
                                    for name, values in result.items())
    os.rename(path + ".partial", path)


def lemma_text(study):
    data = TRAIN_SETS[0]
    folder = study.path("data", data)
    table = study.kept("lemma", lambda: show_lemma(study.tandem, study.options.model, folder,
                                                   rows_of(folder, "test"), study.options.work))
    if table is None:
        return ""
    return (f"\nLemma 1 on {QUERIES} queries of {data} at most, each with one document of its own; "
            f"query i's scores are shifted by {SHIFT:g} i:\n\n{markdown(table)}")


def make_study(options):
    study = Study(options)
    study.make_data()
    text = lemma_text(study)
    rows_of_sets = {}
    for data in options.train_sets:
        grids = {objective: study.grid(data, objective) for objective in GRID}
        text += grid_table(data, grids)
        rows = {row: {seed: result for seed, result in results.items() if result is not None}
                for row, results in study.rows(data, grids)}
        rows_of_sets[data] = {row: results for row, results in rows.items() if results}
        if rows_of_sets[data]:
            text += in_domain_table(data, rows_of_sets[data], grids)
    text += "".join(zero_shot_table(column, rows_of_sets) for column in COLUMNS)
    print(text, end="")
    if options.tsv:
        write_tsv(options.tsv, rows_of_sets)
    if options.update:
        update(options.update, text, MARKER)
    if study.missing:
        print(f"{study.missing} runs or more are to be made: start the script again",
              file=sys.stderr)
    else:
        print("all runs are done", file=sys.stderr)


def read_options():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--model", required=True, help="folder of all-MiniLM-L6-v2")
    parser.add_argument("--data", required=True, help="folder of the BEIR folders")
    parser.add_argument("--work", required=True, help="folder of data, models and results")
    parser.add_argument("--minutes", type=float, default=90)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--precision", default="auto", help="of measuring: auto, fp32 or bf16")
    parser.add_argument("--train-sets", type=lambda text: text.split(","), default=TRAIN_SETS,
                        help="comma-separated, some of " + ",".join(TRAIN_SETS))
    parser.add_argument("--train", type=int, default=SIZES["train"], help="training queries")
    parser.add_argument("--epochs", type=int, default=MOST_EPOCHS, help="at most")
    parser.add_argument("--tsv", help="file to write all values into")
    parser.add_argument("--update", help="page to write the tables into")
    options = parser.parse_args()
    options.sizes = dict(SIZES, train=options.train)
    return options


if __name__ == "__main__":
    make_study(read_options())
