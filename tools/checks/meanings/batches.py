"""What becomes negatives of a query, and how queries become batches, epochs and steps."""
import json
import math

from meanings.case import case

EIGHT = {f"q{i}": f"what is the {word} of the country" for i, word in enumerate(
    ["capital", "anthem", "currency", "area", "president", "language", "climate", "history"])}
ANSWERS = {f"a{i}": text for i, text in enumerate(
    ["the capital city", "the national song", "the money that is used", "its size in square miles",
     "the head of the state", "the tongue that is spoken", "how warm and wet it is",
     "what happened there before"])}


def train(bench, path, *sets, **keys):
    """Arguments of a training run on texts of a few tokens; `keys` are keys of [train]."""
    name = pathname(path)
    lines = ["seed = 1", 'precision = "fp32"', "threads = 1", "[model]", f"base = {json.dumps(bench.model())}",
             "max_query_tokens = 16", "max_document_tokens = 16", "dropout = 0.0", "[data]",
             f"train = {json.dumps(path)}", "[objective]", 'name = "infonce"', "[logging]", "every = 1",
             "[train]"]
    lines += [f"{key} = {json.dumps(value)}" for key, value in ({"batch": 8} | keys).items()]
    recipe = bench.text(f"{name}.toml", "\n".join(lines) + "\n")
    sets = [part for each in sets for part in ("--set", each)]
    return ["train", recipe, *sets]


def pathname(path):
    return path.rsplit("/", 1)[-1].replace(".", "_")


def steps(bench, run):
    rows = [json.loads(line) for line in (bench.work / run / "metrics.jsonl").read_text().splitlines()]
    return [row for row in rows if "loss" in row]


def run_file(bench):
    """Eight queries that are documents: each finds itself first and its answer second."""
    return (bench.text("run.trec", "".join(
        f"q{i} Q0 q{i} 1 0.9 x\nq{i} Q0 a{i} 2 0.5 x\n" for i in range(8))),
        bench.text("qrels.tsv", "query-id\tcorpus-id\tscore\n"
                   + "".join(f"q{i}\ta{i}\t1\n" for i in range(8))))


def ndcg(ended):
    return ended.json()["measures"]["ndcg@10"]


@case("results with their query's own id, in a run", peer="BEIR")
def identical_ids_of_a_run(bench):
    """BEIR leaves a result out whose document id is its query's: nDCG@10 is 1.0, else 0.631, and then
    a warning names the option."""
    run, qrels = run_file(bench)
    arguments = ["evaluate", "--run", run, "--qrels", qrels, "--measures", "ndcg@10"]
    bench.says(bench.tandem(*arguments), "0.6309", "own id among their results: 8", "--ignore-identical-ids")
    bench.says(bench.tandem(*arguments, "--ignore-identical-ids"), "1.0000", "left out of their results: 8")
    other = bench.text("other.trec", "".join(f"q{i} Q0 a{i} 1 0.9 x\n" for i in range(8)))
    quiet = bench.works(bench.tandem("evaluate", "--run", other, "--qrels", qrels))
    bench.equal("identical" in quiet.stderr, False, "a warning where no ids coincide")
    pair = ["compare", run, other, "--qrels", qrels, "--measures", "ndcg@10"]
    bench.says(bench.tandem(*pair), f"{run}: queries with a document of their own id", "0.6309")
    bench.says(bench.tandem(*pair, "--ignore-identical-ids"), "left out of their results: 8", "1.0000")


@case("a judged document with the query's id", peer="BEIR")
def a_judged_identical_id(bench):
    """A document that is judged relevant for the query with its id stays, and a warning says that
    BEIR leaves it out."""
    run, qrels = run_file(bench)
    with open(qrels, "a") as file:
        file.write("q3\tq3\t1\n")
    ended = bench.tandem("evaluate", "--run", run, "--qrels", qrels, "--measures", "mrr", "--ignore-identical-ids")
    bench.says(ended, "left out of their results: 7", "judged relevant and stays", "1.0000")


def duplicates(bench, name="folder"):
    return bench.beir(name, EIGHT | ANSWERS, EIGHT,
                      {split: [(f"q{i}", f"a{i}", 1) for i in range(8)] for split in ("test", "train", "dev")})


