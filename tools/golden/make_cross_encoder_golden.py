#!/usr/bin/env python3
"""Makes tests/model/golden/cross_encoders.json: what sentence-transformers' CrossEncoder computes.

    make_cross_encoder_golden.py OUTPUT.json [CASE ...]

Each case is a config.json of a sequence classifier; all have one tokenizer.json, in which only the
post-processor differs. Weights are not stored: one integer formula (`formula_values`) gives them
here and in tests/model/encoders/formula_weights.cc, by the names that tensors have without the prefix of the
encoder ("bert."). Stored for each of PAIRS, some of which are cut:

  logits   what predict gives with the activation Identity, [labels], float32
  scores   what predict gives by the folder's own activation, float32
  bf16     the error of the logits in bf16
"""

import json
import pathlib
import sys
import tempfile

import numpy
import torch
from sentence_transformers import CrossEncoder
from transformers import AutoConfig, AutoModelForSequenceClassification

WORDS = ("[UNK] [PAD] [CLS] [SEP] [MASK] alpha beta gamma delta fast slow red green blue file graph "
         "music photo editor server game").split()
LETTERS = [prefix + letter for prefix in ("", "##") for letter in "abcdefghijklmnopqrstuvwxyz"]
VOCABULARY = WORDS + LETTERS
PAIRS = [
    ["alpha beta", "gamma delta red"],
    ["red", "green blue file graph music photo editor server game " * 4],
    ["fast slow " * 14, "alpha"],
    ["music photo " * 13, "editor server game " * 9],
    ["", "alpha"],
    ["alpha", ""],
    ["", ""],
    ["query", "document"],
    ["Alpha! beta?", "unknown \u4e2d\u6587 words, 12 \u00e9t\u00e9"],
]


def fnv1a64(text):
    value = 0xCBF29CE484222325
    for byte in text.encode("utf-8"):
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def formula_values(name, shape):
    """Weights of a tensor: n / 1024 times a power of two, n an integer from -1024 to 1024."""
    count = int(numpy.prod(shape))
    with numpy.errstate(over="ignore"):
        x = numpy.uint64(fnv1a64(name)) + numpy.arange(count, dtype=numpy.uint64)
        x = x * numpy.uint64(0x9E3779B97F4A7C15)
        x ^= x >> numpy.uint64(32)
        x = x * numpy.uint64(0xBF58476D1CE4E5B9)
        x ^= x >> numpy.uint64(29)
    numbers = (x >> numpy.uint64(11)) % numpy.uint64(2049)
    values = (numbers.astype(numpy.int64) - 1024) / 1024.0
    if len(shape) == 2:
        power = 0
        while 4**power < shape[1]:
            power += 1
        values = values / 2**power
    elif name.endswith(".weight"):
        values = 1 + values / 4
    else:
        values = values / 8
    return values.reshape(shape)


BERT = {
    "model_type": "bert", "architectures": ["BertForSequenceClassification"],
    "vocab_size": len(VOCABULARY), "hidden_size": 32, "num_hidden_layers": 2,
    "num_attention_heads": 2, "intermediate_size": 48, "max_position_embeddings": 40,
    "type_vocab_size": 2, "pad_token_id": 1, "id2label": {"0": "LABEL_0"},
}
ROBERTA = {**BERT, "model_type": "roberta", "architectures": ["RobertaForSequenceClassification"],
           "max_position_embeddings": 42, "type_vocab_size": 1, "pad_token_id": 1,
           "layer_norm_eps": 1e-5}
DISTILBERT = {
    "model_type": "distilbert", "architectures": ["DistilBertForSequenceClassification"],
    "vocab_size": len(VOCABULARY), "dim": 32, "n_layers": 2, "n_heads": 2, "hidden_dim": 48,
    "max_position_embeddings": 40, "pad_token_id": 1, "id2label": {"0": "LABEL_0"},
}
MPNET = {**BERT, "model_type": "mpnet", "architectures": ["MPNetForSequenceClassification"],
         "max_position_embeddings": 42, "pad_token_id": 1, "relative_attention_num_buckets": 32,
         "layer_norm_eps": 1e-5}
del MPNET["type_vocab_size"]
MODERNBERT = {
    "model_type": "modernbert", "architectures": ["ModernBertForSequenceClassification"],
    "vocab_size": len(VOCABULARY), "hidden_size": 32, "num_hidden_layers": 4,
    "num_attention_heads": 2, "intermediate_size": 48, "max_position_embeddings": 40,
    "local_attention": 10, "pad_token_id": 1, "bos_token_id": 2, "eos_token_id": 3,
    "cls_token_id": 2, "sep_token_id": 3, "id2label": {"0": "LABEL_0"},
}
IDENTITY = "torch.nn.modules.linear.Identity"
# Name: config, post-processor, tokenizer_config.
CASES = {
    "bert": (BERT, "bert", {}),
    "bert_identity": ({**BERT, "sentence_transformers": {"activation_fn": IDENTITY}}, "bert", {}),
    "bert_old_identity": ({**BERT, "sbert_ce_default_activation_function": IDENTITY}, "template", {}),
    "bert_three_labels": ({**BERT, "id2label": {"0": "contradiction", "1": "entailment",
                                                "2": "neutral"}}, "template", {}),
    "bert_odd": ({**BERT, "hidden_size": 21, "num_attention_heads": 3, "intermediate_size": 13},
                 "bert", {}),
    "bert_short": (BERT, "bert", {"model_max_length": 12}),
    "bert_without_types": (BERT, "bert", {"model_input_names": ["input_ids", "attention_mask"]}),
    "roberta": (ROBERTA, "roberta", {"model_max_length": 40}),
    "xlm_roberta": ({**ROBERTA, "model_type": "xlm-roberta",
                     "architectures": ["XLMRobertaForSequenceClassification"]}, "two",
                    {"model_max_length": 40}),
    "camembert": ({**ROBERTA, "model_type": "camembert",
                   "architectures": ["CamembertForSequenceClassification"]}, "two",
                  {"model_max_length": 40}),
    "distilbert": (DISTILBERT, "bert", {}),
    "mpnet": (MPNET, "two", {"model_max_length": 40}),
    "modernbert": (MODERNBERT, "template", {}),
    "modernbert_mean": ({**MODERNBERT, "classifier_pooling": "mean", "classifier_bias": True,
                         "norm_bias": True, "classifier_activation": "silu"}, "template", {}),
}


