"""Training lines: what their labels, scores and columns say."""
import json

from meanings.batches import train
from meanings.case import Misread, case

LIST = {"query": "q", "answer": ["p", "n1", "n2"]}


def understood(bench, path, *flags):
    """What `inspect` shows of the first lines: (query, what the document is, document)."""
    shown = bench.works(bench.tandem("inspect", path, "--format", "json", *flags)).json()
    return [(row["query"], row["is"], row["document"]) for row in shown["first_lines"]]


def converted(bench, path, to, *flags):
    """The lines that `convert` writes."""
    name = f"{path}.{to}.{len(flags)}.jsonl"
    bench.works(bench.tandem("convert", path, "--to", to, "--output", name, *flags))
    with open(name) as file:
        return [json.loads(line) for line in file]


ONE_OF_THREE = [("q", "positive", "p"), ("q", "negative", "n1"), ("q", "negative", "n2")]


@case("labels of a list", peer="sentence-transformers")
def labels_of_a_list(bench):
    """Of a list with labels, what mine_hard_negatives writes as labeled-list, 1 is a positive and 0 a
    judged negative, under every name that the package takes labels from."""
    for key in ("labels", "label", "score", "scores"):
        path = bench.lines(f"{key}.jsonl", LIST | {key: [1, 0, 0]})
        bench.equal(understood(bench, path), ONE_OF_THREE, key)
        line = converted(bench, path, "flag_embedding")[0]
        bench.equal((line["pos"], line["neg"]), (["p"], ["n1", "n2"]), key)
        line = converted(bench, path, "tevatron")[0]
        bench.equal([p["text"] for p in line["positive_passages"]], ["p"], key)
    path = bench.lines("some.jsonl", LIST | {"labels": [1, 0, 0]}, LIST | {"query": "r"})
    bench.refused(bench.tandem("inspect", path), 3, f'{path}:2: "answer" is a list without labels')


@case("the columns of labels", peer="sentence-transformers")
def columns_of_labels(bench):
    """The package takes labels from the columns label, labels, score and scores; so do we."""
    columns = bench.peer("""
from sentence_transformers.base.data_collator import DEFAULT_LABEL_COLUMNS
result = sorted(DEFAULT_LABEL_COLUMNS)""")
    for key in columns:
        path = bench.lines(f"{key}.jsonl", {"query": "q", "answer": "p", key: 1},
                           {"query": "q", "answer": "n1", key: 0})
        bench.equal(understood(bench, path), ONE_OF_THREE[:2], key)


@case("labels of pairs", peer="sentence-transformers")
def labels_of_pairs(bench):
    """A pair of label 0 is a mismatch, also as a string or a boolean."""
    for zero in (0, 0.0, "0", "0.0", " 0 ", False):
        path = bench.lines("pairs.jsonl", {"query": "q", "answer": "p", "label": 1},
                           {"query": "q", "answer": "n1", "label": zero})
        bench.equal(understood(bench, path), ONE_OF_THREE[:2], repr(zero))


@case("every form of mine_hard_negatives", peer="sentence-transformers")
def forms_of_mined(bench):
    """triplet, n-tuple, labeled-pair and labeled-list say the same; with a model's scores a list and
    pairs need a rule, triplets and tuples keep their columns."""
    forms = {
        "triplet": [{"query": "q", "answer": "p", "negative": n} for n in ("n1", "n2")],
        "n-tuple": [{"query": "q", "answer": "p", "negative_1": "n1", "negative_2": "n2"}],
        "labeled-pair": [{"query": "q", "answer": d, "label": int(d == "p")}
                         for d in ("p", "n1", "n2")],
        "labeled-list": [LIST | {"labels": [1, 0, 0]}],
        "triplet scores": [{"query": "q", "answer": "p", "negative": n, "scores": [0.4, s]}
                           for n, s in (("n1", 0.5), ("n2", 0.3))],
        "n-tuple scores": [{"query": "q", "answer": "p", "negative_1": "n1", "negative_2": "n2",
                            "scores": [0.4, 0.5, 0.3]}],
    }
    for name, lines in forms.items():
        line = converted(bench, bench.lines(f"{name}.jsonl", *lines), "flag_embedding")[0]
        bench.equal((line["pos"], line["neg"]), (["p"], ["n1", "n2"]), name)
    path = bench.lines("list.jsonl", LIST | {"scores": [0.81, 0.4, 0.3]})
    bench.refused(bench.tandem("convert", path, "--to", "flag_embedding", "--output", path + ".out"),
                  3, f"{path}:1: \"scores\" has 0.81", "data.positive_grade")
    path = bench.lines("pair.jsonl", *({"query": "q", "answer": d, "score": s}
                                       for d, s in (("p", 0.8), ("n1", 0.3))))
    bench.refused(bench.tandem("convert", path, "--to", "flag_embedding", "--output", path + ".out"),
                  2, "--scores grades --positive-grade")
    bench.says(bench.tandem("inspect", path), "graded")


