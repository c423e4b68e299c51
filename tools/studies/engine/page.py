"""The page of a study, its table of runs, and its lines in the table of all claims."""

import json
import os
import statistics
import sys

from . import data as study_data
from . import plot
from .plan import BASE, SCORED, VIEWS

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from study import markdown, update  # noqa: E402

LEVEL = 0.05
CLAIM_COLUMNS = ["study", "paper", "place", "claim", "paper_says", "data", "measure", "arm", "against",
                 "difference", "low", "high", "holm_p", "verdict"]
RUN_COLUMNS = ["data", "arm", "point", "seed", "recipe", "steps", "best_step", "dev_base", "dev",
               "ended_as_base", "seconds"]


def holm(values):
    """p of several tests after Holm's correction, in their order."""
    order = sorted(range(len(values)), key=lambda at: values[at])
    corrected, largest = [0.0] * len(values), 0.0
    for rank, at in enumerate(order):
        largest = max(largest, min(1.0, (len(values) - rank) * values[at]))
        corrected[at] = largest
    return corrected


def find(compared, data, claim):
    """The difference of a claim on a data set: its arm minus what it is compared with."""
    for (trained_on, measured_on, names), result in compared.items():
        if (trained_on, measured_on, names[0]) == (data, data, claim.against) and claim.arm in names:
            return result["systems"][claim.arm][claim.measure]
    raise KeyError((data, claim))


def claim_tests(study, compared):
    """(claim, data, difference, p after Holm over all tests of the study's claims)."""
    tests = [(claim, data, find(compared, data, claim)) for claim in study.claims for data in claim.data]
    corrected = holm([found["p"] for _, _, found in tests])
    return [(*test, p) for test, p in zip(tests, corrected)]


def seen(found, p):
    """1 or -1 where the difference is above or below 0 by more than chance, else 0."""
    if p >= LEVEL or found["low"] <= 0 <= found["high"]:
        return 0
    return 1 if found["difference"] > 0 else -1


def verdict(claim, found, p):
    """What the test of a claim on one data set says of it."""
    sign = seen(found, p) if claim.expect == "higher" else -seen(found, p)
    return {1: "shows", 0: "cannot be told", -1: "the opposite shows"}[sign]


def signed(value):
    return f"{value:+.4f}"


def interval(found):
    return f"{signed(found['difference'])} ({signed(found['low'])} to {signed(found['high'])})"


def keys_of(values):
    return ", ".join(f"`{key} = {json.dumps(value)}`" for key, value in values.items()) or "-"


def common_recipe(study):
    """What all arms set alike."""
    recipes = [arm.recipe for arm in study.arms.values()]
    return {key: value for key, value in recipes[0].items()
            if all(recipe.get(key) == value for recipe in recipes)}


def arm_table(study, rows, chosen):
    common = common_recipe(study)
    lines = [["arm", "what it sets", *study.data_trained(), "ends as its base"]]
    for arm in study.arms.values():
        own = {key: value for key, value in arm.recipe.items() if common.get(key) != value}
        sets = keys_of(own) + (f"; goes on from {study.arms[arm.after].says}" if arm.after else "")
        sets += f"; {SCORED[arm.scored]}" if arm.scored else ""
        best = [keys_of(arm.points[chosen[data, arm.name]]) if (data, arm.name) in chosen else "-"
                for data in study.data_trained()]
        final = [row for row in rows if row["arm"] == arm.name
                 and row["point"] == arm.points[chosen[row["data"], arm.name]]]
        based = sum(row["ended_as_base"] for row in final)
        lines.append([arm.says, sets, *best, f"{based} of {len(final)} runs"])
    return markdown(lines)


def measure_table(study, compared, trained_on, measured_on):
    names, result = next((names, result) for (one, other, names), result in compared.items()
                         if (one, other, names[0]) == (trained_on, measured_on, BASE))
    title = trained_on if trained_on == measured_on else f"{measured_on}, trained on {trained_on}"
    lines = [[f"{title} ({result['queries']} queries)",
              *(text for measure in study.measures for text in (measure, "against the base"))]]
    first = result["systems"][names[1]]
    lines.append(["base", *(text for measure in study.measures
                            for text in (f"{first[measure]['baseline']:.4f}", ""))])
    for name in names[1:]:
        cells = []
        for measure in study.measures:
            found = result["systems"][name][measure]
            cells += [f"{found['value']:.4f}", interval(found)]
        lines.append([study.arms[name].says, *cells])
    return markdown(lines)


