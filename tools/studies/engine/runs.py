"""Trains a study's arms and measures them, by the program's commands; what has ended is kept.

For each data set and arm every point of the grid is trained with seed 1, and the one of the best dev
measure is trained with the other seeds. Test queries are looked at once, by these models.
"""

import json
import os
import shutil
import subprocess
import time

from . import data as study_data
from .plan import BASE, CROSS, VIEWS
from .records import RunError, file_hash, hash_of, read_json, say, toml_text, weights_of, write_json
from .taught import CROSS_ENCODER, TaughtPairs

DELETED_WHEN_MEASURED = ("model", "checkpoints")

POOLED = {"auc", "partial_auc"}  # over all queries: of these `compare` knows no mean over seeds
KEPT = ("baseline", "value", "difference", "low", "high", "p")  # of what `compare` says of a measure


def over_seeds(found):
    """A measure that pools all queries, compared seed by seed: means, and of what the seeds say
    the most cautious: the hull of the intervals and the largest p."""
    mean = {key: sum(one[key] for one in found) / len(found) for key in ("baseline", "value", "difference")}
    return mean | {"low": min(one["low"] for one in found), "high": max(one["high"] for one in found),
                   "p": max(one["p"] for one in found)}


class Workshop(TaughtPairs):
    """The folder of a study at a budget: its data, runs, results."""

    def __init__(self, study, options):
        self.study = study
        self.options = options
        self.folder = os.path.join(options.work, study.name, study.budget)
        self.results = os.path.join(self.folder, "results")
        self.fingerprints = {}
        self.chosen = {}  # (data, arm) -> the number of its point
        self.seen = {}  # data -> what `evaluate --views` says of its arms
        self.made, self.to_make, self.started = 0, 0, time.monotonic()

    # --- what the results are of -------------------------------------------------------------------

    def version(self):
        """What results depend on: the study but for its words, and the program."""
        found = {**{part: hash_of(value) for part, value in self.study.decides().items()},
                 "program": self.program(["version"])[0].split("\n", 1)[0],
                 "build": file_hash(self.options.program),
                 "model": hash_of([file_hash(path) for path in weights_of(self.options.model)]),
                 "precision": self.options.precision}
        if any(arm.scored in CROSS for arm in self.study.arms.values()):
            found["cross-encoder's training"] = file_hash(CROSS_ENCODER)
        return found

    def begin(self):
        note = os.path.join(self.folder, "version.json")
        version = self.version()
        found = read_json(note) if os.path.exists(note) else version
        # Arms and data sets that have come to the study since are tried beside what is there.
        differs = [key for key in version if found.get(key, version[key]) != version[key]]
        if differs:
            if not self.options.force:
                raise RunError(f"{self.folder} has results of another version (another "
                               f"{', '.join(differs)}); --force makes them anew")
            found = {}
            for part in ("runs", "results", "base", "data"):
                shutil.rmtree(os.path.join(self.folder, part), ignore_errors=True)
        os.makedirs(self.results, exist_ok=True)
        for measure in {self.study.select, *self.study.measures}:
            if "(measures)" not in self.program(["explain", measure])[0].split("\n", 1)[0]:
                raise RunError(f"{measure!r} is no measure; `tandem explain measures` has them")
        for name, spec in self.study.data.items():
            folder = study_data.make(name, spec, self.options.data_root, self.folder)
            self.fingerprints[name] = study_data.fingerprint(folder)
        write_json(note, found | version)
        self.make_base()
        for name, spec in self.study.data.items():
            if "mined_negatives" in spec:
                self.mine(name, spec)
            for kind in {arm.scored for arm in self.study.arms_of(name) if arm.scored}:
                self.score(name, kind)

    def data(self, name, part):
        return os.path.join(self.folder, "data", name, part)

    # --- the program -------------------------------------------------------------------------------

    def program(self, arguments, quiet=False):
        """(stdout, stderr) of a command; a failure ends the study with what the program said."""
        command = [os.path.abspath(self.options.program), *arguments, *(["--quiet"] if quiet else [])]
        environment = os.environ | {"TANDEM_CACHE": os.path.join(self.folder, "cache")}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        if done.returncode != 0:
            raise RunError(f"{' '.join(command)}\nended with {done.returncode}:\n{done.stderr}")
        return done.stdout, done.stderr

    def recipe(self, data, arm, point, seed):
        values = {"seed": seed, "model.base": os.path.abspath(self.options.model),
                  "data.train": os.path.abspath(self.taught(data, arm)),
                  "validation.data": os.path.abspath(self.data(data, "eval")),
                  "validation.split": "dev", "validation.measure": self.study.select,
                  "train.keep_checkpoints": 1,
                  **self.study.data[data].get("recipe", {}), **arm.recipe, **arm.points[point]}
        if (data, arm.after) in self.chosen:  # what that arm saved has its layers, and no others
            values["model.base"] = os.path.abspath(self.model(data, arm.after, self.chosen, seed))
            values.pop("model.layers", None)
        return values

    def recipe_hash(self, data, arm, point):
        """Of all that a run learns from but its seed: the recipe, the data, the base."""
        values = {key: value for key, value in self.recipe(data, arm, point, 0).items()
                  if key not in ("seed", "model.base", "data.train", "validation.data")}
        if arm.after is not None:
            values["after"] = self.recipe_hash(data, self.study.arms[arm.after], self.chosen[data, arm.after])
        if arm.scored is not None:
            values["scored"] = arm.scored
        return hash_of([values, self.fingerprints[data], os.path.basename(self.options.model.rstrip("/"))])

    def make_base(self):
        """The model that training starts from, as a run saves it, with the recipe's limits of tokens and
        what else of its [model] holds for all arms: that of a step with the rate 0."""
        run = os.path.join(self.folder, "base")
        if os.path.isdir(os.path.join(run, "model")):
            return
        shutil.rmtree(run, ignore_errors=True)
        data = self.study.data_trained()[0]
        values = {"seed": 1, "model.base": os.path.abspath(self.options.model),
                  "data.train": os.path.abspath(self.data(data, "train")), "data.limit": 8,
                  "objective.name": "infonce", "optimizer.learning_rate": 0.0, "train.batch": 8,
                  "train.steps": 1,
                  **{key: value for key, value in self.study.recipe.items() if key.startswith("model.")}}
        with open(run + ".toml", "w", encoding="utf-8") as file:
            file.write(toml_text(values))
        self.program(["train", file.name, "--output", run, "--precision", self.options.precision], quiet=True)

    def run_folder(self, data, arm, point, seed=None):
        folder = os.path.join(self.folder, "runs", data, arm.name, f"point-{point + 1}")
        return folder if seed is None else os.path.join(folder, f"seed-{seed}")

    # --- runs --------------------------------------------------------------------------------------

    def result_path(self, kind, *names):
        return os.path.join(self.results, "-".join([kind, *map(str, names)]).replace("/", "_") + ".json")

    def train(self, data, arm, point, seed):
        """The row of a run, which is made or gone on with where it has not ended."""
        path = self.result_path("run", data, arm.name, point + 1, seed)
        if os.path.exists(path):
            return read_json(path)
        if arm.after is not None:
            self.restore(data, [arm.after], self.chosen)
        run = self.run_folder(data, arm, point, seed)
        os.makedirs(os.path.dirname(run), exist_ok=True)
        recipe = run + ".toml"
        with open(recipe, "w", encoding="utf-8") as file:
            file.write(toml_text(self.recipe(data, arm, point, seed)))
        resume = ["--resume"] if os.path.isdir(os.path.join(run, "checkpoints")) else []
        if not resume:
            shutil.rmtree(run, ignore_errors=True)
        began = time.monotonic()
        self.program(["train", recipe, "--output", run, "--precision", self.options.precision, *resume],
                     quiet=True)
        row = self.row_of(run, data, arm, point, seed)
        row["seconds"] = None if resume else round(time.monotonic() - began, 1)
        shutil.rmtree(os.path.join(run, "checkpoints"), ignore_errors=True)
        write_json(path, row)
        self.count(f"{data}, {arm.name}, point {point + 1}, seed {seed}: {self.study.select} "
                   f"{row['dev']:.4f} (base {row['dev_base']:.4f})")
        return row

    def row_of(self, run, data, arm, point, seed):
        measure = f"validation_{self.study.select}"
        with open(os.path.join(run, "metrics.jsonl"), encoding="utf-8") as file:
            events = [json.loads(line) for line in file]
        validations = {event["step"]: event[measure] for event in events
                       if event["event"] == "validation"}
        finished = next(event for event in events if event["event"] == "finished")
        best = finished["model_step"]
        return {"data": data, "arm": arm.name, "point": arm.points[point], "seed": seed,
                "recipe": self.recipe_hash(data, arm, point), "steps": finished["step"],
                "best_step": best, "dev_base": validations[0], "dev": validations[best],
                "ended_as_base": best == 0}

    def count(self, text):
        self.made += 1
        left = (time.monotonic() - self.started) / self.made * (self.to_make - self.made)
        say(f"{self.made}/{self.to_make} {text}; about {left / 60:.0f} min of training left")

    def pairs(self):
        return [(data, arm) for data in self.study.data for arm in self.study.arms_of(data)]

    def runs_to_make(self):
        each = [len(arm.points) + self.study.seeds - 1 for _, arm in self.pairs()]
        begun = tuple(os.path.basename(self.result_path("run", data, arm.name, "")).removesuffix(".json")
                      for data, arm in self.pairs())  # those of arms that left the study do not count
        done = len([name for name in os.listdir(self.results) if name.startswith(begun)])
        return max(0, sum(each) - done)

    def choose(self, data, arm):
        """The rows of the grid, and the number of the point of the best dev measure."""
        rows, best = [], 0
        for point in range(len(arm.points)):
            rows.append(self.train(data, arm, point, 1))
            loser = point
            if rows[point]["dev"] > rows[best]["dev"]:
                loser, best = best, point
            if loser != best:
                self.drop(data, arm, loser)
        return rows, best

    def drop(self, data, arm, point):
        for seed in range(1, self.study.seeds + 1):
            for part in DELETED_WHEN_MEASURED:
                shutil.rmtree(os.path.join(self.run_folder(data, arm, point, seed), part),
                              ignore_errors=True)

    # --- measures ----------------------------------------------------------------------------------

    def compare(self, trained_on, measured_on, names, chosen):
        """What `compare` says of arms (the first is what the others are compared with) on the test
        queries of a set: {"queries": count, "systems": {arm: {measure: found}}}. Arms that were compared
        with the first one before are not compared again."""
        found = self.compared_before(trained_on, measured_on, names[0])
        lacking = [name for name in names[1:] if name not in found["systems"]]
        if lacking:
            new = self.compare_anew(trained_on, measured_on, [names[0], *lacking], chosen)
            write_json(self.result_path("test", trained_on, measured_on, names[0], *lacking), new)
            found = {"queries": new["queries"], "systems": found["systems"] | new["systems"]}
        return {"queries": found["queries"], "systems": {name: found["systems"][name] for name in names[1:]}}

    def compared_before(self, trained_on, measured_on, first):
        start = os.path.basename(self.result_path("test", trained_on, measured_on, first, ""))
        found = {"systems": {}}
        for name in sorted(os.listdir(self.results)):
            if name.startswith(start.removesuffix(".json")):
                one = read_json(os.path.join(self.results, name))
                found = {"queries": one["queries"], "systems": found["systems"] | one["systems"]}
        return found

    def compare_anew(self, trained_on, measured_on, names, chosen):
        self.restore(trained_on, names, chosen)
        single = [measure for measure in self.study.measures if measure not in POOLED]
        pooled = [measure for measure in self.study.measures if measure in POOLED]
        result = self.run_compare(measured_on, single,
                                  [self.system(trained_on, name, chosen) for name in names], names)
        if pooled:
            of_seeds = [self.run_compare(measured_on, pooled,
                                         [self.model(trained_on, name, chosen, seed) for name in names],
                                         names)
                        for seed in range(1, self.study.seeds + 1)]
            for name in names[1:]:
                for measure in pooled:
                    result["systems"][name][measure] = over_seeds(
                        [found["systems"][name][measure] for found in of_seeds])
        return result

    def restore(self, trained_on, names, chosen):
        """Trains again what was removed when it had been measured: a claim that came later asks for it."""
        for name in names:
            for seed in range(1, self.study.seeds + 1) if name != BASE else ():
                if os.path.isdir(self.model(trained_on, name, chosen, seed)):
                    continue
                point = chosen[trained_on, name]
                say(f"{trained_on}, {name}, seed {seed}: trained again: its model is needed once more")
                os.remove(self.result_path("run", trained_on, name, point + 1, seed))
                self.to_make += 1
                self.train(trained_on, self.study.arms[name], point, seed)

    def run_compare(self, measured_on, measures, systems, names):
        level = self.study.data[measured_on].get("relevance_level", 1)
        out, _ = self.program(["compare", *systems, "--dataset", self.data(measured_on, "eval"),
                               "--split", "test", "--measures", ",".join(measures),
                               "--relevance-level", str(level), "--queries", "0", "--precision",
                               self.options.precision, "--format", "json"], quiet=True)
        found = json.loads(out)
        table = {name: {measure: {key: values[key] for key in KEPT}
                        for measure, values in system["measures"].items()}
                 for name, system in zip(names[1:], found["systems"])}
        return {"queries": found["queries"], "systems": table}

    def views(self, data, chosen):
        """Where the embeddings of the test queries and their documents lie, by arm: means over seeds."""
        path = self.result_path("views", data)
        found = read_json(path) if os.path.exists(path) else {}
        for name in [BASE, *(arm.name for arm in self.study.arms_of(data))]:
            if set(self.study.views) <= set(found.get(name, {})):
                continue
            self.restore(data, [name], chosen)
            seeds = range(1, 2 if name == BASE else self.study.seeds + 1)
            tables = [self.views_of(data, self.model(data, name, chosen, seed)) for seed in seeds]
            found[name] = {view: sum(table[view] for table in tables) / len(tables) for view in VIEWS}
            write_json(path, found)
        return found

    def views_of(self, data, model):
        level = self.study.data[data].get("relevance_level", 1)
        out, _ = self.program(["evaluate", "--model", model, "--dataset", self.data(data, "eval"), "--split",
                               "test", "--measures", self.study.select, "--relevance-level", str(level),
                               "--views", "--precision", self.options.precision, "--format", "tsv"], quiet=True)
        rows = [line.split("\t") for line in out.splitlines() if line.startswith("views.")]
        return {name.removeprefix("views."): float("nan" if value == "-" else value) for name, _, value in rows}

    def model(self, data, name, chosen, seed):
        if name == BASE:
            return os.path.join(self.folder, "base", "model")
        return os.path.join(self.run_folder(data, self.study.arms[name], chosen[data, name], seed), "model")

    def system(self, data, name, chosen):
        """What `compare` takes: the folder of the seeds, or of one seed the model alone."""
        if name == BASE or self.study.seeds == 1:
            return self.model(data, name, chosen, 1)
        return self.run_folder(data, self.study.arms[name], chosen[data, name])

    def comparisons(self, data):
        """(measured on, names): all arms with the base, and the pairs that the claims ask about."""
        arms = [arm.name for arm in self.study.arms_of(data)]
        for measured_on in (data, *(name for name in self.study.zero_shot if name != data)):
            yield measured_on, [BASE, *arms]
            first = self.study.baseline if self.study.baseline in arms else None
            if first and len(arms) > 1:
                yield measured_on, [first, *(name for name in arms if name != first)]
        for claim in self.study.claims:
            if data in claim.data and claim.against not in (BASE, self.study.baseline):
                yield data, [claim.against, claim.arm]

    def carry_out(self):
        """(rows of all runs, chosen points, comparisons by (trained on, measured on, names))."""
        self.begin()
        self.to_make = self.runs_to_make()
        self.announce()
        rows, chosen, compared = [], self.chosen, {}
        for data in self.study.data:
            arms = self.study.arms_of(data)
            for arm in arms:
                tried, best = self.choose(data, arm)
                chosen[data, arm.name] = best
                rows += tried
                rows += [self.train(data, arm, best, seed) for seed in range(2, self.study.seeds + 1)]
            if not arms:
                continue
            for measured_on, names in self.comparisons(data):
                say(f"trained on {data}, measured on {measured_on}: {', '.join(names)}")
                compared[data, measured_on, tuple(names)] = self.compare(data, measured_on, names, chosen)
            if self.study.views:
                self.seen[data] = self.views(data, chosen)
            if not self.options.keep_models:
                for arm in arms:
                    self.drop(data, arm, chosen[data, arm.name])
                shutil.rmtree(os.path.join(self.folder, "cache"), ignore_errors=True)
        return rows, chosen, compared

    def announce(self):
        """Says what is to be done; the program refuses what would not fit into memory or disk."""
        say(f"{self.study.name}, {self.study.budget}: {self.to_make} runs are to be made, results in "
            f"{self.folder}")
        if self.to_make == 0:
            return
        if self.study.budget == "full":
            say(f"all of {self.study.name} takes about {self.study.minutes} minutes on two free cores")
        pairs = self.pairs()
        largest = max(pairs, key=lambda pair: pair[1].recipe.get("train.batch", 0))
        # Before hours of training every arm's recipe is read, so that no mistake shows after them.
        for data, arm in pairs if self.study.budget == "full" else [largest]:
            path = os.path.join(self.folder, "check.toml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(toml_text(self.recipe(data, arm, 0, 1)))
            checked, _ = self.program(["train", path, "--check", "--output",
                                       os.path.join(self.folder, "check"), "--precision",
                                       self.options.precision], quiet=True)
            if (data, arm) == largest:
                out = checked
        for line in out.splitlines():
            if line.startswith(("memory:", "disk:", "time:")):
                say(f"one of the largest runs takes: {line.removesuffix('; in it')}")
