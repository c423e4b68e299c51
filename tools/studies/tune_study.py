#!/usr/bin/env python3
"""How near `tandem tune` comes to the best of a large grid, at a fraction of the grid's cost.

    python3 tools/studies/tune_study.py --program build/release/tandem --model FOLDER [--data-root ../shared/data]
        [--work .cache/studies/tuning] [--page docs/studies/tuning.md] [--sets NAME ...]

On each data set all 60 points of a grid are trained, each model is measured on test queries, and then
`tandem tune` searches the same points with 15 % of the grid's steps, with several seeds. Beside it stand
a random search and Optuna's TPE (with and without its Hyperband pruner) with as many steps, which take
the grid's runs as theirs: a run's validations are those that they would have seen. It needs optuna.
What has ended is kept in WORK; stopped at any moment, it goes on there.
"""

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys

import tune_lookup
from engine import data as study_data
from engine.records import RunError, file_hash, hash_of, read_json, weights_of, write_json
from study import markdown, update
from tune_searches import BUDGET, EVERY, GRID, POINTS, SEARCHES, START, STEPS, best_dev

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))

MEASURE = "ndcg@10"
TUNE_SEEDS = (1, 2, 3)
AGAIN_SEEDS = (2, 3, 4, 5, 6)  # of the grid's best point, trained again
LOOKUP_SEEDS = range(100)

SETS = {
    "packages": {"kind": "packages", "train": 2000, "dev": 200, "test": 400, "documents": 1000,
                 "recipe": {"data.positive_grade": 2}, "relevance_level": 2},
    "medquad": {"kind": "beir", "folder": "medquad", "train": 2000, "dev": 300, "test": 500,
                "documents": 2000},
    "scifact": {"kind": "beir", "folder": "scifact", "train": 500, "dev": 300, "dev_from": "train",
                "test": 300, "documents": 2000},
    "squad": {"kind": "squad", "folder": "squad-v1.1", "paragraphs": 1000, "questions": 2, "dev": 200,
              "test": 400, "documents": 1000},
    "xquad-de": {"kind": "xquad", "folder": "xquad", "language": "de", "train": 600, "dev": 250,
                 "test": 300, "documents": 240},
    "tagged": {"kind": "packages", "grades": "tags", "train": 1200, "dev": 250, "test": 500,
               "documents": 1500, "recipe": {"data.positive_grade": 10}, "relevance_level": 10},
    "squad-5": {"kind": "squad", "folder": "squad-v1.1", "paragraphs": 400, "questions": 5, "dev": 200,
                "test": 400, "documents": 1000},
    "xquad-es": {"kind": "xquad", "folder": "xquad", "language": "es", "train": 600, "dev": 250,
                 "test": 300, "documents": 240},
}
# Made when nothing of the search was changed any more, and measured once.
LATER = ("tagged", "squad-5", "xquad-es")
RECIPE = {"model.max_query_tokens": 32, "model.max_document_tokens": 64, "schedule.warmup": "10%",
          "train.batch": 32, "train.steps": STEPS, "validation.every": f"{EVERY} steps",
          "validation.measure": MEASURE, "validation.pool": 300, "validation.patience": 0}
LAYERS = 3


def say(text):
    print(f"tune_study: {text}", file=sys.stderr, flush=True)


