#!/usr/bin/env python3
"""Writes tests/text/golden/pairs.json: what the pinned `tokenizers` package makes of pairs of texts.

    PEER_PYTHON tools/golden/make_pair_golden.py SHARED_DATA tests/text/golden/pairs.json

SHARED_DATA is the folder with the BEIR folders and tokenizers/bert-base-uncased-vocab.txt. Pair i of
a folder is its query i, of the first 2,000, with document 7 i of its corpus (counted in a circle);
every third pair is turned round, so that the longer text is the first. Each case is a post-processor
as tokenizer.json spells it, a length limit (0: none; truncation "longest_first") and a CRC-32 over each pair's ids,
then -1, its token types, then -1, as little-endian 32-bit integers.
tests/text/post_processors/pair_golden_test.cc makes the same without Python.
"""

import glob
import json
import os
import struct
import sys
import zlib

import tokenizers
from tokenizers import Tokenizer

PINNED = "0.23.3"
LENGTHS = [0, 2, 3, 4, 24, 25, 128]
MOST_PAIRS = 2000  # of a folder
CLS, SEP = 101, 102
SPECIAL = {"[CLS]": {"id": "[CLS]", "ids": [CLS], "tokens": ["[CLS]"]},
           "[SEP]": {"id": "[SEP]", "ids": [SEP], "tokens": ["[SEP]"]}}


def template(pair):
    def piece(text, kind):
        name, _, type_id = text.partition(":")
        what = {"id": name.lstrip("$"), "type_id": int(type_id or 0)}
        return {"Sequence" if kind else "SpecialToken": what}

    def pieces(text):
        return [piece(word, word.startswith("$")) for word in text.split()]

    return {"type": "TemplateProcessing", "single": pieces("[CLS] $A [SEP]"), "pair": pieces(pair),
            "special_tokens": SPECIAL}


PROCESSORS = {
    "bert": {"type": "BertProcessing", "sep": ["[SEP]", SEP], "cls": ["[CLS]", CLS]},
    "roberta": {"type": "RobertaProcessing", "sep": ["[SEP]", SEP], "cls": ["[CLS]", CLS],
                "trim_offsets": True, "add_prefix_space": False},
    "template": template("[CLS] $A [SEP] $B:1 [SEP]:1"),
    "template without cls": template("$A [SEP] $B [SEP]"),
    "template of two": template("[CLS] $A [SEP] [SEP] $B [SEP]"),
    "template turned round": template("[CLS] $B:1 [SEP]:1 $A [SEP]"),
}


def tokenizer_of(vocabulary, processor):
    with open(vocabulary, encoding="utf-8") as lines:
        words = {line.rstrip("\n"): i for i, line in enumerate(lines)}
    return Tokenizer.from_str(json.dumps({
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [],
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True,
                       "strip_accents": None, "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"}, "post_processor": processor, "decoder": None,
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                  "max_input_chars_per_word": 100, "vocab": words}}))


def read_texts(path):
    texts = []
    with open(path, encoding="utf-8", newline="\n") as lines:
        for line in lines:
            record = json.loads(line)
            title = record.get("title", "")
            texts.append((title + " " if title else "") + record["text"])
    return texts


def read_pairs(folder):
    queries = read_texts(os.path.join(folder, "queries.jsonl"))[:MOST_PAIRS]
    documents = read_texts(os.path.join(folder, "corpus.jsonl"))
    pairs = [(query, documents[7 * i % len(documents)]) for i, query in enumerate(queries)]
    return [pair[::-1] if i % 3 == 2 else pair for i, pair in enumerate(pairs)]


def crc_of(encodings):
    crc = 0
    for encoding in encodings:
        for numbers in (encoding.ids + [-1], encoding.type_ids + [-1]):
            crc = zlib.crc32(struct.pack("<%di" % len(numbers), *numbers), crc)
    return crc


def main():
    if tokenizers.__version__ != PINNED:
        sys.exit(f"tokenizers {PINNED} is needed, {tokenizers.__version__} is installed")
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    shared, output = sys.argv[1:]
    folders = sorted(os.path.dirname(path) for pattern in ("*/corpus.jsonl", "xquad/*/corpus.jsonl")
                     for path in glob.glob(os.path.join(shared, pattern)))
    vocabulary = os.path.join(shared, "tokenizers", "bert-base-uncased-vocab.txt")
    cases = []
    for name, processor in PROCESSORS.items():
        tokenizer = tokenizer_of(vocabulary, processor)
        of_all = name in ("bert", "roberta")
        for folder in folders if of_all else folders[:1]:
            pairs = read_pairs(folder)
            for length in (0, 128) if folder != folders[0] else LENGTHS:
                special = tokenizer.num_special_tokens_to_add(True)
                if 0 < length < special:
                    continue  # the package cuts no special token; text/post_processors/pair_template.h does
                tokenizer.enable_truncation(length) if length else tokenizer.no_truncation()
                cases.append({"name": name, "folder": os.path.relpath(folder, shared),
                              "max_length": length, "pairs": len(pairs),
                              "crc": f"{crc_of(tokenizer.encode_batch(pairs)):08x}"})
                print(cases[-1], flush=True)
    lines = ",\n  ".join(json.dumps(case) for case in cases)
    processors = ",\n  ".join(f"{json.dumps(n)}: {json.dumps(p)}" for n, p in PROCESSORS.items())
    with open(output, "w", encoding="ascii") as out:
        out.write(f'{{"tokenizers": "{PINNED}",\n "processors": {{\n  {processors}}},\n'
                  f' "cases": [\n  {lines}]}}\n')


if __name__ == "__main__":
    main()
