#!/usr/bin/env python3
"""What the samplers bring on the demo's data: OPERA's claims, tried on one machine.

    python3 tools/studies/sampling_study.py --program build/release/tandem --model FOLDER --work FOLDER
        [--threads 2] [--seeds 3] [--only main,noise,mined,single] [--update docs/studies/pruning.md]
        [--tsv docs/figures/sampling_study.tsv --svg docs/figures/sampling_study.svg]

The data are the demo's package descriptions, ten of a source, made in --work (which also keeps the
package index, Tandem's cache and the results). Sources with less than four packages that begin
differently are left out. A query is what a package does in one line.

1. choice: uniform sampling is trained with each learning rate and temperature of a small grid; the
   best on dev is used for everything. Then it is trained with 40, 80, 160 and 320 steps: the whole
   budget is where twice as many steps do not raise nDCG@10 on dev by 0.001, at most 160.
2. main: each sampler for a quarter, half, the whole and twice of it, every run with a schedule of
   its own, with several seeds. All packages of the source are positives, in training and in the
   test (there the package itself has grade 2, the others 1).
3. noise: each query has its own package and one other of the same source, at random, as a false
   positive; in the test only its own package is relevant. The row `without false positives` is
   uniform sampling on data that have none.
4. mined: as main, at the whole budget, with one mined negative beside each positive, as OPERA has.
5. single: variants of static and dynamic pruning, for the first seed.

Seconds are processor seconds of a run, with the initial scores found in the cache; what those cost
is measured once and printed. Each run that has ended is one file in WORK/results, and a run whose
file is there with the same settings is not made again: the study may be stopped, killed and
continued. Whatever there is goes into the table, also before the study has ended (--only "" trains
nothing). --update writes the tables between `<!-- study -->` and `<!-- end -->` of a Markdown file.
"""

import argparse
import itertools
import json
import os
import shutil
import statistics
import subprocess
import sys
import textwrap

from sampling_study_data import make_data
from sampling_study_report import draw, write_tsv
from study import Results, cell, markdown, run_program, spread, update, write_recipe

HERE = os.path.dirname(os.path.abspath(__file__))
SIZES = {"train": 2000, "dev": 600, "test": 1000, "documents": 2000, "least": 4}
LENGTHS = {"max_query_tokens": 32, "max_document_tokens": 48}
BATCH = 32
MEASURES = {"ndcg@10": "nDCG@10", "recall@20": "Recall@20"}
RATES = ["1e-5", "2e-5", "5e-5"]
TEMPERATURES = ["0.02", "0.05"]
CHOICE_STEPS = 100
LENGTH_STEPS = [40, 80, 160, 320]  # runs that find the whole budget
RISE = 0.001  # nDCG@10 on dev; what is below it is no rise
MOST_STEPS = 160  # so that the study ends in 75 minutes of two cores

FULL = []
INFOBATCH = ["sampling.name=infobatch"]


def pruned(name, **keys):
    return [f"sampling.name={name}_pruning", *(f"sampling.{key}={keys[key]}" for key in keys)]


# Rows of the tables: what a run sets.
MAIN = {
    "uniform": FULL,
    "random .25": pruned("random", keep=0.25),
    "static .25": pruned("static", keep=0.25),
    "dynamic": pruned("dynamic"),
    "static .5, then dynamic": pruned("dynamic", keep=0.5),
    "infobatch": INFOBATCH,
}
NOISE = {
    "without false positives": FULL,
    "uniform": FULL,
    "random .5": pruned("random", keep=0.5),
    "static .5": pruned("static", keep=0.5),
    "dynamic": pruned("dynamic"),
    "dynamic, queries only": pruned("dynamic", levels="queries"),
    "dynamic, documents only": pruned("dynamic", levels="documents"),
    "static .5, then dynamic": pruned("dynamic", keep=0.5),
    "infobatch": INFOBATCH,
}
MINED = {row: MAIN[row] + ["data.negatives=1"]
         for row in ("uniform", "random .25", "static .25", "dynamic")}