class Bench:
    """The folder of the study: data, base, and a JSON file of each thing that has ended."""

    def __init__(self, options):
        self.options = options
        self.work = os.path.abspath(options.work)
        os.makedirs(os.path.join(self.work, "results"), exist_ok=True)
        for name in options.sets:
            version = {"settings": hash_of([RECIPE, GRID, START, LAYERS, BUDGET, SETS[name]]),
                       "program": file_hash(options.program),
                       "model": hash_of([file_hash(path) for path in weights_of(options.model)])}
            note = os.path.join(self.work, f"version-{name}.json")
            if os.path.exists(note) and read_json(note) != version:
                raise RunError(f"{self.work} has results on {name} of other settings, another program or "
                               "model: delete it")
            write_json(note, version)

    def program(self, *arguments):
        command = [os.path.abspath(self.options.program), *map(str, arguments), "--quiet"]
        environment = os.environ | {"TANDEM_CACHE": ""}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        if done.returncode != 0:
            raise RunError(f"{' '.join(command)}\nended with {done.returncode}:\n{done.stderr}")
        return done.stdout

    def timed(self, *arguments):
        """What a command prints, and the processor seconds that it took."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        out = self.program(*arguments)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return out, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def kept(self, name, make):
        path = os.path.join(self.work, "results", name + ".json")
        if not os.path.exists(path):
            write_json(path, make())
        return read_json(path)

    def recipe(self, name, values, seed):
        folder = study_data.make(name, SETS[name], self.options.data_root, self.work)
        return {"seed": seed, "model.base": self.base(), "data.train": os.path.join(folder, "train"),
                "validation.data": os.path.join(folder, "eval"), "validation.split": "dev",
                **RECIPE, **SETS[name].get("recipe", {}), **values}

    def write_recipe(self, path, recipe, tune=None):
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(f"{key} = {json.dumps(value)}\n" for key, value in recipe.items())
            file.writelines(f"tune.{key} = {json.dumps(value)}\n" for key, value in (tune or {}).items())
        return path

    def base(self):
        """The first layers of the model, as a run of one step with the rate 0 saves them."""
        run = os.path.join(self.work, "base")
        if not os.path.isdir(os.path.join(run, "model")):
            shutil.rmtree(run, ignore_errors=True)
            folder = study_data.make("medquad", SETS["medquad"], self.options.data_root, self.work)
            values = {"seed": 1, "model.base": os.path.abspath(self.options.model),
                      "model.layers": LAYERS, "data.train": os.path.join(folder, "train"), "data.limit": 8,
                      "model.max_query_tokens": RECIPE["model.max_query_tokens"],
                      "model.max_document_tokens": RECIPE["model.max_document_tokens"],
                      "objective.name": "infonce", "optimizer.learning_rate": 0.0, "train.batch": 8,
                      "train.steps": 1}
            self.program("train", self.write_recipe(run + ".toml", values), "--output", run)
        return os.path.join(run, "model")

    def test_value(self, name, model):
        level = SETS[name].get("relevance_level", 1)
        found = json.loads(self.program("evaluate", "--model", model, "--dataset",
                                        os.path.join(self.work, "data", name, "eval"), "--split", "test",
                                        "--measures", MEASURE, "--relevance-level", level,
                                        "--format", "json"))
        return found["measures"][MEASURE]


def grid_run(bench, name, at, seed=1):
    """A point of the grid, trained: its dev value at each validation, and the best model's on test."""
    run = os.path.join(bench.work, f"run-{name}")
    shutil.rmtree(run, ignore_errors=True)
    recipe = bench.write_recipe(run + ".toml", bench.recipe(name, POINTS[at], seed))
    _, seconds = bench.timed("train", recipe, "--output", run)
    with open(os.path.join(run, "metrics.jsonl"), encoding="utf-8") as file:
        events = [json.loads(line) for line in file]
    dev = {event["step"]: event[f"validation_{MEASURE}"] for event in events if event["event"] == "validation"}
    say(f"{name}, {at + 1}/{len(POINTS)}: {max(dev.values()):.4f} in {seconds:.0f} s")
    return {"point": POINTS[at], "dev": [dev[step] for step in sorted(dev)], "seconds": round(seconds, 1),
            "test": bench.test_value(name, os.path.join(run, "model"))}


