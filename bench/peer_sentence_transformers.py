"""Training or encoding speed and peak memory of sentence-transformers, as one line of JSON.

    python peer_sentence_transformers.py training|encoding MODEL PAIRS.jsonl --precision fp32|bf16

The same measurement as encoder_bench's, on the same texts. The peer gets its best documented way:

- training: MultipleNegativesRankingLoss, the step of its Trainer without the Trainer's own work
  (texts are tokenised before, nothing is logged or collated inside the time), fused AdamW, bf16 by
  autocast as `bf16=True` does; attention is torch's scaled_dot_product_attention (its default), or
  --attention's. --device cuda: on a GPU, which gets each batch when its step begins.
  --lora RANK: adapters of all linear maps by peft, over weights in the type of the folder.
- encoding: `encode`, which sorts by length, at batches of 32 (its default) and 64, the better one
  counts; bf16 as a model of that type (its `dtype` argument), which is faster than autocast.

Tokens are those of the texts; padding does not count. The first step (--warm-up), and a first batch,
warm up.
"""

import argparse
import contextlib
import json
import resource
import time

import torch
from sentence_transformers import SentenceTransformer

try:
    from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
except ImportError:  # before 5.4
    from sentence_transformers.losses import MultipleNegativesRankingLoss


def read_pairs(path):
    with open(path, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return [row["query"] for row in rows], [row["document"] for row in rows]


def tokens_of(features):
    return sum(int(texts["attention_mask"].sum()) for texts in features)


def wait(options):
    if options.device == "cuda":
        torch.cuda.synchronize()


def moved(texts, device):
    return {name: value.to(device, non_blocking=True) if torch.is_tensor(value) else value
            for name, value in texts.items()}


def train(model, queries, documents, options):
    tokenize = getattr(model, "preprocess", None) or model.tokenize
    batches = []
    for first in range(0, len(queries) - options.batch + 1, options.batch):
        part = slice(first, first + options.batch)
        batches.append([tokenize(queries[part]), tokenize(documents[part])])
    loss_function = MultipleNegativesRankingLoss(model, scale=20.0)
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=2e-5, fused=True)
    model.train()
    autocast = contextlib.nullcontext()
    if options.precision == "bf16":
        autocast = torch.autocast(options.device, torch.bfloat16)
    tokens, steps, start = 0, 0, 0.0
    for number, features in enumerate(batches[:options.steps + options.warm_up]):
        if number == options.warm_up:
            wait(options)
            start = time.perf_counter()
        if number > options.warm_up + 1 and time.perf_counter() - start > options.seconds:
            break
        with autocast:
            loss = loss_function([moved(texts, options.device) for texts in features], None)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        optimizer.zero_grad()
        if number >= options.warm_up:
            tokens += tokens_of(features)
            steps += 1
    wait(options)
    return {"seconds": time.perf_counter() - start, "tokens": tokens, "steps": steps}


def encode(model, queries, documents, options):
    texts = queries + documents
    tokenized = model.tokenizer(texts, truncation=True, max_length=options.max_tokens)
    tokens = sum(len(ids) for ids in tokenized["input_ids"])
    if options.precision == "bf16":
        model.bfloat16()
    model.eval()
    times = {}
    for size in (32, 64):
        model.encode(texts[-size:], batch_size=size, show_progress_bar=False)
        start = time.perf_counter()
        model.encode(texts, batch_size=size, show_progress_bar=False)
        times[size] = time.perf_counter() - start
    best = min(times, key=times.get)
    return {"seconds": times[best], "tokens": tokens, "setting": f"batches of {best}"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["training", "encoding"])
    parser.add_argument("model")
    parser.add_argument("pairs")
    parser.add_argument("--precision", choices=["fp32", "bf16"], default="fp32")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--max-tokens", type=int, default=256)
    parser.add_argument("--lora", type=int, default=0, help="rank")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--attention", help="attn_implementation of transformers")
    parser.add_argument("--warm-up", type=int, default=1, help="steps")
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    settings = {"dtype": "auto"} if options.lora else {}
    if options.attention:
        settings["attn_implementation"] = options.attention
    model = SentenceTransformer(options.model, device=options.device, model_kwargs=settings)
    model.max_seq_length = options.max_tokens
    if options.lora:
        import peft

        model.add_adapter(peft.LoraConfig(r=options.lora, lora_alpha=2 * options.lora,
                                          target_modules="all-linear"))
    measure = train if options.what == "training" else encode
    result = measure(model, *read_pairs(options.pairs), options)
    result["peak_bytes"] = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result["threads"] = torch.get_num_threads()
    print(json.dumps(result))


if __name__ == "__main__":
    main()
