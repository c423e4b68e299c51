#!/usr/bin/env python3
"""Writes tests/text/golden/bpe.tsv: ids that the pinned `tokenizers` package makes with BPE models.

    PEER_PYTHON tools/golden/make_bpe_golden.py SHARED_DATA LLAMA_FOLDER tests/text/golden

SHARED_DATA is the folder with the BEIR folders and tokenizers/json, LLAMA_FOLDER holds Llama 3.2's
tokenizer.json (tools/fetch/fetch_tokenizer.sh). Besides these real tokenizers, small ones are trained on
SHARED_DATA's texts with the pipelines of others whose files are not to be had (bpe_*.json; those that
exist already are kept). One line for each set of texts, as in make_tokenizer_golden.py;
tests/text/models/bpe_golden_test.cc makes the same without Python.
"""

import itertools
import json
import os
import sys

import tokenizers
from tokenizers import (AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers,
                        processors, trainers)

import generated_texts
from make_tokenizer_golden import PINNED, SHORT, crc_of_ids, in_chunks, read_texts, shared_files

COUNT = 5000  # of each kind of generated texts
VOCABULARY = 700

QWEN2 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
         r"|\s*[\r\n]+|\s+(?!\S)|\s+")
CLIP = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"


def special(*contents, **settings):
    return [AddedToken(content, special=True, **settings) for content in contents]


def byte_level(tokens, **model):
    """An untrained tokenizer, its trainer, and the tokens to add after the training."""
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY, special_tokens=tokens, show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        **{k: v for k, v in model.items() if k == "end_of_word_suffix"})
    return Tokenizer(models.BPE(**model)), trainer


def gpt2():
    tokenizer, trainer = byte_level(special("<|endoftext|>", normalized=True))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=True)
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    return tokenizer, trainer, []


def roberta():
    """With add_prefix_space, as the folders for token classification have it."""
    tokens = special("<s>", "<pad>", "</s>", "<unk>", normalized=True)
    tokenizer, trainer = byte_level(tokens + special("<mask>", lstrip=True, normalized=False))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True, trim_offsets=True)
    tokenizer.post_processor = processors.RobertaProcessing(
        ("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=True)
    return tokenizer, trainer, []


def qwen2():
    tokenizer, trainer = byte_level([])
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(QWEN2), "isolated", invert=False),
        pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=False, use_regex=False)])
    tokenizer.post_processor = processors.ByteLevel(
        add_prefix_space=False, trim_offsets=False, use_regex=False)
    return tokenizer, trainer, special(
        "<|endoftext|>", "<|im_start|>", "<|im_end|>", normalized=False)


def modernbert():
    """Also with runs of spaces that were added and are looked for in the normal form."""
    tokenizer, trainer = byte_level(
        special("[UNK]", "[CLS]", "[SEP]", "[PAD]", normalized=False) +
        special("[MASK]", lstrip=True, normalized=False))
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(
        add_prefix_space=False, trim_offsets=True, use_regex=True)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]",
        special_tokens=[("[CLS]", 1), ("[SEP]", 2)])
    return tokenizer, trainer, [AddedToken(" " * n, normalized=True) for n in (4, 3, 2)]


def clip():
    tokens = special("<|startoftext|>", "<|endoftext|>", normalized=True)
    tokenizer, trainer = byte_level(tokens, unk_token="<|endoftext|>", end_of_word_suffix="</w>")
    tokenizer.normalizer = normalizers.Sequence([
        normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(CLIP), "removed", invert=True),
        pre_tokenizers.ByteLevel(add_prefix_space=False)])
    tokenizer.post_processor = processors.RobertaProcessing(
        ("<|endoftext|>", 1), ("<|startoftext|>", 0), trim_offsets=False, add_prefix_space=False)
    return tokenizer, trainer, []


def sentence_piece(unknown, normalizer, pre_tokenizer, first):
    """Characters of European languages; others become bytes."""
    tokens = special("<pad>", first, unknown, normalized=False)
    tokens += special(*("<0x%02X>" % byte for byte in range(256)), normalized=False)
    tokenizer = Tokenizer(models.BPE(unk_token=unknown, fuse_unk=True, byte_fallback=True))
    trainer = trainers.BpeTrainer(vocab_size=VOCABULARY + 256, special_tokens=tokens,
                                  limit_alphabet=120, show_progress=False)
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizer, pre_tokenizer
    tokenizer.post_processor = processors.TemplateProcessing(
        single=first + " $A", special_tokens=[(first, 1)])
    return tokenizer, trainer, []


