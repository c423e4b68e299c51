#!/usr/bin/env python3
"""Writes tests/text/golden/hashes.tsv: what the pinned `tokenizers` package makes of many texts.

    PEER_PYTHON tools/golden/make_tokenizer_golden.py SHARED_DATA tests/text/golden

SHARED_DATA is the folder with the BEIR folders and tokenizers/bert-base-uncased-vocab.txt. One line
for each set of texts: its name, the number of texts, and a CRC-32. The CRC of ids runs over each
text's ids and then -1, as little-endian 32-bit integers; that of strings over each string and then
one zero byte, in UTF-8. tests/text/golden_test.cc makes the same without Python.
"""

import glob
import itertools
import json
import os
import struct
import sys
import zlib

import tokenizers
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

import generated_texts

PINNED = "0.23.3"
RANDOM_TEXTS = 20000
SNIPPET_TEXTS = 20000
SHORT = 24  # the second length at which shared texts are hashed


def crc_of_strings(strings):
    crc = 0
    for string in strings:
        crc = zlib.crc32(string.encode() + b"\0", crc)
    return crc


def crc_of_ids(encodings):
    crc = 0
    for encoding in encodings:
        ids = encoding.ids + [-1]
        crc = zlib.crc32(struct.pack("<%di" % len(ids), *ids), crc)
    return crc


def bert_tokenizer(vocab_file, lowercase):
    tokenizer = Tokenizer(models.WordPiece.from_file(
        vocab_file, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.add_special_tokens(["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"])
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(
        ("[SEP]", tokenizer.token_to_id("[SEP]")), ("[CLS]", tokenizer.token_to_id("[CLS]")))
    return tokenizer


def read_texts(path):
    texts = []
    with open(path, encoding="utf-8", newline="\n") as lines:
        for line in lines:
            record = json.loads(line)
            title = record.get("title", "")
            texts.append((title + " " if title else "") + record["text"])
    return texts


def in_chunks(tokenizer, texts, size=2000):
    for start in range(0, len(texts), size):
        yield from tokenizer.encode_batch(texts[start:start + size])


def shared_files(shared):
    return sorted(itertools.chain.from_iterable(
        glob.glob(os.path.join(shared, pattern)) for pattern in ("*/*.jsonl", "xquad/*/*.jsonl")))


def shared_sets(shared):
    tokenizer = bert_tokenizer(
        os.path.join(shared, "tokenizers", "bert-base-uncased-vocab.txt"), lowercase=True)
    for path in shared_files(shared):
        texts = read_texts(path)
        name = os.path.relpath(path, shared)
        for length in (0, SHORT):
            if length:
                tokenizer.enable_truncation(length)
            else:
                tokenizer.no_truncation()
            yield f"shared/{length}/{name}", len(texts), crc_of_ids(in_chunks(tokenizer, texts))


def generated_sets(shared):
    texts = generated_texts.every_character() + generated_texts.random_texts(RANDOM_TEXTS)
    for clean, chinese, strip, lower in itertools.product((False, True), repeat=4):
        normalizer = normalizers.BertNormalizer(
            clean_text=clean, handle_chinese_chars=chinese, strip_accents=strip, lowercase=lower)
        name = "normalizer/" + "".join("ft"[flag] for flag in (clean, chinese, strip, lower))
        yield name, len(texts), crc_of_strings(map(normalizer.normalize_str, texts))
    splitter = pre_tokenizers.BertPreTokenizer()
    words = (word for text in texts for word, _ in splitter.pre_tokenize_str(text))
    yield "pre_tokenizer", len(texts), crc_of_strings(words)
    vocab = os.path.join(shared, "tokenizers", "bert-base-uncased-vocab.txt")
    for lowercase in (False, True):
        tokenizer = bert_tokenizer(vocab, lowercase)
        yield f"generated/{lowercase}".lower(), len(texts), crc_of_ids(in_chunks(tokenizer, texts))


def added_sets(golden):
    texts = [generated_texts.snippet_text(i) for i in range(SNIPPET_TEXTS)]
    for path in sorted(glob.glob(os.path.join(golden, "added_*.json"))):
        tokenizer = Tokenizer.from_file(path)
        yield os.path.basename(path), len(texts), crc_of_ids(in_chunks(tokenizer, texts))


def main():
    if tokenizers.__version__ != PINNED:
        sys.exit(f"tokenizers {PINNED} is needed, {tokenizers.__version__} is installed")
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    shared, golden = sys.argv[1:]
    with open(os.path.join(golden, "hashes.tsv"), "w") as out:
        out.write(f"# Made by tools/golden/make_tokenizer_golden.py from tokenizers {PINNED}: "
                  "set, texts, CRC-32 (see there).\n")
        for name, count, crc in itertools.chain(
                added_sets(golden), generated_sets(shared), shared_sets(shared)):
            out.write(f"{name}\t{count}\t{crc:08x}\n")
            out.flush()


if __name__ == "__main__":
    main()
