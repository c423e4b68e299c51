#!/usr/bin/env python3
"""Writes what the pinned `tokenizers` package makes of many texts with Unigram models, normalizers and
pre-tokenizers: tests/text/golden/normalizers.tsv and unigram.tsv.

    PEER_PYTHON tools/golden/make_unigram_golden.py SHARED_DATA tests/text/golden [normalizers|unigram]

Models are tests/text/golden/unigram_*.json and those of SHARED_DATA. SHARED_DATA is the folder with the BEIR
folders and tokenizers/json. Normalizers are those of
tests/text/golden/normalizers.json, the character map of T5's tokenizer.json, and one that this
script makes (generated_map). Lines and CRCs are as in make_tokenizer_golden.py; the tests are
tests/text/normalizers/normalizer_golden_test.cc and unigram_golden_test.cc.
"""

import glob
import itertools
import json
import os
import sys

import tokenizers
from tokenizers import Tokenizer, normalizers, pre_tokenizers

import generated_texts
from charsmap import make_charsmap
from make_tokenizer_golden import (PINNED, RANDOM_TEXTS, SHORT, crc_of_ids, crc_of_strings, in_chunks,
                                   read_texts)

MODELS = ["albert", "t5-pipeline", "xlm-roberta-pipeline"]


def generated():
    """Sets of generated texts by name."""
    numbers = range(RANDOM_TEXTS)
    return {
        "generated": generated_texts.every_character() + generated_texts.random_texts(RANDOM_TEXTS),
        "clusters": [generated_texts.cluster_text(i) for i in numbers],
        "snippets": [generated_texts.snippet_text(i) for i in numbers],
        "bytes": [generated_texts.random_bytes(i).decode(errors="replace") for i in numbers],
    }


def generated_map():
    """Every third character, so that clusters show, and some letters with an accent."""
    mapping = {chr(c): "<%X>" % c for c in range(3, 0x11000, 3) if not 0xD800 <= c < 0xE000}
    for c in range(0x42, 0x250):
        if c % 7 == 1:
            mapping[chr(c) + "\u0301"] = "Y"
    for c in (0x1F1E6, 0x1F600, 0x110BD):
        mapping[chr(c)] = ""
    return mapping


def with_normalizer(spec):
    document = {"version": "1.0", "added_tokens": [], "normalizer": spec,
                "model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}}
    return Tokenizer.from_str(json.dumps(document)).normalizer


def normalizer_sets(shared, golden):
    texts = generated()
    with open(os.path.join(golden, "normalizers.json"), encoding="utf-8") as file:
        known = {name: with_normalizer(spec) for name, spec in json.load(file).items()}
    with open(os.path.join(shared, "tokenizers/json/t5-pipeline/tokenizer.json"), "rb") as file:
        known["Precompiled/t5"] = with_normalizer(json.load(file)["normalizer"])
    known["Precompiled/generated"] = normalizers.Precompiled(make_charsmap(generated_map()))
    for name, normalizer in known.items():
        for kind, some in texts.items():
            yield f"{name}/{kind}", len(some), crc_of_strings(map(normalizer.normalize_str, some))
    splitters = {
        "Whitespace": pre_tokenizers.Whitespace(),
        "WhitespaceSplit": pre_tokenizers.WhitespaceSplit(),
        "Metaspace": pre_tokenizers.Metaspace(),
        "Metaspace/whole": pre_tokenizers.Metaspace(split=False, prepend_scheme="first"),
        "Metaspace/never": pre_tokenizers.Metaspace(replacement="a", prepend_scheme="never"),
        "T5": pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]),
    }
    for name, splitter in splitters.items():
        for kind, some in texts.items():
            words = (word for text in some for word, _ in splitter.pre_tokenize_str(text))
            yield f"words/{name}/{kind}", len(some), crc_of_strings(words)


def fixture_sets(golden):
    for path in sorted(glob.glob(os.path.join(golden, "unigram_*.json"))):
        tokenizer = Tokenizer.from_file(path)
        for kind, some in generated().items():
            crc = crc_of_ids(in_chunks(tokenizer, some))
            yield f"{os.path.basename(path)}/{kind}", len(some), crc


def unigram_sets(shared):
    files = sorted(itertools.chain.from_iterable(
        glob.glob(os.path.join(shared, pattern)) for pattern in ("*/*.jsonl", "xquad/*/*.jsonl")))
    texts = {os.path.relpath(path, shared): read_texts(path) for path in files}
    for model in MODELS:
        tokenizer = Tokenizer.from_file(
            os.path.join(shared, "tokenizers/json", model, "tokenizer.json"))
        for kind, some in generated().items():
            yield f"{model}/{kind}", len(some), crc_of_ids(in_chunks(tokenizer, some))
        for length in (0, SHORT):
            if length:
                tokenizer.enable_truncation(length)
            else:
                tokenizer.no_truncation()
            for name, some in texts.items():
                crc = crc_of_ids(in_chunks(tokenizer, some))
                yield f"{model}/shared/{length}/{name}", len(some), crc


def write(path, sets):
    with open(path, "w") as out:
        out.write(f"# Made by tools/golden/make_unigram_golden.py from tokenizers {PINNED}: "
                  "set, texts, CRC-32 (see there).\n")
        for name, count, crc in sets:
            out.write(f"{name}\t{count}\t{crc:08x}\n")
            out.flush()


def main():
    if tokenizers.__version__ != PINNED:
        sys.exit(f"tokenizers {PINNED} is needed, {tokenizers.__version__} is installed")
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    shared, golden = sys.argv[1:3]
    if sys.argv[3:] != ["unigram"]:
        write(os.path.join(golden, "normalizers.tsv"), normalizer_sets(shared, golden))
    if sys.argv[3:] != ["normalizers"]:
        write(os.path.join(golden, "unigram.tsv"),
              itertools.chain(fixture_sets(golden), unigram_sets(shared)))


if __name__ == "__main__":
    main()
