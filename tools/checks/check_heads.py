#!/usr/bin/env python3
"""Checks what comes after the encoder against sentence-transformers: folders of two encoders that
it wrote, prompts by name, pooling without prompts, and cut embeddings.

    check_heads.py TANDEM MODEL_FOLDER TEXTS.jsonl [--tolerance 1e-5]

TANDEM is the program, MODEL_FOLDER a sentence-transformers folder of one encoder. Prints the largest
difference of each case; exits 6 where one is too large.
"""

import argparse
import copy
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Router
from sentence_transformers.sentence_transformer.modules import Dense, Normalize, Pooling

PROMPTS = {"query": "query: ", "document": "", "find": "Instruct: find it\nQuery: "}


def encoded_by_tandem(program, folder, texts, flags):
    with tempfile.TemporaryDirectory() as out:
        subprocess.run([program, "encode", "--model", folder, "--input", texts, "--output", out,
                        "--quiet", *flags], check=True)
        return numpy.load(pathlib.Path(out) / "embeddings.npy").astype(numpy.float64)


def two_encoders(model_folder, shared_dense):
    """A Router over two encoders that differ, with another pooling each."""
    towers = []
    torch.manual_seed(7)
    for scale, pooling in ((1.0, "cls"), (1.05, "weightedmean")):
        transformer = copy.deepcopy(SentenceTransformer(str(model_folder), device="cpu")[0])
        with torch.no_grad():
            for parameter in transformer.parameters():
                parameter.mul_(scale)
        width = transformer.get_embedding_dimension()
        towers.append([transformer, Pooling(width, pooling, include_prompt=False)])
    dense = Dense(width, 48)
    if shared_dense:
        towers = [tower + [dense] for tower in towers]
    router = Router.for_query_document(query_modules=towers[0], document_modules=towers[1])
    return SentenceTransformer(modules=[router, Normalize()], prompts=PROMPTS, device="cpu")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("tandem")
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("texts", type=pathlib.Path)
    parser.add_argument("--tolerance", type=float, default=1e-5)
    arguments = parser.parse_args()
    texts = [json.loads(line)["text"] for line in arguments.texts.read_text().split("\n") if line]
    worst = 0.0

    def check(name, folder, wanted, *flags):
        nonlocal worst
        got = encoded_by_tandem(arguments.tandem, str(folder), str(arguments.texts), flags)
        wanted = wanted.astype(numpy.float64)
        difference = numpy.abs(got - wanted).max() if got.shape == wanted.shape else numpy.inf
        worst = max(worst, difference)
        print(f"{name}: {got.shape[1]} columns, largest difference {difference:.3g}")

    for shared_dense in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            model = two_encoders(arguments.model, shared_dense)
            model.save(folder)
            kind = "router with one Dense" if shared_dense else "router"
            check(f"{kind}, queries", folder, model.encode_query(texts), "--kind", "query")
            check(f"{kind}, documents", folder, model.encode_document(texts))
            check(f"{kind}, prompt by name", folder,
                  model.encode_query(texts, prompt_name="find"), "--kind", "query", "--prompt",
                  "find")
            check(f"{kind}, prompt as text", folder,
                  model.encode_query(texts, prompt="Instruct: it\nQuery: "), "--kind", "query",
                  "--prompt", r"Instruct: it\nQuery: ")
    with tempfile.TemporaryDirectory() as folder:
        model = SentenceTransformer(str(arguments.model), device="cpu", truncate_dim=100)
        check("--dimensions", arguments.model, model.encode(texts, normalize_embeddings=True),
              "--dimensions", "100")
        model.save(folder)
        check("truncate_dim", folder, model.encode(texts, normalize_embeddings=True))
    if not worst <= arguments.tolerance:
        print(f"above the tolerance {arguments.tolerance:g}", file=sys.stderr)
        sys.exit(6)


if __name__ == "__main__":
    main()
