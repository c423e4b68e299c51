#!/usr/bin/env python3
"""Makes tests/model/golden/lora.json: what PEFT computes for small encoders with adapters.

    make_lora_golden.py OUTPUT.json

Each case is a config.json and the settings of its adapters. Weights are not stored: one integer
formula (`formula_values`) gives them, A and B too, here and in tests/model/encoders/lora_test.cc. Stored, in
float64 (rotary tables and RMS norms in float32, where transformers computes them so):

  pooled     per text: norm, and the first columns, of the mean of its token rows
  gradients  per A and B: norm, and the first elements, of the gradient of
             sum sin(pooled[b, j]) cos(b * H + j)
  targets    the linear maps that PEFT adapts

Needs transformers and peft.
"""

import json
import sys

import numpy
import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoConfig, AutoModel

COLUMNS = 5
TEXTS = [[3, 17, 5, 9, 40, 11], [8], [21, 4, 4, 30, 12, 6, 25, 33, 7]]
BERT = {"model_type": "bert", "vocab_size": 48, "hidden_size": 32, "num_hidden_layers": 2,
        "num_attention_heads": 2, "intermediate_size": 64, "max_position_embeddings": 16,
        "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, "hidden_act": "gelu"}
LLAMA = {"model_type": "llama", "vocab_size": 48, "hidden_size": 32, "num_hidden_layers": 2,
         "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16,
         "intermediate_size": 48, "max_position_embeddings": 64, "rms_norm_eps": 1e-6,
         "rope_theta": 10000.0, "hidden_act": "silu", "tie_word_embeddings": True}
CASES = {
    "bert": (BERT, {"r": 4, "lora_alpha": 6, "use_rslora": False,
                    "target_modules": ["query", "value", "intermediate.dense", "output.dense"]}),
    "bert_all": (BERT, {"r": 3, "lora_alpha": 8, "use_rslora": True,
                        "target_modules": ["query", "key", "value", "attention.output.dense",
                                           "intermediate.dense", "output.dense"]}),
    "llama": (LLAMA, {"r": 4, "lora_alpha": 8, "use_rslora": False,
                      "target_modules": "all-linear"}),
    "llama_some": (LLAMA, {"r": 16, "lora_alpha": 8, "use_rslora": False,
                           "target_modules": ["q_proj", "v_proj", "up_proj"]}),
}


def formula_values(name, shape):
    """n / 1024 times a power of two, n an integer from -1024 to 1024."""
    seed = 0xCBF29CE484222325
    for byte in name.encode("utf-8"):
        seed = (seed ^ byte) * 0x100000001B3 % 2**64
    with numpy.errstate(over="ignore"):
        x = numpy.uint64(seed) + numpy.arange(int(numpy.prod(shape)), dtype=numpy.uint64)
        x = x * numpy.uint64(0x9E3779B97F4A7C15)
        x ^= x >> numpy.uint64(32)
        x = x * numpy.uint64(0xBF58476D1CE4E5B9)
        x ^= x >> numpy.uint64(29)
    numbers = (x >> numpy.uint64(11)) % numpy.uint64(2049)
    values = (numbers.astype(numpy.int64) - 1024) / 1024.0
    if len(shape) == 2:
        power = 1
        while power * power < shape[1]:
            power *= 2
        values = values / power
    elif name.endswith(".weight"):
        values = 1 + values / 4
    else:
        values = values / 8
    return torch.tensor(values.reshape(shape))


def fill(model):
    with torch.no_grad():
        for name, value in model.named_parameters():
            plain = name.removeprefix("base_model.model.").replace(".base_layer", "")
            plain = plain.replace(".default", "")
            value.copy_(formula_values(plain, tuple(value.shape)))


def numbers(values):
    flat = values.detach().double().flatten()
    return {"norm": float(flat.norm()), "first": [float(v) for v in flat[:COLUMNS]]}


def golden(config, lora):
    kwargs = {"add_pooling_layer": False} if config["model_type"] == "bert" else {}
    model = AutoModel.from_config(AutoConfig.for_model(**config), attn_implementation="eager", **kwargs)
    model = get_peft_model(model, LoraConfig(lora_dropout=0.0, **lora)).double().eval()
    fill(model)
    pooled = torch.stack([
        model(input_ids=torch.tensor([ids])).last_hidden_state[0].mean(0) for ids in TEXTS])
    places = torch.arange(pooled.numel(), dtype=torch.float64).view(pooled.shape)
    (torch.sin(pooled) * torch.cos(places)).sum().backward()
    gradients, targets = {}, []
    for name, value in model.named_parameters():
        if value.grad is None:
            continue
        plain = name.removeprefix("base_model.model.").replace(".default", "")
        gradients[plain] = numbers(value.grad)
        if plain.endswith(".lora_A.weight"):
            targets.append(plain.removesuffix(".lora_A.weight"))
    return {"config": config, "lora": lora, "texts": TEXTS, "targets": sorted(targets),
            "pooled": [numbers(row) for row in pooled], "gradients": gradients}


def main():
    cases = {name: golden(*case) for name, case in CASES.items()}
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(cases, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
