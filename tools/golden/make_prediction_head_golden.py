#!/usr/bin/env python3
"""Makes tests/model/golden/prediction_heads.json: what transformers' task models of ModernBERT compute
up to their prediction head, which `model.head = true` makes the pooler.

    make_prediction_head_golden.py OUTPUT.json [CASE ...]

Each case is a class, its config.json and how rows are pooled. Weights and token ids are those of
make_encoder_golden.py's formula, by the names that tensors have without the prefix "model.". Stored, in
float64 (as there) for texts of the lengths that the case names:

  rows       per text: norm, and a few columns, of head(pooled rows)
  gradients  of parameters: norm, and the largest element with its place, of the gradient of
             sum sin(rows[b, j]) cos(b * H + j)
  bf16       per text: norm of (rows in bf16 - rows)
"""

import json
import pathlib
import sys
import tempfile

import torch
from transformers import AutoConfig, ModernBertForMaskedLM, ModernBertForSequenceClassification

import make_encoder_golden as golden

SMALL = {**golden.MODERNBERT, "vocab_size": 96}
# Name: class, config.json, pooling, lengths.
CASES = {
    "masked_lm": (ModernBertForMaskedLM, SMALL, "cls", [3, 5, 17, 80]),
    "classifier": (ModernBertForSequenceClassification,
                   {**SMALL, "hidden_size": 36, "num_attention_heads": 3, "classifier_bias": True,
                    "norm_bias": True, "classifier_activation": "silu",
                    "classifier_pooling": "mean"}, "mean", [3, 5, 30]),
    "classifier_tanh": (ModernBertForSequenceClassification,
                        {**SMALL, "num_hidden_layers": 2, "classifier_activation": "tanh",
                         "classifier_bias": True, "id2label": {"0": "relevant"}}, "cls", [4, 20]),
}
PARAMETERS = ["head.dense.weight", "head.dense.bias", "head.norm.weight", "head.norm.bias",
              "final_norm.weight", "layers.0.mlp.Wo.weight"]


def make_model(make, config):
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "config.json").write_text(json.dumps(config))
        loaded = AutoConfig.from_pretrained(folder)
    loaded._attn_implementation = "eager"
    model = make(loaded).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            values = golden.formula_values(name.removeprefix("model."), tuple(parameter.shape))
            parameter.copy_(torch.from_numpy(values))
    return model


def head_rows(model, config, pooling, lengths):
    rows = []
    for text, length in enumerate(lengths):
        ids = torch.from_numpy(golden.formula_ids(text, length, config["vocab_size"]))[None]
        out = model.model(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state[0]
        rows.append(model.head((out[0] if pooling == "cls" else out.mean(0))[None])[0])
    return torch.stack(rows)


def run_case(name, make, config, pooling, lengths):
    with torch.no_grad():
        bf16 = head_rows(make_model(make, config).bfloat16(), config, pooling, lengths).double()
    model = make_model(make, config).double()
    with torch.no_grad():
        for module in golden.rotaries_of(model):
            golden.use_exact_tables(module)
    with golden.float32_is_float64(model):
        rows = head_rows(model, config, pooling, lengths)
        golden.loss_of(rows).backward()
    found = {key.removeprefix("model."): parameter.grad for key, parameter in
             model.named_parameters()}
    rows = rows.detach()
    columns = [round(i * (rows.shape[1] - 1) / (golden.COLUMNS - 1))
               for i in range(golden.COLUMNS)]
    rounded = golden.rounded
    print(f"{name}: bf16 off by {float((bf16 - rows).norm() / rows.norm()):.1e}")
    return {
        "name": name,
        "config": {**config, "architectures": [make.__name__]},
        "pooling": pooling,
        "lengths": lengths,
        "columns": columns,
        "rows": [[rounded(row.norm(), 13)] + [rounded(row[c], 13) for c in columns]
                 for row in rows],
        "gradients": {key: [rounded(found[key].norm(), 13)] + golden.largest(found[key])
                      for key in PARAMETERS if found.get(key) is not None},
        "bf16": [rounded(error, 4) for error in (bf16 - rows).norm(dim=1)],
    }


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    torch.set_num_threads(2)
    cases = [run_case(name, *CASES[name]) for name in sys.argv[2:] or CASES]
    lines = ",\n".join(json.dumps(case) for case in cases)
    pathlib.Path(sys.argv[1]).write_text("[\n" + lines + "\n]\n", encoding="ascii")


if __name__ == "__main__":
    main()
