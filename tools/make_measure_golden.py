#!/usr/bin/env python3
"""Writes tests/eval/pytrec_eval.json: random runs with ties and what pytrec_eval says of them.

Needs the package pytrec-eval-terrier (0.5.11 made the file in the repository):

    python tools/make_measure_golden.py > tests/eval/pytrec_eval.json
"""

import json
import random
import sys

import pytrec_eval

OURS = {
    "ndcg": "ndcg",
    "map": "map",
    "recip_rank": "mrr",
    "Rprec": "rprec",
    "bpref": "bpref",
    "ndcg_cut_": "ndcg@",
    "recall_": "recall@",
    "P_": "precision@",
    "success_": "success@",
}
ASKED = {
    "ndcg", "map", "recip_rank", "Rprec", "bpref",
    "ndcg_cut.1,5,100", "recall.1,5,100", "P.1,5,100", "success.1,5,100",
}  # fmt: skip
# Ids whose byte order is neither their numeric order nor that of most locales.
IDS = ["9", "10", "a", "B", "\u00e9", "z", "d-1", "d_1", "D1", "\u4e2d", "~", "0"]
# Levels that tie exactly, and two pairs that tie in single precision only.
SCORES = [0.0, -1.5, 1.0, 1.0 + 1e-9, 3.25, 3.25 - 1e-8, 7.0]


def our_name(theirs):
    """Our spelling of one of pytrec_eval's names."""
    if theirs in OURS:
        return OURS[theirs]
    prefix = theirs[: theirs.rindex("_") + 1]
    return OURS[prefix] + theirs[len(prefix):]


def make_case(source, level):
    """One relevance level: qrels, run and values."""
    qrels, run = {}, {}
    for number in range(12):
        query = f"q{number}"
        judged = source.sample(IDS, source.randint(1, len(IDS)))
        qrels[query] = {document: source.choice([-1, 0, 0, 1, 2, 3]) for document in judged}
        # trec_eval reads memory it did not write where no grade is above -1.
        qrels[query][judged[0]] = max(0, qrels[query][judged[0]])
        found = source.sample(IDS, source.randint(1, len(IDS)))
        run[query] = {document: source.choice(SCORES) for document in found}
    got = pytrec_eval.RelevanceEvaluator(qrels, ASKED, relevance_level=level).evaluate(run)
    values = {}
    for query in sorted(got):
        for measure, value in sorted(got[query].items()):
            values.setdefault(our_name(measure), {})[query] = value
    return {"relevance_level": level, "qrels": qrels, "run": run, "values": values}


def main():
    source = random.Random(20240229)
    cases = [make_case(source, level) for level in (1, 2, 3)]
    sys.stdout.write("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")


if __name__ == "__main__":
    main()
