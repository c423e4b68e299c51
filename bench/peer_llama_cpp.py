"""Encoding speed of llama.cpp, as one line of JSON.

    python peer_llama_cpp.py encoding MODEL PAIRS.jsonl --precision bf16|fp32

The same texts and token ids as encoder_bench's, of a Qwen3 folder that pools the last token. The
folder's weights are written once into MODEL/llama-PRECISION.gguf, without a tokenizer. llama.cpp
gets its best documented way: texts as sequences of one batch, as many as fit --batch-tokens (512,
which is its default, and 2,048 are tried, the best counts), sorted by length, pooled and normalised
by it; flash attention as it decides. Tokenising does not count here, though it does in Tandem's own
figure. With --check it prints the first embeddings too.
"""

import argparse
import ctypes
import json
import os
import resource
import time

import gguf
import llama_cpp
import numpy as np
import torch
from safetensors import safe_open
from transformers import AutoTokenizer


def write_gguf(folder, path, precision):
    with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    assert config["model_type"] == "qwen3", "only Qwen3 folders are converted"
    layers = config["num_hidden_layers"]
    writer = gguf.GGUFWriter(path + ".partial", "qwen3")
    writer.add_block_count(layers)
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_key_length(config["head_dim"])
    writer.add_value_length(config["head_dim"])
    writer.add_rope_freq_base(config["rope_parameters"]["rope_theta"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_vocab_size(config["vocab_size"])
    writer.add_pooling_type(gguf.PoolingType.LAST)
    writer.add_tokenizer_model("no_vocab")
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.QWEN3, layers)
    matrix = gguf.GGMLQuantizationType.BF16 if precision == "bf16" else gguf.GGMLQuantizationType.F32
    with safe_open(os.path.join(folder, "model.safetensors"), "pt") as weights:
        for name in weights.keys():
            known = name if name.startswith("model.") else "model." + name
            values = weights.get_tensor(name)
            if values.dim() > 1 and precision == "bf16":
                stored = values.to(torch.bfloat16).view(torch.uint8).numpy()
                writer.add_tensor(names.get_name(known, (".weight",)), stored, raw_dtype=matrix)
            else:
                writer.add_tensor(names.get_name(known, (".weight",)), values.float().numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    os.replace(path + ".partial", path)


def token_ids(options):
    with open(options.pairs, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    texts = [row["query"] for row in rows] + [row["document"] for row in rows]
    tokenizer = AutoTokenizer.from_pretrained(options.model)
    return tokenizer(texts, truncation=True, max_length=options.max_tokens)["input_ids"]


class Context:
    def __init__(self, model, batch_tokens, sequences, threads):
        parameters = llama_cpp.llama_context_default_params()
        parameters.n_ctx = batch_tokens
        parameters.n_batch = parameters.n_ubatch = batch_tokens
        parameters.n_seq_max = sequences
        parameters.n_threads = parameters.n_threads_batch = threads
        parameters.embeddings = True
        parameters.kv_unified = True
        parameters.pooling_type = llama_cpp.LLAMA_POOLING_TYPE_LAST
        self.context = llama_cpp.llama_init_from_model(model, parameters)
        assert self.context, "llama.cpp made no context"
        self.width = llama_cpp.llama_model_n_embd(model)
        self.batch = llama_cpp.llama_batch_init(batch_tokens, 0, 1)

    def encode(self, texts):
        batch = self.batch
        llama_cpp.llama_memory_clear(llama_cpp.llama_get_memory(self.context), True)
        count = 0
        for sequence, text in enumerate(texts):
            for position, token in enumerate(text):
                batch.token[count] = token
                batch.pos[count] = position
                batch.n_seq_id[count] = 1
                batch.seq_id[count][0] = sequence
                batch.logits[count] = 1
                count += 1
        batch.n_tokens = count
        assert llama_cpp.llama_decode(self.context, batch) == 0, "llama.cpp failed"
        rows = []
        for sequence in range(len(texts)):
            found = llama_cpp.llama_get_embeddings_seq(self.context, sequence)
            row = np.ctypeslib.as_array(found, (self.width,)).copy()
            rows.append(row / np.linalg.norm(row))
        return rows

    def close(self):
        llama_cpp.llama_batch_free(self.batch)
        llama_cpp.llama_free(self.context)


def batches_of(texts, tokens):
    """Lists of texts' numbers, the longest texts first, of at most so many tokens."""
    batches, free = [], 0
    for number in sorted(range(len(texts)), key=lambda i: -len(texts[i])):
        if len(texts[number]) > free:
            batches.append([])
            free = tokens
        batches[-1].append(number)
        free -= len(texts[number])
    return batches


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["encoding"])
    parser.add_argument("model")
    parser.add_argument("pairs")
    parser.add_argument("--precision", choices=["fp32", "bf16"], default="bf16")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--max-tokens", type=int, default=256)
    parser.add_argument("--batch-tokens", default="512,2048")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    threads = options.threads or len(os.sched_getaffinity(0))
    path = os.path.join(options.model, f"llama-{options.precision}.gguf")
    if not os.path.exists(path):
        write_gguf(options.model, path, options.precision)
    # Kept: ctypes does not hold what a pointer to a callback points to.
    silent = llama_cpp.llama_log_callback(lambda level, text, data: None)
    llama_cpp.llama_log_set(silent, ctypes.c_void_p(0))
    llama_cpp.llama_backend_init()
    model = llama_cpp.llama_model_load_from_file(path.encode(), llama_cpp.llama_model_default_params())
    assert model, f"llama.cpp does not read {path}"
    texts = token_ids(options)
    times, rows = {}, {}
    for size in map(int, options.batch_tokens.split(",")):
        if size < max(map(len, texts)):
            continue
        batches = batches_of(texts, size)
        context = Context(model, size, max(map(len, batches)), threads)
        context.encode([texts[i] for i in batches[-1]])
        start = time.perf_counter()
        for batch in batches:
            for number, row in zip(batch, context.encode([texts[i] for i in batch])):
                rows[number] = row
        times[size] = time.perf_counter() - start
        context.close()
    best = min(times, key=times.get)
    result = {"seconds": times[best], "tokens": sum(map(len, texts)),
              "setting": f"batches of {best} tokens", "threads": threads,
              "peak_bytes": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}
    if options.check:
        result["rows"] = [rows[i][:8].tolist() for i in range(4)]
    print(json.dumps(result))


if __name__ == "__main__":
    main()
