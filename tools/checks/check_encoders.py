#!/usr/bin/env python3
"""Checks that folders of every architecture load and save as sentence-transformers has them.

    check_encoders.py TANDEM [CASE ...]        TANDEM: build/release/tandem

For each case of make_encoder_golden.py: writes a folder with the formula's weights and a WordPiece
tokenizer, by transformers' save_pretrained, so that names of tensors and keys of config.json are its
own. `tandem encode` must give what sentence-transformers gives; then `tandem train` trains two steps
and writes a folder, which sentence-transformers must load and embed as `tandem encode` does. The same
for the folder as a causal language model without modules.json ("plain"; decoders), and for ModernBERT
with its prediction head as pooler ("head": a folder of ModernBertForMaskedLM, trained with
`model.head = true`). Prints the largest difference of a number, relative to the largest embedding, and
every tensor that transformers does not know or misses; exits 6 where one is above 1e-5.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy
import torch
from sentence_transformers import SentenceTransformer
from transformers import (AutoConfig, AutoModel, AutoModelForMaskedLM, AutoModelForSeq2SeqLM,
                          BertTokenizer, T5EncoderModel)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "golden"))
import make_encoder_golden as golden  # noqa: E402

WORDS = ["alpha", "beta", "gamma", "delta", "red", "green", "blue", "music", "photo", "file"]
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + WORDS + [
    prefix + letter for prefix in ("", "##") for letter in "abcdefghijklmnopqrstuvwxyz"]
TEXTS = ["alpha", "beta gamma red", "a strange blue file", "music " * 9, "green delta photo " * 4]
TOLERANCE = 1e-5
DECODERS = ("llama", "mistral", "qwen2", "qwen3", "gemma3_text")

MODULES = [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
           {"idx": 1, "name": "1", "path": "1_Pooling",
            "type": "sentence_transformers.models.Pooling"}]


def write_folder(folder, config, make=None):
    """A folder as people have them: saved by transformers, with a tokenizer and modules."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config))
    loaded = AutoConfig.from_pretrained(folder)
    make = make or (AutoModelForSeq2SeqLM if config["model_type"] == "t5" else AutoModel)
    model = make.from_config(loaded)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(torch.from_numpy(golden.formula_values(name, tuple(parameter.shape))))
    model.save_pretrained(folder)
    saved = json.loads((folder / "config.json").read_text())
    if "is_causal" in config:  # transformers 5 does not write it back in all releases
        saved["is_causal"] = config["is_causal"]
    (folder / "config.json").write_text(json.dumps(saved, indent=2))
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n")
    limit = config.get("max_position_embeddings", 64) - 3
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "BertTokenizer", "model_max_length": min(limit, 20),
                    "pad_token": "[PAD]"}))
    if config["model_type"] == "modernbert":  # transformers reads its tokenizer from this file alone
        BertTokenizer(str(folder / "vocab.txt")).backend_tokenizer.save(
            str(folder / "tokenizer.json"))
    (folder / "modules.json").write_text(json.dumps(MODULES))
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(
        {"word_embedding_dimension": loaded.hidden_size, "pooling_mode_mean_tokens": True}))
    (folder / "sentence_bert_config.json").write_text(
        json.dumps({"max_seq_length": min(limit, 20), "do_lower_case": False}))


def write_plain(folder, base):
    """The folder as a causal language model's own, which sentence-transformers did not write."""
    shutil.copytree(base, folder)
    shutil.rmtree(folder / "1_Pooling")
    for name in ("modules.json", "sentence_bert_config.json"):
        (folder / name).unlink()
    config = json.loads((folder / "config.json").read_text())
    config["architectures"] = [config["architectures"][0].replace("TextModel", "Model")
                               .replace("Model", "ForCausalLM")]
    (folder / "config.json").write_text(json.dumps(config))


def write_recipe(path, base, work, model=""):
    lines = [{"query": text, "positive": TEXTS[(i + 1) % len(TEXTS)]}
             for i, text in enumerate(TEXTS)]
    (work / "pairs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    path.write_text(f"""
[model]
base = "{base}"
{model}
[data]
train = "{work / 'pairs.jsonl'}"
[objective]
name = "infonce"
[train]
batch = 4
steps = 2
""")


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr.strip()[-600:]}")


def difference(tandem, folder, work):
    """The largest difference between tandem's embeddings and sentence-transformers', relative."""
    (work / "texts.jsonl").write_text(
        "".join(json.dumps({"_id": str(i), "text": text}) + "\n" for i, text in enumerate(TEXTS)))
    output = work / f"encoded_{folder.name}"
    run(tandem, "encode", "--model", str(folder), "--input", str(work / "texts.jsonl"), "--output",
        str(output), "--kind", "document", "--force")
    got = numpy.load(output / "embeddings.npy").astype(numpy.float64)
    model = SentenceTransformer(str(folder), device="cpu",
                                model_kwargs={"attn_implementation": "eager"})
    # One text at a time: nothing is padded, and RoBERTa's padding is not BERT's [PAD] here.
    wanted = numpy.concatenate([model.encode([text]) for text in TEXTS]).astype(numpy.float64)
    return float(numpy.abs(got - wanted).max() / numpy.linalg.norm(wanted, axis=1).max())


def head_difference(tandem, config, work):
    """Of what is trained with the prediction head as pooler."""
    config = {**config, "classifier_activation": "gelu", "norm_eps": 1e-5}
    write_folder(work / "masked_lm", config, AutoModelForMaskedLM)
    recipe = work / "head.toml"
    write_recipe(recipe, work / "masked_lm", work, 'head = true\npooling = "cls"')
    run(tandem, "train", str(recipe), "--output", str(work / "head"))
    return difference(tandem, work / "head" / "model", work)


def check(tandem, name, config):
    config = {**config, "vocab_size": len(VOCABULARY)}
    if config["model_type"] in ("roberta", "xlm-roberta", "camembert"):
        config["pad_token_id"] = 1  # [UNK], which no text has: transformers gives it no position
    with tempfile.TemporaryDirectory() as place:
        work = pathlib.Path(place)
        base = work / "base"
        write_folder(base, config)
        before = difference(tandem, base, work)
        recipe = work / "recipe.toml"
        write_recipe(recipe, base, work)
        run(tandem, "train", str(recipe), "--output", str(work / "run"))
        written = work / "run" / "model"
        after = difference(tandem, written, work)
        make = T5EncoderModel if config["model_type"] == "t5" else AutoModel
        _, report = make.from_pretrained(written, output_loading_info=True)
        missing = sorted(report["missing_keys"])
        found = {"read": before, "written": after}
        if config["model_type"] in DECODERS:
            write_plain(work / "plain", base)
            found["plain"] = difference(tandem, work / "plain", work)
        if config["model_type"] == "modernbert":
            found["head"] = head_difference(tandem, config, work)
        print(f"{name}: " + ", ".join(f"{what} {number:.1e}" for what, number in found.items())
              + (f", missing {missing}" if missing else ""), flush=True)
        return max(found.values()) <= TOLERANCE


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    torch.set_num_threads(2)
    good = True
    for name in sys.argv[2:] or golden.CASES:
        try:
            good &= check(sys.argv[1], name, golden.CASES[name][0])
        except Exception as problem:  # noqa: BLE001: the next case is checked all the same
            print(f"{name}: {problem}", flush=True)
            good = False
    sys.exit(0 if good else 6)


if __name__ == "__main__":
    main()