SINGLE = {
    "static 1": pruned("static", keep=1.0),
    "static .75": pruned("static", keep=0.75),
    "static .5": pruned("static", keep=0.5),
    "static .1": pruned("static", keep=0.1),
    "static .25, consistency": pruned("static", keep=0.25, score="consistency"),
    "dynamic, queries only": pruned("dynamic", levels="queries"),
    "dynamic, documents only": pruned("dynamic", levels="documents"),
    "dynamic, every 10 steps": pruned("dynamic", update_interval=10),
    "dynamic, every 100 steps": pruned("dynamic", update_interval=100),
}
PARTS = {"main": MAIN, "noise": NOISE, "mined": MINED, "single": SINGLE}
TITLES = {
    "main": "All packages of the source are relevant",
    "noise": "Half of the training pairs are false; only the package itself is relevant",
    "mined": "With a mined negative beside each positive; all packages of the source are relevant",
    "single": "Variants, the first seed only; all packages of the source are relevant",
}
BASE = "before training"


class Study:
    """Makes runs and keeps what they gave, one file each, below the work folder."""

    def __init__(self, options):
        self.options = options
        self.results = Results(os.path.join(options.work, "results"))
        self.environment = dict(os.environ, TANDEM_CACHE=os.path.join(options.work, "cache"))

    def path(self, *names):
        return os.path.join(self.options.work, *names)

    def data(self, name):
        return self.path("data", name)

    def tandem(self, *arguments):
        """What the program prints, and the processor seconds that it took."""
        return run_program([self.options.program, *arguments, "--quiet", "--threads",
                            self.options.threads, "--precision", self.options.precision],
                           self.environment)

    def make_data(self):
        if os.path.exists(self.data("test")):
            return
        packages = self.path("packages")
        subprocess.run([sys.executable, os.path.join(HERE, "../demo/package_dataset.py"), "--index",
                        self.path("index"), "--output", packages, "--size", "full",
                        "--packages-per-source", "10"], check=True)
        make_data(packages, self.path("data"), SIZES)

    @staticmethod
    def lengths():
        return [word for key, value in LENGTHS.items()
                for word in (f"--{key.replace('_', '-')}", value)]

    def mine(self):
        """Makes the data set `mined`: `clean` with five negatives for each query."""
        if not os.path.exists(self.data("mined")):
            self.tandem("mine", "--model", self.options.model, "--dataset", self.data("clean"),
                        "--split", "train", "--range", "10:100", "--negatives", 5, "--output",
                        self.data("mined"), "--to", "beir", *self.lengths())

    def kept(self, name, settings, make):
        """The result `name`: the one that was kept, if it had these settings, else that of `make`,
        or None where `make` is None."""
        settings = dict(settings, model=os.path.basename(self.options.model), sizes=SIZES,
                        batch=BATCH, lengths=LENGTHS, precision=self.options.precision)
        found = self.results.find(name, settings)
        if found is not None or make is None:
            return found
        return self.results.keep(name, settings, make())

    def evaluate(self, model, split, judged="all"):
        """Both measures on dev or test; by the queries' own packages if `judged` is own."""
        out, _ = self.tandem("evaluate", "--model", model, "--dataset", self.data(split), "--split",
                             split if judged == "all" else judged, "--measures",
                             ",".join(MEASURES), "--format", "json",
                             *self.lengths())
        return json.loads(out)["measures"]

    def train(self, data, steps, seed, sets):
        """Trains into WORK/run; the processor seconds that it took."""
        shutil.rmtree(self.path("run"), ignore_errors=True)
        recipe = self.path("recipe.toml")
        write_recipe(recipe, {
            "seed": seed, "model.base": self.options.model, "data.train": self.data(data),
            "data.negatives": 0, "objective.name": "infonce", "train.batch": BATCH,
            "train.steps": steps, "train.checkpoint_every": 0,
            **{f"model.{key}": value for key, value in LENGTHS.items()}})
        flags = itertools.chain(*(("--set", text) for text in sets))
        _, seconds = self.tandem("train", recipe, "--output", self.path("run"), *flags)
        return seconds

    def trained(self, name, data, steps, seed, sets, split="test", judged="all", anew=True):
        """Both measures and seconds of a run; None where it was not made and `anew` is False."""
        def make():
            seconds = self.train(data, steps, seed, sets)
            return dict(self.evaluate(self.path("run", "model"), split, judged), seconds=seconds)
        settings = {"data": data, "steps": steps, "seed": seed, "sets": sets, "judged": judged}
        return self.kept(name, settings, make if anew else None)

    def base(self, judged):
        return self.kept(f"base {judged}", {"judged": judged},
                         lambda: dict(self.evaluate(self.options.model, "test", judged), seconds=0))

    def scoring(self):
        """Processor seconds of the initial scores: a run that finds none in the cache, against one
        that does."""
        def make():
            shutil.rmtree(self.path("cache"), ignore_errors=True)
            first, second = (self.train("clean", 1, 1, pruned("dynamic")) for _ in range(2))
            return first - second
        return self.kept("scoring", {}, make)

    def choice(self):
        """What is set for every run: the learning rate and temperature that are best on dev."""
        found = {}
        for rate, temperature in itertools.product(RATES, TEMPERATURES):
            sets = [f"optimizer.learning_rate={rate}", f"objective.temperature={temperature}"]
            result = self.trained(f"choice {rate} {temperature}", "clean", CHOICE_STEPS, 1, sets,
                                  "dev")
            found[rate, temperature] = (result["ndcg@10"], sets)
        return max(found.values(), key=lambda entry: entry[0])[1]

    def whole_budget(self, chosen):
        """Steps after which twice as many do not raise the validation, and what each number of
        steps gave on dev. Every run has a schedule of its own."""
        values = {}
        for steps in LENGTH_STEPS:
            result = self.trained(f"length {steps}", "clean", steps, 1, chosen, "dev")
            values[steps] = result["ndcg@10"]
        for steps, longer in itertools.pairwise(LENGTH_STEPS):
            if values[longer] < values[steps] + RISE:
                return min(steps, MOST_STEPS), values
        return MOST_STEPS, values

    def jobs(self, whole):
        """(part, row, steps, seed) of all runs, the most telling first."""
        seeds = range(1, self.options.seeds + 1)
        budgets = [whole, whole // 2, whole // 4]
        yield from (("main", row, steps, seed) for seed in seeds for steps in budgets
                    for row in MAIN)
        yield from (("noise", row, whole, 1) for row in NOISE)
        yield from (("single", row, whole, 1) for row in SINGLE)
        yield from (("noise", row, whole, seed) for seed in seeds if seed > 1 for row in NOISE)
        yield from (("single", row, steps, 1) for steps in budgets[1:] for row in SINGLE)
        yield from (("main", row, 2 * whole, seed) for seed in seeds for row in MAIN)
        yield from (("mined", row, whole, seed) for seed in seeds for row in MINED)

    def run(self, part, row, steps, seed, chosen, anew):
        data, judged = "mined" if part == "mined" else "clean", "all"
        if part == "noise":
            data, judged = "own" if row == "without false positives" else "noisy", "own"
        return self.trained(f"{part} {row} {steps} {seed}", data, steps, seed,
                            chosen + PARTS[part][row], judged=judged, anew=anew)


def rows_of(found):
    """The lines of the TSV: mean and deviation over seeds of {(part, row, steps, seed): result}."""
    groups = {}
    for (part, row, steps, _), result in found.items():
        groups.setdefault((part, row, steps), []).append(result)
    lines = []
    for (part, row, steps), results in groups.items():
        line = [part, row, steps, len(results)]
        for key in [*MEASURES, "seconds"]:
            values = [result[key] for result in results]
            line += [statistics.mean(values), spread(values)]
        lines.append(line)
    order = {(part, row): i for i, (part, row) in enumerate(
        (part, row) for part, rows in PARTS.items() for row in [BASE, *rows])}
    return sorted(lines, key=lambda line: (order[line[0], line[1]], line[2]))


def table(lines, part, measures, steps):
    """A Markdown table of one part: a row for each sampler, columns for measures and steps."""
    held = {(line[1], line[2]): line[3:] for line in lines if line[0] == part}
    steps = [count for count in steps if any(key[1] == count for key in held)]
    header = ["sampler", *(f"{MEASURES[measure]}, {count} steps" for measure in measures
                           for count in steps), f"seconds, {steps[-1]} steps"]
    out = [header]
    for row in [BASE, *PARTS[part]]:
        results = [held.get((row, 0 if row == BASE else count)) for count in steps]
        if not any(results):
            continue
        cells = [cell(*result[1 + 2 * i:3 + 2 * i]) if result else ""
                 for i in map([*MEASURES].index, measures) for result in results]
        seconds = cell(*results[-1][5:7], 0) if results[-1] and row != BASE else ""
        out.append([row, *cells, seconds])
    return markdown(out)


def tables(lines, whole):
    """Part `main` by steps, the others at the whole budget; nothing of a part without runs."""
    made = {(line[0], line[2]) for line in lines}
    budgets = [whole // 4, whole // 2, whole, 2 * whole]
    if any(("main", steps) in made for steps in budgets):
        for measure in MEASURES:
            yield f"{TITLES['main']}, {MEASURES[measure]}", table(lines, "main", [measure], budgets)
    for part in ("noise", "mined", "single"):
        if (part, whole) in made:
            yield TITLES[part], table(lines, part, MEASURES, [whole])


def report(options, found, whole, notes):
    lines = rows_of(found)
    text = textwrap.fill(notes, 120, break_long_words=False, break_on_hyphens=False) + "\n"
    text += "".join(f"\n{title}:\n\n{rows}" for title, rows in tables(lines, whole))
    print(text, end="")
    if options.tsv:
        write_tsv(options.tsv, lines)
    if options.tsv and options.svg:
        draw(options.tsv, options.svg)
    if options.update:
        update(options.update, text)


def make_study(options):
    study = Study(options)
    study.make_data()
    study.mine()
    scoring = study.scoring()
    chosen = study.choice()
    whole, values = study.whole_budget(chosen)
    risen = ", ".join(f"{value:.4f} ({steps})" for steps, value in values.items())
    notes = (f"`{'`, `'.join(chosen)}`; batches of {BATCH} queries. Uniform sampling on dev, "
             f"nDCG@10 by steps: {risen}. The initial scores took {scoring:.1f} s.\n")
    found = {(part, BASE, 0, 0): study.base("own" if part == "noise" else "all") for part in PARTS}
    only = [part for part in options.only.split(",") if part]
    jobs = list(study.jobs(whole))
    for count, job in enumerate(jobs, 1):
        print(f"{count}/{len(jobs)}", end=" ", file=sys.stderr, flush=True)
        result = study.run(*job, chosen, anew=job[0] in only)
        if result:
            found[job] = result
    report(options, found, whole, notes)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--model", required=True, help="folder of all-MiniLM-L6-v2")
    parser.add_argument("--work", required=True, help="folder of data, cache and results")
    parser.add_argument("--only", default=",".join(PARTS), help="these parts")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--precision", default="auto")
    parser.add_argument("--tsv", help="file to write the figures into")
    parser.add_argument("--svg", help="picture to draw of them")
    parser.add_argument("--update", help="Markdown file to write the tables into")
    make_study(parser.parse_args())


if __name__ == "__main__":
    main()