@case("queries that are documents, with a model", peer="sentence-transformers")
def queries_as_documents(bench):
    """sentence-transformers ranks a query's own document; --ignore-identical-ids does not, in the
    values of its evaluator without these documents. search and validation likewise."""
    folder = duplicates(bench)
    arguments = ["evaluate", "--model", bench.model(), "--dataset", folder, "--measures", "ndcg@10",
                 "--format", "json"]
    plain = bench.works(bench.tandem(*arguments))
    bench.says(plain, "own id among their results: 8", "--ignore-identical-ids")
    ignoring = bench.works(bench.tandem(*arguments, "--ignore-identical-ids"))
    run = str(bench.work / "run.trec")
    search = ["search", "--model", bench.model(), "--dataset", folder, "--top-k", "3", "--output"]
    bench.says(bench.tandem(*search, run), "own id among their results: 8")
    bench.says(bench.tandem(*search, run, "--ignore-identical-ids"), "left out of their results: 8")
    rows = [line.split() for line in (bench.work / "run.trec").read_text().splitlines()]
    bench.equal(len(rows), 24, "lines of the run")
    bench.equal([row for row in rows if row[0] == row[2]], [], "results with their query's id")
    values = bench.peer("""
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator
model = SentenceTransformer(folder, device="cpu")
relevant = {q: {"a" + q[1:]} for q in queries}
def ndcg(corpus, of):
    found = InformationRetrievalEvaluator(of, corpus, {q: relevant[q] for q in of}, ndcg_at_k=[10])(model)
    return [v for k, v in found.items() if k.endswith("cosine_ndcg@10")][0]
with_all = ndcg(queries | answers, queries)
left_out = [ndcg({i: t for i, t in (queries | answers).items() if i != q}, {q: queries[q]}) for q in queries]
result = [with_all, sum(left_out) / len(left_out)]
""", folder=bench.model(), queries=EIGHT, answers=ANSWERS)
    bench.close(ndcg(plain), values[0], 1e-6, "ndcg@10 of all documents")
    bench.close(ndcg(ignoring), values[1], 1e-6, "ndcg@10 without the queries' own documents")
    if values[0] >= values[1]:
        raise AssertionError("the example shows nothing")


@case("queries that are documents, in validation")
def validation_of_duplicates(bench):
    """A run's validation is evaluate's: it warns, and validation.ignore_identical_ids leaves the
    documents out."""
    folder = duplicates(bench)
    sets = [f"validation.data={folder}", "validation.split=dev", "train.steps=1"]
    values = {}
    for name, more in {"all": [], "without": ["validation.ignore_identical_ids=true"]}.items():
        ended = bench.works(bench.tandem(*train(bench, folder, *sets, *more), "--output", bench.work / name))
        bench.says(ended, "validation.ignore_identical_ids", "for 8 of 8 queries")
        rows = [json.loads(line) for line in (bench.work / name / "metrics.jsonl").read_text().splitlines()]
        values[name] = [row["validation_ndcg@10"] for row in rows if "validation_ndcg@10" in row][0]
    flags = {"all": [], "without": ["--ignore-identical-ids"]}
    for name, more in flags.items():
        found = bench.tandem("evaluate", "--model", bench.model(), "--dataset", folder, "--split", "dev",
                             "--max-query-tokens", "16", "--max-document-tokens", "16",
                             "--measures", "ndcg@10", "--format", "json", *more)
        bench.close(values[name], ndcg(found), 1e-6, f"validation, {name}")


@case("a query's own text, mined")
def own_text_is_not_mined(bench):
    """A document with the query's text is never mined, with a model and from a run; one with its id
    in other words only with --ignore-identical-ids left out."""
    folder = duplicates(bench)
    deep = bench.text("deep.trec", "".join(
        f"q{i} Q0 {d} 1 {s} x\n" for i in range(8)
        for d, s in [(f"q{i}", .9), (f"a{i}", .5)] + [(f"a{(i + k) % 8}", .4 - k / 100) for k in range(1, 6)]))
    for ranks in (["--model", bench.model()], ["--run", deep]):
        output = bench.work / f"mined{len(ranks[1])}.jsonl"
        ended = bench.tandem("mine", "--dataset", folder, *ranks, "--range", "0:5", "--negatives", "3",
                             "--output", output, "--no-cache")
        bench.says(ended, "which is not mined: 8 of 8")
        for line in output.read_text().splitlines():
            row = json.loads(line)
            bench.equal(row["query"] in row["neg"], False, f"own text mined for {row['query']}")
    titled = bench.beir("titled", {i: "Title: " + t for i, t in EIGHT.items()} | ANSWERS, EIGHT,
                        {"train": [(f"q{i}", f"a{i}", 1) for i in range(8)]})
    arguments = ["mine", "--dataset", titled, "--model", bench.model(), "--range", "0:5", "--negatives", "3",
                 "--no-cache", "--output"]
    bench.says(bench.tandem(*arguments, bench.work / "ids.jsonl"), "--ignore-identical-ids", "8 of 8")
    bench.says(bench.tandem(*arguments, bench.work / "no_ids.jsonl", "--ignore-identical-ids"), "left out")
    own = [json.loads(line) for line in (bench.work / "no_ids.jsonl").read_text().splitlines()]
    bench.equal([row for row in own if "Title: " + row["query"] in row["neg"]], [], "own id mined")


