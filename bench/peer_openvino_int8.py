"""Embeddings by OpenVINO in eight bits, quantised with nncf, and in fp32.

    python peer_openvino_int8.py MODEL TEXTS.jsonl --precision fp32|int8 --output FOLDER
        [--calibration N] [--threads N] [--max-tokens N] [--turns N]

A line of TEXTS is {"_id": ..., "text": ...}. Writes embeddings.npy and ids.txt, as `tandem encode`
does, and prints one line of JSON: seconds of the best turn, tokens, setting.

Needs openvino, nncf, tokenizers and safetensors, and no torch: the graph of a BERT encoder is made
here from the model's weights. nncf.quantize gets it with `model_type=TRANSFORMER` and N of the texts,
which it runs to find the ranges of activations (static quantisation: 8 bits for activations and, per
output channel, for weights). The rest is OpenVINO's best documented way, as in peer_openvino.py: texts
sorted by length, batches of 8, 16 or 32, the THROUGHPUT hint, asynchronous requests; tokenising does
not count.
"""

import argparse
import json
import os
import time

import numpy as np
import openvino
import openvino.opset13 as ops
import openvino.properties as properties
import openvino.properties.hint as hint
from safetensors.numpy import load_file
from tokenizers import Tokenizer


class Weights:
    def __init__(self, folder):
        self.tensors = load_file(os.path.join(folder, "model.safetensors"))
        self.tensors = {name.removeprefix("bert."): value.astype(np.float32)
                        for name, value in self.tensors.items() if value.dtype.kind == "f"}

    def __call__(self, name):
        return ops.constant(self.tensors[name])


def linear(weights, name, x):
    product = ops.matmul(x, weights(name + ".weight"), False, True)
    return ops.add(product, weights(name + ".bias"))


def layer_norm(weights, name, x, epsilon):
    normalised = ops.mvn(x, ops.constant(np.array([-1])), True, epsilon, "inside_sqrt")
    return ops.add(ops.multiply(normalised, weights(name + ".weight")), weights(name + ".bias"))


def heads_of(x, heads, width):
    split = ops.reshape(x, ops.constant(np.array([0, 0, heads, width])), True)
    return ops.transpose(split, ops.constant(np.array([0, 2, 1, 3])))