def views_table(study, data, seen):
    lines = [[f"where {data}'s embeddings lie", *(VIEWS[view] for view in study.views)]]
    for name in [BASE, *(arm.name for arm in study.arms_of(data))]:
        found = seen[name]
        says = name if name == BASE else study.arms[name].says
        lines.append([says, *(f"{found[view]:.3f}" for view in study.views)])
    return markdown(lines)


def data_table(study, workshop):
    lines = [["data", "what they are", "training queries", "dev", "test", "documents measured with"]]
    for name, spec in study.data.items():
        counts = [study_data.count_queries(workshop.data(name, part), split)
                  for part, split in (("train", "train"), ("eval", "dev"), ("eval", "test"))]
        documents = study_data.count_documents(workshop.data(name, "eval"))
        lines.append([name, spec.get("says", spec["kind"]),
                      *(f"{count:,}" if count else "-" for count in counts), f"{documents:,}"])
    return markdown(lines)


def claim_table(study, tests):
    lines = [["claim", "the paper", "data, measure", "ours", "p", "verdict"]]
    for claim in study.claims:
        for at, (_, data, found, p) in enumerate(test for test in tests if test[0] == claim):
            head = [claim.says, claim.paper] if at == 0 else ["", ""]
            lines.append([*head, f"{data}, {claim.measure}", interval(found),
                          "< 0.001" if p < 0.001 else f"{p:.3f}", verdict(claim, found, p)])
    return markdown(lines)


def grids(study):
    """What arms try, in words: those that try the same are named together."""
    found = {}
    for arm in study.arms.values():
        tried = {key: list(dict.fromkeys(point[key] for point in arm.points)) for key in arm.points[0]}
        says = ", ".join(f"`{key}` of {' or '.join(map(json.dumps, values))}" for key, values in tried.items())
        found.setdefault(says or "nothing", []).append(arm.says)
    if len(found) == 1:
        return f"Each arm tries {next(iter(found))}."
    largest = max(found, key=lambda says: len(found[says]))
    rest = [f"{'; '.join(names)}: {says}." for says, names in found.items() if says != largest]
    return " ".join([f"Arms try {largest}; but", *rest])


def wrapped(text, width=120):
    """Paragraphs of at most `width` columns."""
    done = []
    for paragraph in text.strip().split("\n\n"):
        line, lines = "", []
        for word in paragraph.split():
            if line and len(line) + 1 + len(word) > width:
                lines.append(line)
                line = word
            else:
                line = f"{line} {word}" if line else word
        done.append("\n".join([*lines, line]))
    return "\n\n".join(done) + "\n"


def conditions(study, workshop, rows):
    version = workshop.version()
    seconds = [row["seconds"] for row in rows if row["seconds"] is not None]
    steps = statistics.median(row["steps"] for row in rows)
    points = len(next(iter(study.arms.values())).points)
    base = os.path.basename(workshop.options.model.rstrip("/"))
    if "model.layers" in study.recipe:
        base += f", its first {study.recipe['model.layers']} layers"
    return (
        f"Base: {base}. Each arm was trained with {points} points of its grid and seed 1; the point "
        f"of the best {study.select} on dev queries was trained with {study.seeds} seeds in all, and "
        f"these models alone were measured on test queries. {len(rows)} runs of {steps:g} steps "
        f"(median), {sum(seconds) / 60:.0f} minutes of training. {version['program']}, precision "
        f"{version['precision']}, on this processor: {processor()}. Differences are means over "
        "queries and seeds, with 95 % intervals by bootstrap over both; p is of the paired "
        "randomisation test over queries, after Holm's correction for all tests of the claims. "
        f"\"Shows\": p below {LEVEL} and an interval without 0.")


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = {line.split(":", 1)[1].strip() for line in file if line.startswith("model name")}
    threads = len(os.sched_getaffinity(0))
    return f"{', '.join(sorted(names)) or 'unknown'}, {threads} thread{'s' if threads > 1 else ''}"