@case("a query's own text in its batch")
def own_text_in_the_batch(bench):
    """Two queries that are each other's answers have nothing to be compared with; with a third pair
    they train, and data.masks.query_text = false takes the texts as negatives."""
    pair = [{"anchor": "how are you", "positive": "how do you do"},
            {"anchor": "how do you do", "positive": "how are you"}]
    path = bench.lines("pair.jsonl", *pair)
    bench.refused(bench.tandem(*train(bench, path), "--output", bench.work / "pair"), 2,
                  "without any allowed negative")
    off = train(bench, path, "data.masks.query_text=false")
    bench.works(bench.tandem(*off, "--output", bench.work / "off"))
    more = bench.lines("more.jsonl", *pair, {"anchor": "a cat", "positive": "an animal"})
    bench.says(bench.tandem(*train(bench, more), "--output", bench.work / "more"),
               "2 of 3 training queries have their own text as a document")


@case("a query's own text as its judged negative")
def own_text_as_hard_negative(bench):
    """A negative that is the query itself is not drawn, and said; a positive that is stays."""
    path = bench.lines("hard.jsonl", {"query": "a red car", "pos": ["an automobile"], "neg": ["a red car"]},
                       {"query": "a cat", "pos": ["a cat"], "neg": ["a dog"]},
                       {"query": "rain", "pos": ["wet weather"], "neg": ["sunshine"]})
    ended = bench.tandem(*train(bench, path), "--output", bench.work / "run")
    bench.says(ended, "1 of these documents are judged irrelevant and left out",
               "2 of 3 training queries have judged negatives")


@case("one answer that many queries share")
def a_frequent_answer(bench):
    """40 % of 100 queries have one answer: batches of 10 stay 10, each with a share of them, and all
    teach something."""
    rows = [{"anchor": f"question number {i}", "positive": "the same answer" if i % 5 < 2 else f"answer {i}"}
            for i in range(100)]
    path = bench.lines("frequent.jsonl", *rows)
    arguments = train(bench, path, batch=10)
    check = bench.works(bench.tandem(*arguments, "--check"))
    bench.says(check, "10 steps", "up to 4 of them meet in a batch")
    bench.equal("teach nothing" in check.stdout, False, "batches that teach nothing")
    bench.works(bench.tandem(*arguments, "--output", bench.work / "run"))
    found = steps(bench, "run")
    bench.equal([row["queries"] for row in found], list(range(10, 101, 10)), "queries by step")
    bench.equal([row for row in found if not row["loss"] > 0], [], "steps of loss 0")


@case("batches without a negative")
def batches_without_a_negative(bench):
    """Steps that can teach nothing are counted by --check, warned of at the first, and summed up."""
    rows = [{"anchor": f"question number {i}", "positive": "the same answer"} for i in range(11)]
    path = bench.lines("empty.jsonl", {"anchor": "a cat", "positive": "an animal"}, *rows)
    outcomes = set()
    for seed in range(1, 9):
        arguments = train(bench, path, f"seed={seed}", batch=4)
        check = bench.tandem(*arguments, "--check")
        if check.code == 2:  # the first batch is one of them
            bench.refused(check, 2, "without any allowed negative")
            outcomes.add("refused")
            continue
        bench.says(check, "2 of the 3 batches of an epoch can teach nothing")
        ended = bench.tandem(*arguments, "--output", bench.work / f"run{seed}")
        bench.says(ended, "no allowed negative, so that nothing is learned", "2 of 3 steps taught nothing")
        outcomes.add("trained")
    bench.equal(outcomes, {"refused", "trained"}, "outcomes")


