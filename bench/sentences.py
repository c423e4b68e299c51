#!/usr/bin/env python3
"""Short texts for measuring search among many: sentences of BEIR folders, cut to a few words.

    python3 bench/sentences.py --words 11 --count 1000000 --output FOLDER DATA...

DATA are BEIR folders. Sentences end at `.`, `!`, `?` or a line's end before a blank; longer ones are cut
into pieces of --words words, and pieces of fewer than four words are left out, as are those seen before.
Writes corpus.jsonl with --count of them, drawn by hash, and queries.jsonl with the first 2,000 of the
rest: real questions and sentences that no document equals.
"""

import argparse
import hashlib
import json
import os
import re
import sys

QUERIES = 2000


def pieces(text, words):
    for sentence in re.split(r"(?<=[.!?])\s+|\n+", text):
        parts = sentence.split()
        for begin in range(0, len(parts), words):
            piece = parts[begin:begin + words]
            if len(piece) >= 4:
                yield " ".join(piece)


def texts(folder):
    for name in ("corpus.jsonl", "queries.jsonl"):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            for line in file:
                record = json.loads(line)
                yield record.get("title", "")
                yield record.get("text", "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("data", nargs="+", metavar="DATA")
    parser.add_argument("--words", type=int, default=7)
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--output", required=True)
    arguments = parser.parse_args()

    found = {}
    for folder in arguments.data:
        for text in texts(folder):
            for piece in pieces(text, arguments.words):
                found[hashlib.blake2b(piece.encode(), digest_size=8).digest()] = piece
    drawn = [found[key] for key in sorted(found)]
    if len(drawn) < arguments.count + QUERIES:
        sys.exit(f"{len(drawn)} distinct pieces of text, but --count {arguments.count} and {QUERIES} "
                 "queries need more: give more DATA or a smaller --count or --words")
    os.makedirs(arguments.output, exist_ok=True)
    for name, rows in (("corpus", drawn[:arguments.count]),
                       ("queries", drawn[arguments.count:arguments.count + QUERIES])):
        with open(os.path.join(arguments.output, name + ".jsonl"), "w", encoding="utf-8") as file:
            for number, text in enumerate(rows):
                file.write(json.dumps({"_id": str(number), "text": text}, ensure_ascii=False) + "\n")
    print(f"{len(drawn)} distinct pieces, {arguments.count} of them written")


if __name__ == "__main__":
    main()