def figure(study, compared):
    """Each arm against the baseline, by what chose the points, on each data set trained on: SVG, or ""
    where no two arms are compared."""
    groups = []
    for (trained_on, measured_on, names), result in compared.items():
        if names[0] != study.baseline or len(names) < 2:
            continue
        title = trained_on if trained_on == measured_on else f"{measured_on}, trained on {trained_on}"
        found = [(study.arms[name].says, result["systems"][name][study.select]) for name in names[1:]]
        groups.append((title, [(says, *(one[key] for key in ("difference", "low", "high")))
                               for says, one in found]))
    if not groups:
        return ""
    return plot.forest(f"{study.select} against {study.arms[study.baseline].says}", groups)


def study_page(study, workshop, rows, chosen, compared):
    tests = claim_tests(study, compared)
    parts = [f"# {study.title}\n", wrapped(study.question), wrapped(f"{study.paper}, {study.place}.")]
    if study.notes:
        parts.append(wrapped(study.notes))
    parts += [claim_table(study, tests), wrapped(conditions(study, workshop, rows))]
    if figure(study, compared):
        parts.append(f"![{study.select} of each arm against {study.arms[study.baseline].says}, with "
                     f"intervals]({study.name}.svg)\n")
    parts += [data_table(study, workshop), wrapped("All arms have " + keys_of(common_recipe(study)) + "."),
              wrapped(grids(study)), arm_table(study, rows, chosen)]
    for trained_on in study.data_trained():
        for measured_on in (trained_on, *(name for name in study.zero_shot if name != trained_on)):
            parts.append(measure_table(study, compared, trained_on, measured_on))
    parts += [views_table(study, data, seen) for data, seen in workshop.seen.items()]
    parts.append(wrapped(f"Every run is a line of [{study.name}.tsv]({study.name}.tsv). Made by "
                         f"`./dev study {study.name} --budget {study.budget}`."))
    return "\n".join(parts)


def tsv(columns, rows):
    lines = ["\t".join(columns)]
    for row in rows:
        lines.append("\t".join(json.dumps(row[name], sort_keys=True) if isinstance(row[name], dict)
                               else str(row[name]) for name in columns))
    return "\n".join(lines) + "\n"


def write(folder, study, text, rows, compared):
    """The page, its figure, the table of its runs, and its lines in the table of all claims."""
    with open(os.path.join(folder, f"{study.name}.md"), "w", encoding="utf-8") as file:
        file.write(text)
    with open(os.path.join(folder, f"{study.name}.tsv"), "w", encoding="utf-8") as file:
        file.write(tsv(RUN_COLUMNS, rows))
    if drawn := figure(study, compared):
        with open(os.path.join(folder, f"{study.name}.svg"), "w", encoding="utf-8") as file:
            file.write(drawn)
    tests = claim_tests(study, compared)
    mine = [dict(zip(CLAIM_COLUMNS, (study.name, study.paper, study.place, claim.says, claim.paper, data,
                                     claim.measure, claim.arm, claim.against, signed(found["difference"]),
                                     signed(found["low"]), signed(found["high"]), f"{p:.4f}",
                                     verdict(claim, found, p))))
            for claim, data, found, p in tests]
    path = os.path.join(folder, "claims.tsv")
    others = [row for row in read_tsv(path) if row["study"] != study.name]
    claims = sorted(others + mine, key=lambda row: (row["paper"], row["study"]))
    with open(path, "w", encoding="utf-8") as file:
        file.write(tsv(CLAIM_COLUMNS, claims))
    update(os.path.join(folder, "README.md"), summary(claims), "claims")


def read_tsv(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        columns = next(file).rstrip("\n").split("\t")
        return [dict(zip(columns, line.rstrip("\n").split("\t"))) for line in file]


def summary(claims):
    lines = [["claim", "the paper", "here", "verdict"]]
    for row in claims:
        ours = f"{row['data']}: {row['difference']} ({row['low']} to {row['high']})"
        lines.append([f"{row['claim']} ([{row['place']}]({row['study']}.md))", row["paper_says"],
                      f"{ours} {row['measure']}", row["verdict"]])
    return markdown(lines)
