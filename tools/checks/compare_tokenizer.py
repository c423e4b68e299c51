#!/usr/bin/env python3
"""Compares `tandem tokenize` with the `tokenizers` package on texts that no golden hash has seen.

    PEER_PYTHON tools/checks/compare_tokenizer.py build/release/tandem MODEL_FOLDER [COUNT [SEED]]

COUNT (default 100,000) random texts over all of Unicode and as many of words, special tokens and
white space; another SEED, other texts. Exits 1 at a difference and shows it.
"""

import os
import pathlib
import subprocess
import sys

from tokenizers import Tokenizer

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "golden"))
import generated_texts  # noqa: E402


def main():
    if len(sys.argv) not in (3, 4, 5):
        sys.exit(__doc__)
    program, model = sys.argv[1:3]
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 100_000
    first = (int(sys.argv[4]) if len(sys.argv) > 4 else 1) << 32
    texts = generated_texts.random_texts(count, first)
    texts += [generated_texts.snippet_text(first + i) for i in range(count)]
    texts = [text.replace("\n", "\r") for text in texts]  # \n would end the line
    tokenizer = Tokenizer.from_file(os.path.join(model, "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    printed = subprocess.run(
        [program, "tokenize", "--model", model, "--max-length", "0"], check=True,
        input="".join(text + "\n" for text in texts).encode(), stdout=subprocess.PIPE).stdout
    lines = printed.decode().split("\n")[:-1]
    assert len(lines) == len(texts), (len(lines), len(texts))
    for text, line, encoding in zip(texts, lines, tokenizer.encode_batch(texts)):
        if line != " ".join(map(str, encoding.ids)):
            sys.exit(f"different: {ascii(text)}\n  ours    {line}\n  package {encoding.ids}")
    print(f"{len(texts)} texts, all equal")


if __name__ == "__main__":
    main()