def bert(folder):
    """The encoder with mean pooling and normalisation: ids, mask -> embeddings."""
    with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    weights = Weights(folder)
    heads, hidden = config["num_attention_heads"], config["hidden_size"]
    epsilon = config["layer_norm_eps"]
    ids = ops.parameter([-1, -1], np.int64, "input_ids")
    mask = ops.parameter([-1, -1], np.int64, "attention_mask")
    length = ops.gather(ops.shape_of(ids), ops.constant(1), ops.constant(0))
    positions = ops.range(ops.constant(0, np.int64), length, ops.constant(1, np.int64), "i64")
    axis = ops.constant(0)
    x = ops.gather(weights("embeddings.word_embeddings.weight"), ids, axis)
    place = ops.gather(weights("embeddings.position_embeddings.weight"), positions, axis)
    kind = ops.constant(weights.tensors["embeddings.token_type_embeddings.weight"][:1])
    x = layer_norm(weights, "embeddings.LayerNorm", ops.add(ops.add(x, kind), place), epsilon)
    floats = ops.convert(mask, "f32")
    bias = ops.multiply(ops.subtract(ops.constant(1.0, np.float32), floats),
                        ops.constant(-1e9, np.float32))
    bias = ops.unsqueeze(bias, ops.constant(np.array([1, 2])))
    for i in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{i}."
        parts = [heads_of(linear(weights, layer + "attention.self." + name, x), heads, hidden // heads)
                 for name in ("query", "key", "value")]
        mixed = ops.scaled_dot_product_attention(*parts, bias)
        mixed = ops.reshape(ops.transpose(mixed, ops.constant(np.array([0, 2, 1, 3]))),
                            ops.constant(np.array([0, 0, hidden])), True)
        out = linear(weights, layer + "attention.output.dense", mixed)
        x = layer_norm(weights, layer + "attention.output.LayerNorm", ops.add(out, x), epsilon)
        inner = ops.gelu(linear(weights, layer + "intermediate.dense", x), "erf")
        out = linear(weights, layer + "output.dense", inner)
        x = layer_norm(weights, layer + "output.LayerNorm", ops.add(out, x), epsilon)
    weight = ops.unsqueeze(floats, ops.constant(-1))
    one = ops.constant(np.array([1]))
    total = ops.reduce_sum(ops.multiply(x, weight), one)
    mean = ops.divide(total, ops.reduce_sum(weight, one))
    for parameter, name in ((ids, "input_ids"), (mask, "attention_mask")):
        parameter.output(0).tensor.set_names({name})
    return openvino.Model([ops.normalize_l2(mean, one, 1e-12, "max")], [ids, mask])


def batches_of(token_ids, size):
    """Batches of ids and masks, the longest texts first, and the places of their texts."""
    order = sorted(range(len(token_ids)), key=lambda i: -len(token_ids[i]))
    batches = []
    for first in range(0, len(order), size):
        places = order[first:first + size]
        ids = np.zeros((len(places), len(token_ids[places[0]])), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, place in enumerate(places):
            ids[row, :len(token_ids[place])] = token_ids[place]
            mask[row, :len(token_ids[place])] = 1
        batches.append(({"input_ids": ids, "attention_mask": mask}, places))
    return batches


def quantized(model, token_ids, count):
    import nncf  # slow to import
    step = max(1, len(token_ids) // count)
    batches = [batch for batch, _ in batches_of(token_ids[::step][:count], 1)]
    return nncf.quantize(model, nncf.Dataset(batches), subset_size=len(batches),
                         model_type=nncf.ModelType.TRANSFORMER)


def encode(compiled, batches, count):
    """Seconds, and the embeddings in the order of the texts."""
    width = compiled.output(0).partial_shape[1].get_length()
    rows = np.zeros((count, width), dtype=np.float32)

    def keep(request, places):
        rows[places] = request.get_output_tensor().data

    queue = openvino.AsyncInferQueue(compiled)
    queue.set_callback(keep)
    start = time.perf_counter()
    for batch, places in batches:
        queue.start_async(batch, places)
    queue.wait_all()
    return time.perf_counter() - start, rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("texts")
    parser.add_argument("--precision", choices=["fp32", "int8"], default="int8")
    parser.add_argument("--output", required=True)
    parser.add_argument("--calibration", type=int, default=300)
    parser.add_argument("--calibration-texts", help="of other texts than those that are encoded")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--max-tokens", type=int, default=256)
    parser.add_argument("--batch", type=int, default=0, help="0: the best of 8, 16 and 32")
    options = parser.parse_args()
    tokenizer = Tokenizer.from_file(os.path.join(options.model, "tokenizer.json"))
    tokenizer.enable_truncation(options.max_tokens)
    tokenizer.no_padding()

    def tokens_of(path):
        with open(path, encoding="utf-8") as file:
            records = [json.loads(line) for line in file]
        texts = [(r["title"] + " " if r.get("title") else "") + r["text"] for r in records]
        return [r["_id"] for r in records], [e.ids for e in tokenizer.encode_batch(texts)]

    ids, token_ids = tokens_of(options.texts)
    model = bert(options.model)
    if options.precision == "int8":
        calibration = tokens_of(options.calibration_texts)[1] if options.calibration_texts else token_ids
        model = quantized(model, calibration, options.calibration)
    settings = {hint.performance_mode: hint.PerformanceMode.THROUGHPUT,
                hint.inference_precision: openvino.Type.f32}
    if options.threads:
        settings[properties.inference_num_threads] = options.threads
    compiled = openvino.Core().compile_model(model, "CPU", settings)
    times = {}
    for size in (options.batch,) if options.batch else (8, 16, 32):
        batches = batches_of(token_ids, size)
        encode(compiled, batches[::16], len(ids))  # warms up
        times[size], rows = encode(compiled, batches, len(ids))
    os.makedirs(options.output, exist_ok=True)
    np.save(os.path.join(options.output, "embeddings.npy"), rows)
    with open(os.path.join(options.output, "ids.txt"), "w", encoding="utf-8") as file:
        file.writelines(name + "\n" for name in ids)
    best = min(times, key=times.get)
    print(json.dumps({"seconds": times[best], "tokens": sum(map(len, token_ids)),
                      "setting": f"batches of {best}"}))


if __name__ == "__main__":
    main()
