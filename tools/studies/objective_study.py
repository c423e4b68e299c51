#!/usr/bin/env python3
"""Trains every objective on the same data with the same steps and seeds, and tells what it brought.

    python3 tools/studies/objective_study.py --program build/release/tandem --model FOLDER
        --data NAME=FOLDER [--data ...] --results study.jsonl [--seeds 3] [--noise]
        [--train 1280] [--test 500] [--documents 2000] [--update docs/studies/objectives.md]

A data set is a BEIR folder with the splits train and test; grades are scaled by its largest one. A
part of it is taken (--train, --test queries; --documents), so that the whole study ends in an hour.
--noise adds infonce, mann_whitney and bixse with 20 and 40 % of the training labels flipped. Every
run is appended to --results as a JSON line as soon as it has ended, and runs that are there already
are not made again: the study may be stopped and continued. The table has mean and standard deviation
over the seeds; --update writes it between `<!-- study -->` and `<!-- end -->` of a Markdown file.
Objectives that need a teacher's scores (margin_mse, kl_distillation) are left out: these data have
none. Binarised grades are left out where there is one grade only.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile

from beir_part import read_qrels, take_part
from study import cell, markdown, run_program, spread, update

MEASURES = ["ndcg@10", "mrr@10", "auc"]
FURTHER = ["data.negatives=2"]  # further labelled documents of a query, where it has them

SHARP = ["objective.temperature=0.02"]  # the default when the table in docs/studies/objectives.md was made

BINARISED = "bixse, binarised grades"

# Row of the table: the objective, and the recipe keys that are set for it.
ROWS = {
    "infonce": ("infonce", SHARP),
    "infonce, both directions": ("infonce", SHARP + ["objective.directions=both"]),
    "samtone": ("samtone", []),
    "pair": ("pair", []),
    "mann_whitney": ("mann_whitney", []),
    "bixse": ("bixse", FURTHER),
    "bixse without bias": ("bixse", FURTHER + ["objective.learn_bias=false", "objective.bias=0"]),
    BINARISED: ("bixse", FURTHER + ["data.binarize_at={largest}"]),
    "soft_infonce": ("soft_infonce", FURTHER + SHARP),
    "pairwise_bce": ("pairwise_bce", FURTHER),
    "lambda_loss": ("lambda_loss", FURTHER),
}
NOISY = ["infonce", "mann_whitney", "bixse"]
GRADED = {"bixse", "soft_infonce", "pairwise_bce", "lambda_loss"}


def noise_rows(shares):
    for share in shares:
        for name in NOISY:
            objective, sets = ROWS[name]
            yield f"{name}, {share} % flipped", (objective, sets + [f"data.flip_labels={share / 100}"])


def grades_of(folder):
    return {float(grade) for _, _, grade in read_qrels(os.path.join(folder, "qrels", "train.tsv"))}


def tandem(program, arguments):
    return run_program([program, *arguments, "--quiet"])[0]


def evaluate(options, model, folder, largest):
    out = tandem(options.program, ["evaluate", "--model", model, "--dataset", folder, "--split",
                                   "test", "--measures", ",".join(MEASURES), "--relevance-level",
                                   f"{largest:g}", "--format", "json", "--precision",
                                   options.precision, "--max-query-tokens",
                                   str(options.tokens), "--max-document-tokens",
                                   str(options.tokens)])
    return json.loads(out)["measures"]


def recipe_of(options, folder, largest, objective, sets, seed):
    values = {"seed": seed, "model.base": options.model, "model.max_query_tokens": options.tokens,
              "model.max_document_tokens": options.tokens, "data.train": folder,
              "data.positive_grade": largest, "objective.name": objective,
              "optimizer.learning_rate": options.learning_rate, "train.batch": options.batch}
    if objective in GRADED or any(text.startswith("data.flip_labels") for text in sets):
        values["data.grade_scale"] = [0, largest]
    if any(text.startswith("data.binarize_at") for text in sets):
        del values["data.positive_grade"], values["data.grade_scale"]  # it says both
    lines = [f"{key} = {json.dumps(value)}" for key, value in values.items()]
    lines.append("train.epochs = 1.0")
    return lines, [text.format(largest=f"{largest:g}") for text in sets]


def run_one(options, folder, row, seed):
    objective, sets = row
    largest = max(grades_of(folder))
    lines, sets = recipe_of(options, folder, largest, objective, sets, seed)
    with tempfile.TemporaryDirectory() as scratch:
        recipe = os.path.join(scratch, "recipe.toml")
        with open(recipe, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        run = os.path.join(scratch, "run")
        flags = [flag for text in sets for flag in ("--set", text)]
        tandem(options.program, ["train", recipe, "--output", run, "--precision", options.precision,
                                 *flags])
        return evaluate(options, os.path.join(run, "model"), folder, largest)


def read_results(path):
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    return {(line["data"], line["row"], line["seed"]): line["measures"] for line in lines}


def make_runs(options, data, rows):
    found = read_results(options.results)
    jobs = [(name, "base", 0) for name in data]
    jobs += [(name, row, seed) for seed in range(1, options.seeds + 1) for row in rows
             for name in data if row != BINARISED or len(grades_of(data[name])) > 1]
    for number, job in enumerate(jobs, 1):
        if job in found:
            continue
        name, row, seed = job
        print(f"{number}/{len(jobs)} {name}: {row}, seed {seed}", file=sys.stderr, flush=True)
        folder = data[name]
        measures = (evaluate(options, options.model, folder, max(grades_of(folder)))
                    if row == "base" else run_one(options, folder, rows[row], seed))
        found[job] = measures
        with open(options.results, "a", encoding="utf-8") as file:
            line = {"data": name, "row": row, "seed": seed, "measures": measures}
            file.write(json.dumps(line) + "\n")
    return found


def mean_cell(values):
    return cell(statistics.mean(values), spread(values), 4)


def table(found, name, rows):
    lines = [[name, *MEASURES]]
    for row in ["base", *rows]:
        runs = [measures for (data, r, _), measures in found.items() if data == name and r == row]
        if runs:
            lines.append([row] + [mean_cell([run[m] for run in runs]) for m in MEASURES])
    return markdown(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", required=True, action="append", metavar="NAME=FOLDER")
    parser.add_argument("--results", required=True)
    parser.add_argument("--rows", help="only these, separated by semicolons")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--noise", action="store_true")
    parser.add_argument("--train", type=int, default=1280, help="training queries")
    parser.add_argument("--test", type=int, default=500, help="test queries")
    parser.add_argument("--documents", type=int, default=2000, help="documents of the corpus")
    parser.add_argument("--tokens", type=int, default=64, help="of a query, of a document")
    parser.add_argument("--precision", default="auto", help="of training and of the measures")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--learning-rate", type=float, default=5e-5)
    parser.add_argument("--update", help="Markdown file to write the tables into")
    options = parser.parse_args()
    data = dict(entry.split("=", 1) for entry in options.data)
    rows = dict(ROWS)
    if options.noise:
        rows.update(noise_rows([20, 40]))
    if options.rows:
        rows = {name: rows[name] for name in options.rows.split(";")}
    with tempfile.TemporaryDirectory() as scratch:
        parts = {}
        for name, folder in data.items():
            parts[name] = os.path.join(scratch, name)
            take_part(folder, parts[name], {"train": options.train, "test": options.test},
                      options.documents)
        found = make_runs(options, parts, rows)
    text = "\n".join(table(found, name, rows) for name in data)
    print(text, end="")
    if options.update:
        update(options.update, text)


if __name__ == "__main__":
    main()