def read_journal(folder):
    """(the points of its trials in their order, the values of each by ninths, how many the plan has)."""
    with open(os.path.join(folder, "journal.jsonl"), encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    plan = next(row for row in rows if row["event"] == "plan")
    configurations = plan["configurations"] + [row["values"] for row in rows if row["event"] == "draw"]
    points = [POINTS.index(START | {key: json.loads(value) for key, value in values.items()})
              for values in configurations]
    values = [{} for _ in points]
    for row in rows:
        if row["event"] == "rung":
            ninths = plan["brackets"][row["bracket"] - 1][row["round"]][1]
            values[row["trial"] - 1][ninths] = row["value"]
    return points, values, len(plan["configurations"])


def best_trial(choice):
    """The arm of a search's best trial, which a soup begins with; None where it says not to train."""
    trials = [arm for arm in choice["arms"] if "trials" not in arm and arm["weight"] == 1]
    return max(trials, key=lambda arm: arm["value"]) if "chosen" in choice else None


def best_point(folder, choice):
    """The index of the point of the grid of a search's best trial; None where it says not to train."""
    points, _, _ = read_journal(folder)
    best = best_trial(choice)
    return None if best is None else points[best["trial"] - 1]


def count_same_draws(folder):
    """(how many trials of a search `tune_lookup` would have drawn too, how many were drawn)."""
    points, values, given = read_journal(folder)
    same = [tune_lookup.next_draw(POINTS, points[:at], values[:at], GRID) == points[at]
            for at in range(given, len(points))]
    return sum(same), len(same)


def tune_run(bench, name, seed):
    """`tandem tune` with 15 % of the grid's steps: its choice, measured on test by the program itself."""
    folder = os.path.join(bench.work, f"search-{name}-{seed}")
    recipe = bench.write_recipe(folder + ".toml", bench.recipe(name, START, seed),
                                {**GRID, "test": os.path.join(bench.work, "data", name, "eval")})
    resume = ["--resume"] if os.path.exists(os.path.join(folder, "journal.jsonl")) else []
    text, seconds = bench.timed("tune", recipe, "--output", folder, "--budget", f"{BUDGET} steps", "--format",
                                "json", *resume)
    out = json.loads(text)
    found = {"verdict": out["choice"]["verdict"], "seconds": round(seconds, 1),
             "resumed": bool(resume), "test": out.get("test"), "choice": out["choice"],
             "point": best_point(folder, out["choice"]), "same_draws": count_same_draws(folder)}
    say(f"{name}, tune with seed {seed}: {found['verdict']}")
    return found


def choice_of(choice):
    """The arm of a search's choice; None where it says not to train."""
    return choice["arms"][choice["chosen"]] if "chosen" in choice else None


def test_of(bench, name, seed, arm):
    """An arm's model, measured on test as the grid's runs are; the base for None."""
    folder = os.path.join(bench.work, f"search-{name}-{seed}")
    return {"test": bench.test_value(name, bench.base() if arm is None else os.path.join(folder, arm["model"]))}


# --- the page ---------------------------------------------------------------------------------------


def regrets(values, best):
    """Mean and worst of what is lost against the best, and the share of at most 0.005."""
    lost = [best - value for value in values]
    near = sum(one <= 0.005 for one in lost)
    return [f"{statistics.mean(lost):+.4f}", f"{max(lost):+.4f}", f"{near} of {len(lost)}"]


def set_rows(name, runs, searches, base):
    best = max(range(len(runs)), key=lambda at: best_dev(runs[at]))
    chosen, oracle = runs[best]["test"], max(run["test"] for run in runs)
    rows = [[name, "base", f"{base:.4f}", "", "", ""],
            ["", "the grid's best on dev", f"{chosen:.4f}", "", "", ""],
            ["", "the grid's best on test", f"{oracle:.4f}", "", "", ""]]
    for says, values in searches.items():
        rows.append(["", f"{says}, {len(values)} seeds", f"{statistics.mean(values):.4f}",
                     *regrets(values, chosen)])
    return rows, chosen, oracle


def study_set(bench, name):
    runs = [bench.kept(f"grid-{name}-{at}", lambda at=at: grid_run(bench, name, at))
            for at in range(len(POINTS))]
    tunes = [bench.kept(f"tune-{name}-{seed}", lambda seed=seed: tune_run(bench, name, seed))
             for seed in TUNE_SEEDS]
    base = bench.kept(f"base-{name}", lambda: {"test": bench.test_value(name, bench.base())})["test"]
    best = max(range(len(runs)), key=lambda at: best_dev(runs[at]))
    again = [bench.kept(f"again-{name}-{best}-{seed}", lambda seed=seed: grid_run(bench, name, best, seed))
             for seed in AGAIN_SEEDS]

    def models_of(kind, arm_of):
        return [bench.kept(f"{kind}-{name}-{seed}",
                           lambda seed=seed, found=found: test_of(bench, name, seed, arm_of(found["choice"])))["test"]
                for seed, found in zip(TUNE_SEEDS, tunes)]

    searches = {"the grid's best point, trained again": [run["test"] for run in again],
                "`tandem tune`, its choices": models_of("choice", choice_of),
                "`tandem tune`, its best trials, without a soup": models_of("best-trial", best_trial),
                "the grid's runs of the points of its best trials":
                    [base if found["point"] is None else runs[found["point"]]["test"] for found in tunes]}
    for says, search in SEARCHES.items():
        key = says.lower().replace(" ", "-").replace(",", "").replace("`", "")
        found = bench.kept(f"{key}-{name}", lambda search=search: [search(runs, seed) for seed in LOOKUP_SEEDS])
        searches[says] = [runs[at]["test"] for at in found]
    rows, chosen, oracle = set_rows(name, runs, searches, base)
    seconds = sum(run["seconds"] for run in runs)
    return {"rows": rows, "tunes": tunes, "runs": runs, "seconds": seconds, "searches": searches,
            "chosen": chosen, "oracle": oracle}


def write_runs(path, found):
    with open(path, "w", encoding="utf-8") as file:
        file.write("\t".join(["data", *GRID, "dev", "test", "seconds"]) + "\n")
        for name, one in found.items():
            for run in one["runs"]:
                file.write("\t".join([name, *(str(run["point"][key]) for key in GRID),
                                      f"{best_dev(run):.6f}", f"{run['test']:.6f}", str(run["seconds"])]) + "\n")


def all_table(title, found):
    """What each search loses over the sets of `found`."""
    all_searches = {}
    for one in found:
        for says, values in one["searches"].items():
            all_searches.setdefault(says, []).extend((one, value) for value in values)
    rows = [[title, "lost on average", "lost at most", "within 0.005 of the grid's best on dev",
             "within 0.005 of its best on test"]]
    for says, values in all_searches.items():
        lost = [one["chosen"] - value for one, value in values]
        near_oracle = sum(one["oracle"] - value <= 0.005 for one, value in values)
        rows.append([says, f"{statistics.mean(lost):+.4f}", f"{max(lost):+.4f}",
                     f"{sum(each <= 0.005 for each in lost)} of {len(lost)}", f"{near_oracle} of {len(lost)}"])
    return markdown(rows)


def page_tables(found):
    head = ["data", "what chose", f"test {MEASURE}", "lost on average", "lost at most", "within 0.005"]
    text = markdown([head, *(row for one in found.values() for row in one["rows"])])
    groups = {"the first five sets": [one for name, one in found.items() if name not in LATER],
              "the three later sets": [one for name, one in found.items() if name in LATER]}
    alls = [all_table(title, some) for title, some in groups.items() if some]
    cost = [["processor seconds", "60 runs", "`tandem tune`", "share"]]
    for name, one in found.items():
        taken = [tune["seconds"] for tune in one["tunes"] if not tune["resumed"]]
        if taken:
            mean = statistics.mean(taken)
            cost.append([name, f"{one['seconds']:.0f} s", f"{mean:.0f} s", f"{mean / one['seconds']:.2f}"])
    draws = [tune["same_draws"] for one in found.values() for tune in one["tunes"]]
    checked = (f"Of {sum(count for _, count in draws)} configurations that `tandem tune` drew by what it had seen, "
               f"{sum(same for same, _ in draws)} are those that\n`tools/studies/tune_lookup.py` draws from the same "
               "values.\n")
    choices = [choice_of(tune["choice"]) for one in found.values() for tune in one["tunes"]]
    soups = [len(arm["trials"]) for arm in choices if arm is not None and "trials" in arm]
    made = (f"Of {len(choices)} choices {len(soups)} are soups, of {min(soups)} to {max(soups)} trials.\n"
            if soups else "")
    return "\n".join([*alls, text, markdown(cost), checked + made])


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--data-root", default=os.path.join(ROOT, "..", "shared", "data"))
    parser.add_argument("--work", default=os.path.join(ROOT, ".cache", "studies", "tuning"))
    parser.add_argument("--page", help="the page whose tables are replaced; without it they are printed")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    options = parser.parse_args()
    options.data_root = os.path.abspath(options.data_root)
    try:
        bench = Bench(options)
        found = {name: study_set(bench, name) for name in options.sets}
    except (RunError, study_data.DataError, OSError) as error:
        sys.exit(f"tune_study.py: {error}")
    if options.page:
        update(options.page, page_tables(found))
        write_runs(os.path.splitext(options.page)[0] + ".tsv", found)
    else:
        print(page_tables(found))


if __name__ == "__main__":
    main()
