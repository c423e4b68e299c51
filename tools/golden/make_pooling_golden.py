#!/usr/bin/env python3
"""Makes tests/model/golden/pooling.tsv: what sentence-transformers computes in fp32 where a model's
1_Pooling/config.json is changed and its Normalize module left out.

    make_pooling_golden.py MODEL_FOLDER OUTPUT.tsv

Each line of the file: the pooling modes, whether the prompt is included, which prompt, which text,
then norm, projection (sum over columns j of cos(j) * e_j) and the first four columns.
tests/model/encoders/pooling_parity_test.cc has the same texts and prompts.
"""

import json
import math
import pathlib
import sys
import tempfile

import numpy
from sentence_transformers import SentenceTransformer

TEXTS = ["", "photo", "Which planet is the largest?", "Jupiter is the largest planet, by far. " * 3,
         "one two three four five " * 80]
PROMPTS = ["", "query: ", "Instruct: Given a question, find the answer\nQuery: ", "instruct " * 300]
MODES = [["cls"], ["max"], ["mean"], ["mean_sqrt_len_tokens"], ["weightedmean"], ["lasttoken"],
         ["mean", "cls", "max"]]
COLUMNS = 4


def changed_folder(model, folder, modes, include_prompt):
    for entry in model.iterdir():
        if entry.name not in ("modules.json", "1_Pooling", "2_Normalize"):
            (folder / entry.name).symlink_to(entry)
    (folder / "1_Pooling").mkdir()
    config = {"embedding_dimension": 384, "pooling_mode": modes, "include_prompt": include_prompt}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(config))
    modules = [("", "Transformer"), ("1_Pooling", "Pooling")]
    (folder / "modules.json").write_text(json.dumps(
        [{"idx": i, "name": str(i), "path": path, "type": "sentence_transformers.models." + kind}
         for i, (path, kind) in enumerate(modules)]))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[2], "w", encoding="ascii") as out:
        out.write("# made by tools/golden/make_pooling_golden.py, which says what this is\n")
        for modes in MODES:
            for include_prompt in (True, False):
                with tempfile.TemporaryDirectory() as folder:
                    changed_folder(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(folder),
                                   modes, include_prompt)
                    model = SentenceTransformer(folder, device="cpu")
                    for p, prompt in enumerate(PROMPTS):
                        rows = model.encode(TEXTS, prompt=prompt).astype(numpy.float64)
                        weights = numpy.array([math.cos(j) for j in range(rows.shape[1])])
                        for t, row in enumerate(rows):
                            numbers = [numpy.linalg.norm(row), row @ weights, *row[:COLUMNS]]
                            out.write("\t".join(["+".join(modes), str(int(include_prompt)), str(p),
                                                 str(t)] + [f"{n:.7f}" for n in numbers]) + "\n")


if __name__ == "__main__":
    main()