@case("epochs of accumulated batches")
def epochs_of_accumulated_batches(bench):
    """2 epochs are 2 epochs: the last step has the batches that are left, and counts for the rest of
    the queries."""
    rows = [{"anchor": f"question number {i}", "positive": f"answer {i}"} for i in range(28)]
    path = bench.lines("epochs.jsonl", *rows)
    arguments = train(bench, path, batch=4, epochs=2, accumulate=3)
    bench.says(bench.tandem(*arguments, "--check"), "5 steps")
    bench.works(bench.tandem(*arguments, "--output", bench.work / "run"))
    found = steps(bench, "run")
    bench.equal([row["queries"] for row in found], [12, 24, 36, 48, 56], "queries by step")
    bench.close(found[-1]["epoch"], 2, 1e-9, "epochs")


@case("a warm-up that is longer than the run", peer="transformers")
def a_long_warmup(bench):
    """"500 steps" of a run of 2 stay 500: the rate does not get to its peak, as the peer's, and both
    numbers are said."""
    rows = [{"anchor": f"question number {i}", "positive": f"answer {i}"} for i in range(8)]
    path = bench.lines("warmup.jsonl", *rows)
    arguments = train(bench, path, "schedule.warmup=500 steps", "optimizer.learning_rate=1e-3", batch=4)
    ended = bench.tandem(*arguments, "--output", bench.work / "run")
    bench.says(ended, "schedule.warmup is 500 steps, but the run has 2", "0.4 %")
    bench.says(bench.tandem(*arguments, "--check"), "schedule.warmup is 500 steps, but the run has 2")
    rates = [row["learning_rate"] for row in steps(bench, "run")]
    bench.close(rates[1], 1e-3 * 2 / 501, 1e-12, "the last step's rate")
    peers = bench.peer("""
import torch
from transformers import get_linear_schedule_with_warmup
optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1e-3)
schedule = get_linear_schedule_with_warmup(optimizer, 500, 2)
result = []
for _ in range(3):
    result.append(schedule.get_last_lr()[0])
    optimizer.step()
    schedule.step()
""")
    bench.close(rates[1], peers[2], 1e-7, "beside the peer's rate after as many steps")


@case("six positives a query")
def several_positives(bench):
    """An epoch has each query once, with one of its positives: said, with the key that changes it."""
    rows = [{"anchor": f"question number {i}", "positive": f"answer {i} {k}"} for i in range(10) for k in range(6)]
    path = bench.lines("six.jsonl", *rows)
    said = "an epoch trains 10 of 60 pairs"
    bench.says(bench.tandem(*train(bench, path), "--check"), said, "random_pruning")
    bench.says(bench.tandem(*train(bench, path), "--output", bench.work / "run"), said)
    all_pairs = train(bench, path, "sampling.name=random_pruning", "sampling.keep=1", batch=6)
    ended = bench.works(bench.tandem(*all_pairs, "--output", bench.work / "all"))
    bench.equal(said in ended.stderr, False, "said where every pair is trained")
    bench.equal(steps(bench, "all")[-1]["queries"], 60, "queries of an epoch")


@case("own negatives alone", peer="FlagEmbedding's no_in_batch_neg_flag")
def own_negatives_alone(bench):
    """data.masks.in_batch = false: the softmax of a query is over its positive and its own negatives.
    Without negatives of its own there is nothing to train."""
    rows = [{"query": f"question number {i}", "pos": [f"answer {i}"], "neg": [f"reply {i}", "what?"]}
            for i in range(4)]
    path = bench.lines("own.jsonl", *rows)
    sets = ["data.masks.in_batch=false", "data.negatives=2", "objective.temperature=0.05"]
    bench.works(bench.tandem(*train(bench, path, *sets, batch=4, steps=1), "--output", bench.work / "run"))
    pairs = bench.lines("pairs.jsonl", *({"query": row["query"], "pos": row["pos"]} for row in rows))
    bench.refused(bench.tandem(*train(bench, pairs, "data.masks.in_batch=false"), "--check"), 2,
                  "without any allowed negative", "data.masks")
    wanted = bench.peer("""
import torch
from sentence_transformers import SentenceTransformer
model = SentenceTransformer(folder, device="cpu")
def embed(texts):
    return torch.tensor(model.encode(texts, normalize_embeddings=True))
losses = []
for row in rows:
    scores = embed([row["query"]]) @ embed(row["pos"] + row["neg"]).T / 0.05
    losses.append(torch.nn.functional.cross_entropy(scores, torch.tensor([0])).item())
result = sum(losses) / len(losses)
""", folder=bench.model(), rows=rows)
    loss = steps(bench, "run")[0]["loss"]
    if math.isnan(loss):
        raise AssertionError("NaN")
    bench.close(loss, wanted, 1e-4, "the first step's loss")