@case("scores of a labeled-list", peer="sentence-transformers")
def scores_of_a_labelled_list(bench):
    """By data.positive_grade the mined negatives of a list with scores are neither positives nor
    negatives, which train says; by data.binarize_at they are the negatives that they were mined as."""
    path = bench.lines("list.jsonl", *({"query": f"q {i}", "answer": [f"p {i}", f"n {i}"],
                                        "scores": [0.81, 0.4]} for i in range(8)))
    bench.says(bench.tandem(*train(bench, path), "--check", "--set", "data.positive_grade=0.5"),
               "below data.positive_grade, which are neither positives nor negatives: 8")
    bench.says(bench.tandem(*train(bench, path), "--check", "--set", "data.binarize_at=0.5"),
               "8 of 8 training queries have judged negatives")


@case("labels against their list", peer="FlagEmbedding")
def labels_against_lists(bench):
    """Labels win over the lists that documents stand in, and how many they move is said."""
    path = bench.lines("flag.jsonl", {"query": "q", "pos": ["n1"], "neg": ["p"], "pos_scores": [0],
                                      "neg_scores": [1]})
    for command in (["inspect", path], ["convert", path, "--to", "tevatron", "--output", path + ".out"]):
        bench.says(bench.tandem(*command), "taken by their label: 2")


@case("labels inside lists of positives", peer="FlagEmbedding, Tevatron")
def labels_in_lists(bench):
    """Where all scores are 0 or 1 they are labels, and win over the list; a teacher's do not."""
    path = bench.lines("flag.jsonl", {"query": "q", "pos": ["p", "n1"], "neg": ["n2"],
                                      "pos_scores": [1, 0], "neg_scores": [0]})
    bench.equal(understood(bench, path), ONE_OF_THREE, "FlagEmbedding")
    path = bench.lines("taught.jsonl", {"query": "q", "pos": ["p"], "neg": ["n1"],
                                        "pos_scores": [0], "neg_scores": [0.9]})
    bench.equal(understood(bench, path), ONE_OF_THREE[:2], "a teacher's")
    path = bench.lines("tevatron.jsonl", {
        "query_id": 1, "query": "q",
        "positive_passages": [{"docid": 1, "text": "p", "score": 1},
                              {"docid": 2, "text": "n1", "score": 0}],
        "negative_passages": [{"docid": 3, "text": "n2", "score": 0}]})
    bench.equal(understood(bench, path), ONE_OF_THREE, "Tevatron")


@case("labels in words")
def labels_in_words(bench):
    """Words are refused with the line and the words; --labels says what they are. NLI's classes 0, 1
    and 2 are no grades."""
    path = bench.lines("words.jsonl", {"query": "q", "answer": "p", "label": "up"},
                       {"query": "q", "answer": "n1", "label": "down"})
    bench.refused(bench.tandem("inspect", path), 3, f"{path}:1:", '"up", "down"', "--labels")
    bench.equal(understood(bench, path, "--labels", "up=1,down=0"), ONE_OF_THREE[:2], "words")
    path = bench.lines("nli.jsonl", *({"premise": "q", "hypothesis": d, "label": i}
                                      for i, d in enumerate(("p", "n1", "n2"))))
    bench.refused(bench.tandem("convert", path, "--to", "beir", "--output", path + ".out"), 3,
                  f"{path}:3: \"label\" has the classes 0, 1 and 2", "--labels 0=1,1=0,2=0")
    bench.equal(understood(bench, path, "--labels", "0=1,1=0,2=0"), ONE_OF_THREE, "classes")
    path = bench.lines("snli.jsonl", *({"premise": "q", "hypothesis": f"d{i}", "label": i}
                                       for i in (-1, 0, 1, 2)))
    bench.refused(bench.tandem("convert", path, "--to", "beir", "--output", path + ".out"), 3,
                  "has the classes 0, 1 and 2", "Lines of -1")


