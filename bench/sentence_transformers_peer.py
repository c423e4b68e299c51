"""Training and encoding speed of sentence-transformers on the texts that encoder_bench wrote.

    python sentence_transformers_peer.py MODEL PAIRS.jsonl [--batch 64] [--max-tokens 256]

Prints tokens per second (padding not counted) for float32 and, where asked for with --bf16, bf16
autocast: MultipleNegativesRankingLoss, AdamW, as its trainer runs a step; texts are tokenised
before, as in encoder_bench. The first step warms up and does not count.
"""

import argparse
import json
import resource
import time

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss


def read_pairs(path):
    with open(path, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return [row["query"] for row in rows], [row["document"] for row in rows]


def train(model, batches, autocast):
    loss_function = MultipleNegativesRankingLoss(model, scale=50.0)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
    model.train()
    tokens, start = 0, None
    for number, features in enumerate(batches):
        if number == 1:
            start = time.perf_counter()
        with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
            loss = loss_function([dict(f) for f in features], None)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        if number > 0:
            tokens += sum(int(f["attention_mask"].sum()) for f in features)
    return tokens / (time.perf_counter() - start)


def encode(model, texts, autocast):
    tokens = sum(len(ids) for ids in model.tokenizer(texts, truncation=True, max_length=model.max_seq_length)["input_ids"])
    model.eval()
    start = time.perf_counter()
    with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
        model.encode(texts, batch_size=32, show_progress_bar=False)
    return tokens / (time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("pairs")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--max-tokens", type=int, default=256)
    parser.add_argument("--bf16", action="store_true")
    arguments = parser.parse_args()
    queries, documents = read_pairs(arguments.pairs)
    model = SentenceTransformer(arguments.model, device="cpu")
    model.max_seq_length = arguments.max_tokens
    tokenize = getattr(model, "preprocess", None) or model.tokenize
    batches = []
    for first in range(0, len(queries) - arguments.batch + 1, arguments.batch):
        part = slice(first, first + arguments.batch)
        batches.append([tokenize(queries[part]), tokenize(documents[part])])
    for precision in ["fp32"] + (["bf16"] if arguments.bf16 else []):
        autocast = precision == "bf16"
        print(f"peer training {precision} {train(model, batches, autocast):.0f} tokens/s", flush=True)
        print(f"peer encoding {precision} {encode(model, documents, autocast):.0f} tokens/s", flush=True)
    print(f"peer peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")


if __name__ == "__main__":
    main()
