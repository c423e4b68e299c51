"""Reads a study: what is asked, of which data, with which arms, and what each may try."""

import itertools
import os
import tomllib
from dataclasses import dataclass

BUDGETS = ("quick", "full")
KEYS = {"title", "question", "paper", "place", "notes", "select", "measures", "baseline", "seeds",
        "minutes", "data", "recipe", "grid", "arms", "claims", "quick", "zero_shot", "views"}
REQUIRED = {"title", "question", "paper", "place", "select", "measures", "baseline", "seeds", "data",
            "arms", "claims"}
ARM_KEYS = {"recipe", "grid", "data", "says", "after", "scored"}
CLAIM_KEYS = {"says", "paper", "arm", "against", "data", "measure", "expect"}
QUICK_KEYS = {"seeds", "recipe", "grid", "data", "zero_shot"}
# What an arm's training pairs are scored by: the study's whole model, or a cross-encoder trained for it.
SCORED = {"grades": "grades by the whole model", "teacher": "scores by the whole model",
          "cross_grades": "grades by a cross-encoder", "cross_teacher": "scores by a cross-encoder"}
CROSS = ("cross_grades", "cross_teacher")
# What the page may say of where embeddings lie, as `evaluate --views` names it.
VIEWS = {"centroid_gap": "gap between the means of queries and documents",
         "ratio_median": "ratio query-query to query-document, median",
         "separability": "linear separability", "alignment": "alignment",
         "uniformity_queries": "uniformity of queries", "uniformity_positives": "uniformity of positives"}
BASE = "base"  # the name of the untrained model as an arm of a claim


class PlanError(Exception):
    pass


@dataclass(frozen=True)
class Arm:
    name: str
    says: str
    recipe: dict  # dotted key -> value
    points: tuple  # of dicts: what the grid adds to the recipe, in a fixed order
    data: tuple
    after: str | None = None  # the arm whose chosen models this one's training starts from
    scored: str | None = None  # one of SCORED: what is said of the training pairs in place of their labels


@dataclass(frozen=True)
class Claim:
    says: str
    paper: str
    arm: str
    against: str
    data: tuple
    measure: str
    expect: str  # higher, lower


@dataclass(frozen=True)
class Study:
    name: str
    budget: str
    title: str
    question: str
    paper: str
    place: str
    notes: str
    select: str
    measures: tuple
    baseline: str
    seeds: int
    minutes: int
    recipe: dict
    data: dict
    zero_shot: tuple
    arms: dict
    claims: tuple
    views: tuple  # of VIEWS, beside the measures; nothing is chosen or claimed by them

    def decides(self):
        """All that results depend on, everything but the words of the page, by the part that it is of:
        what one arm or data set is does not change the results of the others."""
        parts = {"study": [self.budget, self.select, self.measures, self.seeds, self.recipe]}
        for name, spec in self.data.items():
            parts[f"data {name}"] = {key: value for key, value in spec.items() if key != "says"}
        for arm in self.arms.values():
            parts[f"arm {arm.name}"] = [arm.recipe, arm.points, arm.after, arm.scored]
        return parts

    def data_trained(self):
        """The names of the data sets that arms are trained on."""
        return [name for name in self.data if self.arms_of(name)]

    def arms_of(self, data):
        return [arm for arm in self.arms.values() if data in arm.data]


def flatten(table, prefix=""):
    """Nested tables as dotted keys; lists and plain values are values."""
    flat = {}
    for key, value in table.items():
        if isinstance(value, dict):
            flat.update(flatten(value, f"{prefix}{key}."))
        else:
            flat[prefix + key] = value
    return flat


def check_keys(path, where, table, allowed, required=frozenset()):
    if unknown := sorted(set(table) - set(allowed)):
        raise PlanError(f"{path}: {where} has the unknown key {unknown[0]!r}; it takes "
                        + ", ".join(sorted(allowed)))
    if missing := sorted(set(required) - set(table)):
        raise PlanError(f"{path}: {where} lacks {missing[0]!r}")


def points_of(path, where, grid):
    for key, values in grid.items():
        if not isinstance(values, list) or not values:
            raise PlanError(f"{path}: {where}: {key} is {values!r}, where a list of values was expected")
    return tuple(dict(zip(grid, values)) for values in itertools.product(*grid.values()))


def names_of(path, where, key, value):
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise PlanError(f"{path}: {where}: {key} is {value!r}, where a list of names was expected")
    return tuple(value)


def read_arms(path, table, recipe, grid, quick, data):
    arms = {}
    for name, arm in table["arms"].items():
        where = f"[arms.{name}]"
        check_keys(path, where, arm, ARM_KEYS)
        own = flatten(arm.get("grid", {})) if "grid" in arm else dict(grid)
        own |= {key: values for key, values in flatten(quick.get("grid", {})).items() if key in own}
        named = names_of(path, where, "data", arm.get("data", list(data)))
        if strangers := [one for one in named if one not in data]:
            raise PlanError(f"{path}: {where}: there is no data {strangers[0]!r}")
        after = arm.get("after")
        if after is not None and (after not in arms or set(named) - set(arms[after].data)):
            raise PlanError(f"{path}: {where}: after is {after!r}, where an arm above it that is trained on the "
                            "same data was expected")
        scored = arm.get("scored")
        if scored not in (None, *SCORED):
            raise PlanError(f"{path}: {where}: scored is {scored!r}, where one of {', '.join(SCORED)} was expected")
        if lacking := [one for one in named if "judge_train" not in data[one] and scored in CROSS]:
            raise PlanError(f"{path}: {where}: scored is {scored!r}, and data {lacking[0]!r} has no judge_train")
        merged = recipe | flatten(arm.get("recipe", {})) | flatten(quick.get("recipe", {}))
        arms[name] = Arm(name, arm.get("says", name), merged, points_of(path, where, own), named, after, scored)
    for one in data:
        if "judge_train" in data[one] and not any(arm.scored in CROSS and one in arm.data for arm in arms.values()):
            raise PlanError(f"{path}: [data.{one}]: judge_train does nothing: no arm has scored = "
                            f"{' or '.join(CROSS)}")
    sizes = {name: len(arm.points) for name, arm in arms.items()}
    if len(set(sizes.values())) > 1:
        few, many = min(sizes, key=sizes.get), max(sizes, key=sizes.get)
        raise PlanError(f"{path}: arm {few!r} tries {sizes[few]} points and {many!r} {sizes[many]}: a "
                        "comparison is fair where each tries as many")
    return arms


