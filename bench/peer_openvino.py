"""Encoding speed of OpenVINO, as one line of JSON.

    python peer_openvino.py encoding MODEL PAIRS.jsonl --precision fp32|bf16

The same texts as encoder_bench's. OpenVINO gets its best documented way: texts sorted by length and
batched, padded to the longest of their batch (dynamic shapes); the THROUGHPUT hint, which runs
several requests at once on as many streams as it likes; an AsyncInferQueue; mean pooling and
normalisation inside the compiled model. Batches of 8, 16 and 32 texts, the best counts. Tokenising
does not count here, though it does in Tandem's own figure. The model is converted from torch.
"""

import argparse
import json
import os
import resource
import time

import numpy as np
import openvino
import openvino.properties as properties
import openvino.properties.hint as hint
import torch
from transformers import AutoConfig, AutoModel, AutoTokenizer, T5EncoderModel


class Embedder(torch.nn.Module):
    def __init__(self, path):
        super().__init__()
        kind = AutoConfig.from_pretrained(path).model_type
        # With sdpa, OpenVINO makes NaN of padding that a sliding window keeps from all tokens.
        attention = "eager" if kind in ("modernbert", "t5") else "sdpa"
        maker = T5EncoderModel if kind == "t5" else AutoModel
        self.encoder = maker.from_pretrained(path, attn_implementation=attention).eval()

    def forward(self, input_ids, attention_mask):
        rows = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        mask = attention_mask.unsqueeze(-1).to(rows.dtype)
        mean = (rows * mask).sum(1) / mask.sum(1)
        return torch.nn.functional.normalize(mean)


def compile_model(path, options):
    ids = torch.ones((2, 8), dtype=torch.long)
    with torch.no_grad():
        converted = openvino.convert_model(
            Embedder(path), example_input={"input_ids": ids, "attention_mask": ids},
            input=[("input_ids", [-1, -1]), ("attention_mask", [-1, -1])])
    precision = openvino.Type.bf16 if options.precision == "bf16" else openvino.Type.f32
    settings = {hint.performance_mode: hint.PerformanceMode.THROUGHPUT,
                hint.inference_precision: precision}
    if options.threads:
        settings[properties.inference_num_threads] = options.threads
    return openvino.Core().compile_model(converted, "CPU", settings)


def batches_of(token_ids, size):
    """Arrays of ids and masks, the longest texts first."""
    order = sorted(range(len(token_ids)), key=lambda i: -len(token_ids[i]))
    batches = []
    for first in range(0, len(order), size):
        part = [token_ids[i] for i in order[first:first + size]]
        ids = np.zeros((len(part), len(part[0])), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, text in enumerate(part):
            ids[row, :len(text)] = text
            mask[row, :len(text)] = 1
        batches.append({"input_ids": ids, "attention_mask": mask})
    return batches


def check_padding(compiled, token_ids):
    """Checks that a text gets the same embedding alone and padded beside a longer one."""
    pair = [max(token_ids, key=len), min(token_ids, key=len)]
    padded = compiled(batches_of(pair, 2)[0])[0][1]
    alone = compiled(batches_of(pair[1:], 1)[0])[0][0]
    cosine = float(np.dot(padded, alone))
    assert cosine > 0.999, f"padding changes embeddings: cosine {cosine}"


def seconds_of(compiled, batches):
    results = [None] * len(batches)

    def keep(request, number):
        results[number] = request.get_output_tensor().data.copy()

    queue = openvino.AsyncInferQueue(compiled)
    queue.set_callback(keep)
    start = time.perf_counter()
    for number, batch in enumerate(batches):
        queue.start_async(batch, number)
    queue.wait_all()
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["encoding"])
    parser.add_argument("model")
    parser.add_argument("pairs")
    parser.add_argument("--precision", choices=["fp32", "bf16"], default="fp32")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--max-tokens", type=int, default=256)
    options = parser.parse_args()
    # The encoder itself may lie below the sentence-transformers folder.
    encoder = options.model
    if not os.path.exists(os.path.join(encoder, "config.json")):
        encoder = os.path.join(encoder, "0_Transformer")
    with open(options.pairs, encoding="utf-8") as file:
        pairs = [json.loads(line) for line in file]
    texts = [pair["query"] for pair in pairs] + [pair["document"] for pair in pairs]
    tokenizer = AutoTokenizer.from_pretrained(encoder)
    token_ids = tokenizer(texts, truncation=True, max_length=options.max_tokens)["input_ids"]
    compiled = compile_model(encoder, options)
    check_padding(compiled, token_ids)
    times = {}
    for size in (8, 16, 32):
        batches = batches_of(token_ids, size)
        seconds_of(compiled, batches[::8])  # warms up
        times[size] = seconds_of(compiled, batches)
    best = min(times, key=times.get)
    streams = compiled.get_property(properties.num_streams)
    print(json.dumps({
        "seconds": times[best],
        "tokens": sum(map(len, token_ids)),
        "setting": f"batches of {best}, {streams} streams",
        "peak_bytes": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
    }))


if __name__ == "__main__":
    main()
