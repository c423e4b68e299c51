#!/usr/bin/env python3
"""Loads a run's adapter in PEFT and compares it with the run's merged model.

    check_peft_adapter.py RUN BASE

Prints the largest difference of token rows between BASE with RUN/adapter, BASE alone, and RUN/model,
all in transformers; exits with 1 where adapter and model differ by more than 1e-5, or where the
adapter changes nothing. Needs transformers and peft.
"""

import sys

import torch
from peft import PeftModel
from transformers import AutoModel, AutoTokenizer

TEXTS = ["the quick brown fox", "adapters of low rank are added to frozen weights", "a"]


def rows(model, batch):
    with torch.no_grad():
        return model.eval()(**batch).last_hidden_state[batch["attention_mask"].bool()]


def main():
    run, base = sys.argv[1:]
    tokenizer = AutoTokenizer.from_pretrained(f"{run}/model")
    batch = tokenizer(TEXTS, padding=True, return_tensors="pt")
    load = {"dtype": torch.float32}
    plain = rows(AutoModel.from_pretrained(base, **load), batch)
    adapted = rows(PeftModel.from_pretrained(AutoModel.from_pretrained(base, **load),
                                             f"{run}/adapter"), batch)
    merged = rows(AutoModel.from_pretrained(f"{run}/model", **load), batch)
    difference = float((adapted - merged).abs().max())
    change = float((adapted - plain).abs().max())
    print(f"adapter and model differ by {difference:.2g}; the adapter changes {change:.2g}")
    sys.exit(difference > 1e-5 or change < 1e-3)


if __name__ == "__main__":
    main()
