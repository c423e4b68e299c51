#!/usr/bin/env python3
"""Carries out studies: what a paper claims, tried with this program on small data.

    python3 tools/studies/run_study.py --program build/release/tandem --model FOLDER NAME... [--budget quick]
        [--data-root ../shared/data] [--work .cache/studies] [--pages docs/studies] [--force]

A study is a file studies/NAME.toml; `all` is every one. It may be stopped at any moment: what has
ended is kept in WORK/NAME/BUDGET, and a run goes on from its checkpoint. With the budget `full` the
study's page, DIR/NAME.md and NAME.tsv, and the summary of all pages are written; `quick` prints the
page, whose figures say nothing but that all of it works. Results of another version of the study or
the program are refused; --force makes them anew.
"""

import argparse
import glob
import os
import sys

from engine import page
from engine.data import DataError
from engine.plan import BUDGETS, PlanError, read_study
from engine.records import RunError
from engine.runs import Workshop

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
STUDIES = os.path.join(ROOT, "studies")


def known_studies():
    return sorted(os.path.splitext(os.path.basename(path))[0]
                  for path in glob.glob(os.path.join(STUDIES, "*.toml")))


def chosen_studies(names):
    known = known_studies()
    if names == ["all"]:
        return known
    for name in names:
        if name not in known:
            raise PlanError(f"there is no study {name!r}; there are {', '.join(known)}")
    return names


def list_studies(budget):
    for name in known_studies():
        study = read_study(os.path.join(STUDIES, f"{name}.toml"), budget)
        print(f"{name:24} {study.title} ({study.paper}, {study.place}; about {study.minutes} min)")


def carry_out(name, options):
    study = read_study(os.path.join(STUDIES, f"{name}.toml"), options.budget)
    workshop = Workshop(study, options)
    rows, chosen, compared = workshop.carry_out()
    text = page.study_page(study, workshop, rows, chosen, compared)
    if study.budget == "full" and options.pages:
        page.write(options.pages, study, text, rows, compared)
    else:
        print("Budget quick: this page shows that all of the study works. Its figures, verdicts among them, are of "
              "too few queries and steps to say anything.\n")
        print(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="a study, or all; without one they are listed")
    parser.add_argument("--program", required=True)
    parser.add_argument("--model", required=True, help="folder of the base model")
    parser.add_argument("--budget", choices=BUDGETS, default="quick")
    parser.add_argument("--data-root", default=os.path.join(ROOT, "..", "shared", "data"),
                        help="folder of the BEIR folders that studies name")
    parser.add_argument("--work", default=os.path.join(ROOT, ".cache", "studies"))
    parser.add_argument("--pages", default=os.path.join(ROOT, "docs", "studies"))
    parser.add_argument("--precision", default="auto")
    parser.add_argument("--keep-models", action="store_true")
    parser.add_argument("--force", action="store_true", help="make results of another version anew")
    options = parser.parse_args()
    options.work = os.path.abspath(options.work)
    if options.names and not os.path.isfile(os.path.join(options.model, "config.json")):
        sys.exit(f"run_study.py: --model {options.model} is no model's folder: it has no config.json; `./dev study` "
                 "fetches all-MiniLM-L6-v2")
    try:
        if not options.names:
            list_studies(options.budget)
            return
        for name in chosen_studies(options.names):
            carry_out(name, options)
    except (PlanError, DataError, RunError, OSError) as error:
        sys.exit(f"run_study.py: {error}")
    except KeyboardInterrupt:
        print("run_study.py: stopped; the same command goes on from here", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