def llama2():
    prepend = [normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")]
    return sentence_piece("<unk>", normalizers.Sequence(prepend), None, "<s>")


def gemma():
    return sentence_piece("<unk>", normalizers.Replace(" ", "\u2581"),
                          pre_tokenizers.Split(" ", "merged_with_previous"), "<bos>")


def plain():
    """Characters with a prefix for those that go on with a word, and unknown ones."""
    tokenizer = Tokenizer(models.BPE(
        unk_token="[UNK]", fuse_unk=True, continuing_subword_prefix="##"))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation("contiguous"),
        pre_tokenizers.Digits(individual_digits=True)])
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY, special_tokens=special("[UNK]", normalized=False),
        continuing_subword_prefix="##", limit_alphabet=100, show_progress=False)
    return tokenizer, trainer, []


TRAINED = [gpt2, roberta, qwen2, modernbert, clip, llama2, gemma, plain]


def train(make, path, texts):
    tokenizer, trainer, added = make()
    if make in (llama2, gemma):  # a merge must not join words
        words = tokenizer.pre_tokenizer
        tokenizer.pre_tokenizer = pre_tokenizers.Split("\u2581", "merged_with_next")
        tokenizer.train_from_iterator(texts, trainer)
        tokenizer.pre_tokenizer = words if words else None
    else:
        tokenizer.train_from_iterator(texts, trainer)
    tokenizer.add_tokens(added)
    document = json.loads(tokenizer.to_str())
    if make in (llama2, gemma):
        document["added_tokens"] = [token for token in document["added_tokens"]
                                    if not token["content"].startswith("<0x")]
    with open(path, "w", encoding="utf-8") as out:
        json.dump(document, out, ensure_ascii=False, separators=(",", ":"))
        out.write("\n")


def generated_sets():
    yield "characters", generated_texts.every_character()
    yield "random", generated_texts.random_texts(COUNT)
    yield "words", [generated_texts.word_text(i) for i in range(COUNT)]
    yield "broken", [generated_texts.broken_text(i).decode("utf-8", "replace")
                     for i in range(COUNT)]


def sets_of(name, path, files):
    tokenizer = Tokenizer.from_file(path)
    tokenizer.no_padding()
    with open(path, encoding="utf-8") as source:
        own = [token["content"] for token in json.load(source)["added_tokens"]][:40]
    sets = list(generated_sets())
    sets.append(("added", [generated_texts.added_text(i, own) for i in range(COUNT)]))
    for label, texts in itertools.chain(sets, ((label, read_texts(file)) for label, file in files)):
        lengths = (0, SHORT) if "xquad" in label or label == "added" else (0,)
        for length in lengths:
            if length:
                tokenizer.enable_truncation(length)
            else:
                tokenizer.no_truncation()
            yield f"{name}/{length}/{label}", len(texts), crc_of_ids(in_chunks(tokenizer, texts))


def main():
    if tokenizers.__version__ != PINNED:
        sys.exit(f"tokenizers {PINNED} is needed, {tokenizers.__version__} is installed")
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    shared, llama, golden = sys.argv[1:]
    files = [(os.path.relpath(path, shared), path) for path in shared_files(shared)]
    few = [(label, path) for label, path in files if label.endswith("/queries.jsonl")]
    texts = [text for _, path in few for text in read_texts(path)]
    tokenizers_of = []
    for name, folder in (("llama-3.2", llama),
                         ("deepseek", os.path.join(shared, "tokenizers", "json", "deepseek")),
                         ("mistral-v3", os.path.join(shared, "tokenizers", "json", "mistral-v3"))):
        tokenizers_of.append((name, os.path.join(folder, "tokenizer.json"), files))
    for make in TRAINED:
        path = os.path.join(golden, f"bpe_{make.__name__}.json")
        if not os.path.exists(path):
            train(make, path, texts)
        tokenizers_of.append((os.path.basename(path), path, few))
    with open(os.path.join(golden, "bpe.tsv"), "w") as out:
        out.write(f"# Made by tools/golden/make_bpe_golden.py from tokenizers {PINNED}: "
                  "tokenizer/length/set, texts, CRC-32 (see there).\n")
        for name, path, own_files in tokenizers_of:
            for label, count, crc in sets_of(name, path, own_files):
                out.write(f"{label}\t{count}\t{crc:08x}\n")
                out.flush()


if __name__ == "__main__":
    main()
