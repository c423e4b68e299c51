#!/usr/bin/env python3
"""Makes a BEIR folder of MS MARCO's size from the sentences of smaller ones.

    python3 tools/checks/scale_dataset.py --output FOLDER [--documents 8841823] [--queries 500000]
        [--judgements 532761] [--seed 1] SOURCE...

Each SOURCE is a BEIR folder with real texts; of it only corpus.jsonl is read. A document is several
of their sentences: some 55 words, as MS MARCO's passages have (355 bytes, theirs 335). No two
documents have the same text. A query is some words in a row of its positive document. What
is short of --judgements after one positive a query are second positives of random documents; by
default they are as many a query as in MS MARCO's training split.

The folder has corpus.jsonl, queries.jsonl and qrels/train.tsv with numbers as ids. The same
arguments give the same bytes. Writes while it draws, so that memory holds the sources' sentences
only. Needs only the standard library.
"""

import argparse
import json
import os
import random
import re
import sys

MEAN_BYTES = 335  # of an MS MARCO passage; two sentences at least make it 20 more here
# A space between two sentences. It depends on the characters around it only, so that sentences that
# are joined by spaces are split into themselves again: texts are equal only where all their sentences are.
BOUNDARY = re.compile(r"(?<=[a-z][.!?]) (?=[A-Z])")
SENTENCE = re.compile(r"[A-Z].{28,248}[a-z][.!?]")
WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
HEADER = "query-id\tcorpus-id\tscore\n"


class Draws:
    """Random numbers that are the same in every version of Python."""

    def __init__(self, seed):
        self.uniform = random.Random(seed).random

    def below(self, bound):
        return int(self.uniform() * bound)


def sentences_of(folders):
    """All sentences, each once, in the order of the files."""
    found = {}
    for folder in folders:
        with open(os.path.join(folder, "corpus.jsonl"), encoding="utf-8") as file:
            for line in file:
                text = " ".join(json.loads(line)["text"].split())
                for sentence in BOUNDARY.split(text):
                    if SENTENCE.fullmatch(sentence):
                        found[sentence] = None
    return list(found)


def in_json(text):
    """`text` as it stands between the quotes of a JSON string."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


class Documents:
    """Numbers of the sentences of each document, in order."""

    def __init__(self, sentences, draws):
        self.sizes = [len(sentence.encode()) + 1 for sentence in sentences]
        self.draws = draws
        self.mean = sum(self.sizes) / len(self.sizes)

    def sentences_of(self, number):
        """The first two sentences are other ones for every number below the square of their count."""
        count = len(self.sizes)
        first = number % count
        second = (first + 1 + number // count) % count
        chosen = [first, second]
        size = self.sizes[first] + self.sizes[second]
        # Half a sentence beyond the end of what is wanted is what a document gets on average.
        wanted = MEAN_BYTES * (0.5 + self.draws.uniform()) - self.mean / 2
        while size < wanted:
            further = self.draws.below(count)
            chosen.append(further)
            size += self.sizes[further]
        return chosen


class Queries:
    """Some words in a row of a text, never the same ones twice."""

    def __init__(self, draws):
        self.draws = draws
        self.made = set()

    def of(self, text):
        words = WORD.findall(text)
        count = 5 + self.draws.below(5)
        while True:
            start = self.draws.below(max(1, len(words) - count + 1))
            query = " ".join(words[start:start + count])
            if query not in self.made:
                self.made.add(query)
                return query
            # The text has few words and all of them are taken: longer ones are not.
            if count > len(words):
                query = f"{query} {len(self.made)}"
                self.made.add(query)
                return query
            count += 1


def write(arguments, sentences):
    draws = Draws(arguments.seed)
    sentences = [text for _, text in sorted((draws.uniform(), text) for text in sentences)]
    written = [in_json(text) for text in sentences]
    documents = Documents(sentences, draws)
    queries = Queries(draws)
    asked = positives(arguments)
    qrels = os.path.join(arguments.output, "qrels")
    os.makedirs(qrels, exist_ok=True)

    def create(*names):
        return open(os.path.join(arguments.output, *names), "w", encoding="utf-8", newline="\n")

    with create("corpus.jsonl") as corpus, create("queries.jsonl") as asking, \
            create("qrels", "train.tsv") as judged:
        judged.write(HEADER)
        query = 0
        for number in range(arguments.documents):
            chosen = documents.sentences_of(number)
            text = " ".join([written[place] for place in chosen])
            corpus.write(f'{{"_id": "{number}", "title": "", "text": "{text}"}}\n')
            while query < arguments.queries and asked(query) == number:
                words = queries.of(" ".join([sentences[place] for place in chosen]))
                asking.write(f'{{"_id": "{query}", "text": "{in_json(words)}"}}\n')
                judged.write(f"{query}\t{number}\t1\n")
                for other in second_positives(arguments, draws, query, number):
                    judged.write(f"{query}\t{other}\t1\n")
                query += 1


def positives(arguments):
    """query -> its first positive: evenly over all documents."""
    return lambda query: query * arguments.documents // arguments.queries


def second_positives(arguments, draws, query, positive):
    """None or one document more, evenly over all queries."""
    spare = arguments.judgements - arguments.queries
    before, now = (place * spare // arguments.queries for place in (query, query + 1))
    return [(positive + 1 + draws.below(arguments.documents - 1)) % arguments.documents
            for _ in range(now - before)]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="+", metavar="SOURCE")
    parser.add_argument("--output", required=True)
    parser.add_argument("--documents", type=int, default=8841823)
    parser.add_argument("--queries", type=int, default=500000)
    parser.add_argument("--judgements", type=int)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    if arguments.judgements is None:
        arguments.judgements = arguments.queries * 532761 // 500000
    if arguments.documents < 2 or not 0 < arguments.queries:
        parser.error("needs at least two documents and a query")
    if not arguments.queries <= arguments.judgements <= 2 * arguments.queries:
        parser.error("a query has one or two positives")
    sentences = sentences_of(arguments.sources)
    if len(sentences) * (len(sentences) - 1) < arguments.documents:
        parser.error(f"{len(sentences)} sentences are too few for {arguments.documents} documents")
    write(arguments, sentences)
    print(f"{arguments.output}: {arguments.documents} documents of {len(sentences)} sentences, "
          f"{arguments.queries} queries, {arguments.judgements} judgements", file=sys.stderr)


if __name__ == "__main__":
    main()