@case("columns that look like something")
def columns_that_vanish(bench):
    """A key that looks like a query, a positive, a negative or a score is an error that names it and
    the way to pass over it; any other is named with its count."""
    keys = ("negatives", "hard_negative", "hard_negatives", "negative1", "neg", "hard_neg",
            "hard_negative_passages", "similarity_score", "postive", "negative_ids", "label_text",
            "hardnegatives")
    for key in keys:
        path = bench.lines(f"{key}.jsonl", {"query": "q", "positive": "p", key: "n1"})
        bench.refused(bench.tandem("inspect", path), 3, f'{path}:1: "{key}" looks like',
                      f"--ignore-columns {key}")
        bench.equal(understood(bench, path, "--ignore-columns", key), ONE_OF_THREE[:1], key)
    path = bench.lines("other.jsonl", {"query": "q", "positive": "p", "source": "x", "id": 1},
                       {"query": "r", "positive": "p", "id": 2})
    done = bench.tandem("convert", path, "--to", "flag_embedding", "--output", path + ".out")
    bench.says(done, "id (2), source (1)")


@case("nulls among negatives", peer="pandas, datasets")
def nulls(bench):
    """Null and empty negatives, which exporters write for columns of unequal rows, are left out and
    counted; a positive that is null is an error."""
    path = bench.lines("columns.jsonl",
                       {"query": "q", "positive": "p", "negative_1": "n1", "negative_2": None},
                       {"query": "q", "positive": "p", "negative_1": "", "negative_2": "n2"})
    line = converted(bench, path, "flag_embedding")[0]
    bench.equal((line["pos"], line["neg"]), (["p"], ["n1", "n2"]), "columns")
    bench.says(bench.tandem("convert", path, "--to", "beir", "--output", path + ".beir"),
               "negatives that are null or empty, left out: 2")
    path = bench.lines("lists.jsonl", {"query": "q", "pos": ["p"], "neg": ["n1", None, "n2"],
                                       "pos_scores": [3], "neg_scores": [2, None, 1]})
    bench.equal(understood(bench, path), ONE_OF_THREE, "lists")
    path = bench.lines("positive.jsonl", {"query": "q", "pos": [None]})
    bench.refused(bench.tandem("inspect", path), 3, f'{path}:1: "pos" has null for a positive')


@case("margins to several positives", peer="sentence-transformers")
def margins(bench):
    """Each row of margins trains: to another positive of the query, and beside lists of scores."""
    path = bench.lines("margins.jsonl", {"query": "q", "positive": "p", "negative": "n1", "label": 2},
                       {"query": "q", "positive": "r", "negative": "n1", "label": 3},
                       {"query": "q", "positive": "p", "negative": "n2", "scores": [5, 1]})
    lines = converted(bench, path, "sentence_transformers")
    bench.equal([(line["positive"], line["negative"], line["label"]) for line in lines],
                [("p", "n1", 2), ("r", "n1", 3), ("p", "n2", 4)], "margins")
    bench.refused(bench.tandem("convert", path, "--to", "flag_embedding", "--output", path + ".out"),
                  2, "margins to several positives")


@case("ids of Tevatron's lines", peer="Tevatron")
def ids_of_lines(bench):
    """Passages without an id are known by their text; ids that count within a line only are an error
    that names --ids text."""
    path = bench.lines("without.jsonl", {"query": "q", "positive_passages": [{"text": "p"}],
                                         "negative_passages": [{"text": "n1"}, {"text": "n2"}]})
    bench.equal(understood(bench, path), ONE_OF_THREE, "no ids")
    path = bench.lines("within.jsonl", *({"query_id": q, "query": q, "positive_passages": [
        {"docid": 0, "text": "p" + q}]} for q in ("a", "b")))
    bench.refused(bench.tandem("convert", path, "--to", "beir", "--output", path + ".out"), 3,
                  f"{path}:2: document has another text", "--ids text")
    line = converted(bench, path, "flag_embedding", "--ids", "text")[1]
    bench.equal(line["pos"], ["pb"], "ids of texts")


@case("one file in every format")
def every_format(bench):
    """What one format says of positives and negatives, every other says after convert."""
    path = bench.lines("list.jsonl", LIST | {"labels": [1, 0, 0]},
                       {"query": "r", "answer": ["n1", "p"], "labels": [0, 1]})
    first = sorted(understood(bench, path))
    for to in ("sentence_transformers", "flag_embedding", "tevatron", "beir"):
        name = bench.work / to if to == "beir" else bench.work / f"{to}.jsonl"
        bench.works(bench.tandem("convert", path, "--to", to, "--output", name))
        again = bench.work / f"again.{to}.jsonl"
        bench.works(bench.tandem("convert", name, "--to", "flag_embedding", "--output", again))
        if sorted(understood(bench, again)) != first:
            raise Misread(f"{to}: {understood(bench, again)}; right is {first}")