def piece(text):
    name, _, type_id = text.partition(":")
    what = {"id": name.lstrip("$"), "type_id": int(type_id or 0)}
    return {"Sequence" if name.startswith("$") else "SpecialToken": what}


def template(pair):
    return {"type": "TemplateProcessing",
            "single": [piece(word) for word in "[CLS] $A [SEP]".split()],
            "pair": [piece(word) for word in pair.split()],
            "special_tokens": {
                name: {"id": name, "ids": [VOCABULARY.index(name)], "tokens": [name]}
                for name in ("[CLS]", "[SEP]")}}


PROCESSORS = {
    "bert": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
    "roberta": {"type": "RobertaProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2],
                "trim_offsets": True, "add_prefix_space": False},
    "template": template("[CLS] $A [SEP] $B:1 [SEP]:1"),
    "two": template("[CLS] $A [SEP] [SEP] $B [SEP]"),
}


def tokenizer_json(processor):
    added = [{"id": VOCABULARY.index(token), "content": token, "single_word": False, "lstrip": False,
              "rstrip": False, "normalized": False, "special": True} for token in WORDS[:5]]
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added,
            "normalizer": {"type": "BertNormalizer", "clean_text": True,
                           "handle_chinese_chars": True, "strip_accents": None, "lowercase": True},
            "pre_tokenizer": {"type": "BertPreTokenizer"}, "post_processor": PROCESSORS[processor],
            "decoder": None,
            "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                      "max_input_chars_per_word": 100,
                      "vocab": {token: i for i, token in enumerate(VOCABULARY)}}}


# Tokenizer classes of transformers that make token types, or make none, from any tokenizer.json.
INPUTS = {"bert": ["input_ids", "token_type_ids", "attention_mask"]}


def write_folder(folder, config, processor, settings):
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer_json(processor)))
    inputs = INPUTS.get(config["model_type"], ["input_ids", "attention_mask"])
    tokenizer_config = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 1000,
                        "pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]",
                        "sep_token": "[SEP]", "mask_token": "[MASK]", "model_input_names": inputs,
                        **settings}
    (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer_config))
    model = AutoModelForSequenceClassification.from_config(AutoConfig.from_pretrained(folder))
    prefix = model.base_model_prefix + "."
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            plain = name.removeprefix(prefix)
            parameter.copy_(torch.from_numpy(formula_values(plain, tuple(parameter.shape))))
    model.save_pretrained(folder / "weights")
    (folder / "weights" / "model.safetensors").rename(folder / "model.safetensors")
    return tokenizer_config


def numbers(values):
    return [[float(f"{x:.9g}") for x in numpy.atleast_1d(row)] for row in values]


def run_case(name):
    config, processor, settings = CASES[name]
    with tempfile.TemporaryDirectory() as path:
        folder = pathlib.Path(path)
        tokenizer_config = write_folder(folder, config, processor, settings)
        model = CrossEncoder(str(folder), device="cpu")
        identity = torch.nn.Identity()
        logits = model.predict(PAIRS, activation_fn=identity)
        scores = model.predict(PAIRS)
        bf16 = CrossEncoder(str(folder), device="cpu",
                            model_kwargs={"dtype": torch.bfloat16}).predict(
                                PAIRS, activation_fn=identity)
    print(f"{name}: {type(model.activation_fn).__name__}, {model.max_seq_length} tokens, logits "
          f"{numpy.ravel(logits)[:3]}", flush=True)
    return {"name": name, "config": config, "tokenizer_config": tokenizer_config,
            "post_processor": PROCESSORS[processor],
            "activation": type(model.activation_fn).__name__, "logits": numbers(logits),
            "scores": numbers(scores),
            "bf16": float(f"{numpy.abs(bf16 - logits).max():.4g}")}


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    torch.set_num_threads(2)
    cases = [run_case(name) for name in sys.argv[2:] or CASES]
    lines = ",\n".join(json.dumps(case) for case in cases)
    tokenizer = json.dumps({**tokenizer_json("bert"), "post_processor": None})
    pathlib.Path(sys.argv[1]).write_text(
        f'{{"pairs": {json.dumps(PAIRS)},\n"tokenizer": {tokenizer},\n"cases": [\n{lines}\n]}}\n',
        encoding="ascii")


if __name__ == "__main__":
    main()