def check_judge(path, name, entry):
    if "judge_train" not in entry:
        return
    count = entry["judge_train"]
    if type(count) is not int or count < 1:
        raise PlanError(f"{path}: [data.{name}]: judge_train is {count!r}, where a whole number from 1 on was expected")
    if not entry.get("train"):
        raise PlanError(f"{path}: [data.{name}]: judge_train needs train, the queries that the judge does not see")


def read_claims(path, table, arms, data, measures):
    claims = []
    for number, claim in enumerate(table["claims"], 1):
        where = f"claim {number}"
        check_keys(path, where, claim, CLAIM_KEYS, CLAIM_KEYS)
        for key, known in (("arm", arms), ("against", [*arms, BASE])):
            if claim[key] not in known:
                raise PlanError(f"{path}: {where}: there is no arm {claim[key]!r}")
        if claim["expect"] not in ("higher", "lower"):
            raise PlanError(f"{path}: {where}: expect is higher or lower, not {claim['expect']!r}")
        if claim["measure"] not in measures:
            raise PlanError(f"{path}: {where}: {claim['measure']!r} is none of the measures")
        named = names_of(path, where, "data", claim["data"])
        if claim["arm"] == claim["against"]:
            raise PlanError(f"{path}: {where}: compares {claim['arm']!r} with itself")
        for one in named:
            if one not in data:
                raise PlanError(f"{path}: {where}: there is no data {one!r}")
            for arm in (claim["arm"], claim["against"]):
                if arm != BASE and one not in arms[arm].data:
                    raise PlanError(f"{path}: {where}: arm {arm!r} is not trained on {one!r}")
        claims.append(Claim(claim["says"], claim["paper"], claim["arm"], claim["against"],
                            named, claim["measure"], claim["expect"]))
    return tuple(claims)


def smaller(entry, quick):
    """A data set with the sizes of [quick], but for those that it does not have at all."""
    sizes = {key: value for key, value in quick.items() if entry.get(key) != 0}
    return entry | sizes | {"recipe": flatten(entry.get("recipe", {}))}


def read_study(path, budget):
    """The study of a file at a budget: what [quick] says replaces what is said above it."""
    try:
        with open(path, "rb") as file:
            table = tomllib.load(file)
    except tomllib.TOMLDecodeError as error:
        raise PlanError(f"{path}: {error}") from None
    check_keys(path, "the study", table, KEYS, REQUIRED)
    quick = table.get("quick", {}) if budget == "quick" else {}
    check_keys(path, "[quick]", quick, QUICK_KEYS)
    data = {name: smaller(entry, quick.get("data", {})) for name, entry in table["data"].items()}
    zero_shot = names_of(path, "the study", "zero_shot", quick.get("zero_shot", table.get("zero_shot", [])))
    if strangers := [name for name in zero_shot if name not in data]:
        raise PlanError(f"{path}: zero_shot: there is no data {strangers[0]!r}")
    trained = {name: entry for name, entry in data.items() if entry.get("train") != 0}
    measures = names_of(path, "the study", "measures", table["measures"])
    seeds = quick.get("seeds", table["seeds"])
    if type(seeds) is not int or seeds < 1:
        raise PlanError(f"{path}: seeds is {seeds!r}, where a whole number from 1 on was expected")
    recipe = flatten(table.get("recipe", {}))
    if "model.reinitialize_layers" in recipe:
        raise PlanError(f"{path}: [recipe] has model.reinitialize_layers, whose layers are others for each "
                        "seed, so that there is no one base; give it to an arm")
    for name, entry in data.items():
        check_judge(path, name, entry)
    arms = read_arms(path, table, recipe, flatten(table.get("grid", {})), quick, trained)
    if table["baseline"] not in arms:
        raise PlanError(f"{path}: baseline: there is no arm {table['baseline']!r}")
    if table["select"] not in measures:
        raise PlanError(f"{path}: select: {table['select']!r} is none of the measures")
    views = names_of(path, "the study", "views", table.get("views", []))
    if strangers := [name for name in views if name not in VIEWS]:
        raise PlanError(f"{path}: views: {strangers[0]!r} is none of {', '.join(VIEWS)}")
    return Study(name=os.path.splitext(os.path.basename(path))[0], budget=budget,
                 title=table["title"], question=table["question"], paper=table["paper"],
                 place=table["place"], notes=table.get("notes", ""), select=table["select"],
                 measures=measures, baseline=table["baseline"],
                 seeds=seeds, minutes=table.get("minutes", 0),
                 recipe=recipe, data=data, zero_shot=zero_shot, arms=arms,
                 claims=read_claims(path, table, arms, data, measures), views=views)
