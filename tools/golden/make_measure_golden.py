#!/usr/bin/env python3
"""Writes tests/eval/pytrec_eval.json and tests/eval/ir_measures.json: random runs with ties, and
what pytrec_eval and ir_measures say of them.

Needs the packages pytrec-eval-terrier, ir-measures and cwl-eval (0.5.11, 0.4.3 and 1.0.12 made the
files in the repository) and perl, for the gdeval.pl that ir-measures ships:

    python tools/golden/make_measure_golden.py tests/eval

pytrec_eval is trec_eval 9, which keeps scores in single precision. trec_eval 10 keeps them in double
precision; what it says of a run, pytrec_eval says where each score is replaced by its place among the
different scores, which are small whole numbers. So the second half of the cases was made.
"""

import json
import os
import random
import sys

import ir_measures
import pytrec_eval

OURS = {
    "ndcg": "ndcg",
    "map": "map",
    "recip_rank": "mrr",
    "Rprec": "rprec",
    "bpref": "bpref",
    "ndcg_cut_": "ndcg@",
    "map_cut_": "map@",
    "recall_": "recall@",
    "P_": "precision@",
    "success_": "success@",
}
ASKED = {
    "ndcg", "map", "recip_rank", "Rprec", "bpref", "ndcg_cut.1,5,100", "map_cut.1,5,100",
    "recall.1,5,100", "P.1,5,100", "success.1,5,100",
}  # fmt: skip
# Ids whose byte order is neither their numeric order nor that of most locales.
IDS = ["9", "10", "a", "B", "\u00e9", "z", "d-1", "d_1", "D1", "\u4e2d", "~", "0"]
# Levels that tie exactly, and two pairs that tie in single precision only.
SCORES = [0.0, -1.5, 1.0, 1.0 + 1e-9, 3.25, 3.25 - 1e-8, 7.0]
# The scores of f1: below all, in the middle, the highest, above all.
LEAST = [-2.0, 1.5, 3.5, 7.0, 8.0]


def our_name(theirs):
    """Our spelling of one of pytrec_eval's names."""
    if theirs in OURS:
        return OURS[theirs]
    prefix = theirs[: theirs.rindex("_") + 1]
    return OURS[prefix] + theirs[len(prefix):]


def random_qrels_and_run(source, queries):
    qrels, run = {}, {}
    for query in queries:
        judged = source.sample(IDS, source.randint(1, len(IDS)))
        qrels[query] = {document: source.choice([-1, 0, 0, 1, 2, 3]) for document in judged}
        # trec_eval reads memory it did not write where no grade is above -1.
        qrels[query][judged[0]] = max(0, qrels[query][judged[0]])
        found = source.sample(IDS, source.randint(1, len(IDS)))
        run[query] = {document: source.choice(SCORES) for document in found}
    return qrels, run


def places(run):
    """The run with each score replaced by its place among the different scores, lowest first."""
    return {
        query: {document: float(SORTED.index(score)) for document, score in results.items()}
        for query, results in run.items()
    }


SORTED = sorted(SCORES)


def pytrec_values(qrels, run, level, asked):
    got = pytrec_eval.RelevanceEvaluator(qrels, asked, relevance_level=level).evaluate(run)
    values = {}
    for query in sorted(got):
        for measure, value in sorted(got[query].items()):
            values.setdefault(measure, {})[query] = value
    return values


def f1_values(qrels, run, level):
    """set_F of the results of at least a score; 0 for a query that has none."""
    values = {}
    for least in LEAST:
        shown = {
            query: {document: score for document, score in results.items() if score >= least}
            for query, results in run.items()
        }
        some = {query: results for query, results in shown.items() if results}
        got = pytrec_values(qrels, some, level, {"set_F"}).get("set_F", {}) if some else {}
        values[f"f1@{least:g}"] = {query: got.get(query, 0.0) for query in sorted(run)}
    return values


def pytrec_case(source, level, precision):
    """One relevance level: qrels, run and values."""
    qrels, run = random_qrels_and_run(source, [f"q{number}" for number in range(12)])
    given = run if precision == "single" else places(run)
    values = {
        our_name(theirs): of_queries
        for theirs, of_queries in pytrec_values(qrels, given, level, ASKED).items()
    }
    values.update(f1_values(qrels, run, level))
    return {
        "relevance_level": level,
        "score_precision": precision,
        "qrels": qrels,
        "run": run,
        "values": values,
    }


# As ir_measures spells them. Its providers but trec_eval and gdeval.pl break ties in ways of their
# own, so that they get runs without ties.
UNTIED = [
    "nDCG", "nDCG@5", "AP", "AP@5", "AP(rel=2)", "AP(rel=3)@5", "RR", "RR(rel=2)@5", "P@5",
    "P(rel=2)@5", "R@5", "R(rel=3)@5", "Success@1", "Success(rel=2)@5", "Rprec", "Rprec(rel=2)",
    "Bpref", "Bpref(rel=2)", "RBP(rel=1)", "RBP(rel=2)", "RBP(p=0.5,rel=1)", "RBP(p=0.95,rel=3)",
    "Judged@1", "Judged@5", "Judged@20", "Judged",
]  # fmt: skip
GDEVAL = [f"nDCG(dcg='exp-log2')@{depth}" for depth in (1, 5, 20)]


def ir_values(qrels, run, names):
    asked = [ir_measures.parse_measure(name) for name in names]
    values = {}
    for metric in ir_measures.iter_calc(asked, qrels, run):
        name = names[asked.index(metric.measure)]
        values.setdefault(name, {})[metric.query_id] = float(metric.value)
    return {name: dict(sorted(values[name].items())) for name in names}


def ir_case(source, tied):
    # gdeval.pl takes whole numbers as query ids.
    qrels, run = random_qrels_and_run(source, [str(number) for number in range(1, 13)])
    for judged in qrels.values():  # a negative grade is a judgement for ir_measures' Judged
        for document in [document for document, grade in judged.items() if grade < 0]:
            del judged[document]
    if not tied:
        for results in run.values():
            order = source.sample(range(len(results)), len(results))
            for document, place in zip(results, order):
                results[document] = float(place)
    values = ir_values(qrels, run, GDEVAL if tied else UNTIED)
    return {"digits": 5 if tied else 12, "qrels": qrels, "run": run, "values": values}


def write(path, cases):
    with open(path, "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")


def main():
    folder = sys.argv[1]
    source = random.Random(20240229)
    cases = [
        pytrec_case(source, level, precision)
        for precision in ("single", "double")
        for level in (1, 2, 3)
    ]
    write(os.path.join(folder, "pytrec_eval.json"), cases)
    cases = [ir_case(source, tied) for tied in (False, False, True, True)]
    write(os.path.join(folder, "ir_measures.json"), cases)


if __name__ == "__main__":
    main()
