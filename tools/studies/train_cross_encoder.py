#!/usr/bin/env python3
"""Trains a cross-encoder to say grades, for `tandem score` to judge a study's training pairs by.

    python3 tools/studies/train_cross_encoder.py --base FOLDER --data BEIR --without BEIR --output FOLDER

Learns the grades of DATA's train split, divided by the highest one there, as probabilities (binary cross-entropy),
but not those of queries that WITHOUT trains on, which it will judge; their documents may be among those that it
learns from. All layers of the base are trained, under a new head. It needs sentence-transformers, which saves the folder.
"""

import argparse
import os
import random
import sys

from engine.data import read_jsonl, read_judgements

EPOCHS, BATCH, RATE, WARMUP = 2, 32, 5e-5, 0.1
MAX_TOKENS = 96


def read_pairs(options):
    queries = read_jsonl(os.path.join(options.data, "queries.jsonl"))
    corpus = read_jsonl(os.path.join(options.data, "corpus.jsonl"))
    unseen = set(read_judgements(options.without, "train"))
    pairs = []
    for query, judged in sorted(read_judgements(options.data, "train").items()):
        if query in unseen:
            continue
        for document, grade in sorted(judged.items()):
            one = corpus[document]
            text = " ".join(part for part in (one.get("title", ""), one["text"]) if part)
            pairs.append((queries[query]["text"], text, float(grade)))
    if not pairs:
        sys.exit(f"train_cross_encoder.py: {options.data} trains on no query that {options.without} does not")
    highest = max(grade for _, _, grade in pairs)
    return [(query, text, grade / highest) for query, text, grade in pairs]


def train(options, pairs):
    try:
        import torch  # pylint: disable=import-outside-toplevel
        from sentence_transformers import CrossEncoder  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        sys.exit(f"train_cross_encoder.py: {error}; pip install sentence-transformers")
    torch.manual_seed(options.seed)
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    order = random.Random(options.seed)
    encoder = CrossEncoder(options.base, num_labels=1, max_length=MAX_TOKENS, device="cpu")
    model, tokenizer = encoder.model, encoder.tokenizer
    model.train()
    steps = EPOCHS * -(-len(pairs) // BATCH)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / (WARMUP * steps), (steps - step) / ((1 - WARMUP) * steps)))
    done, recent = 0, []
    for _ in range(EPOCHS):
        order.shuffle(pairs)
        for begin in range(0, len(pairs), BATCH):
            queries, documents, grades = zip(*pairs[begin:begin + BATCH])
            features = tokenizer(list(queries), list(documents), padding=True, truncation="longest_first",
                                 max_length=MAX_TOKENS, return_tensors="pt")
            scores = model(**features).logits[:, 0]
            loss = torch.nn.functional.binary_cross_entropy_with_logits(scores, torch.tensor(grades))
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            done += 1
            recent = (recent + [loss.item()])[-20:]
            if done % 50 == 0:
                print(f"train_cross_encoder: {done}/{steps}, loss {sum(recent) / len(recent):.4f}",
                      file=sys.stderr, flush=True)
    model.eval()
    encoder.save_pretrained(options.output)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--without", required=True)
    parser.add_argument("--output", required=True)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    train(options, read_pairs(options))


if __name__ == "__main__":
    main()
