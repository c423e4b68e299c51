"""Model folders of published shapes with made-up weights, for benchmarks where no real ones are to be had.

    python made_models.py SHAPE FOLDER --tokenizer FOLDER [--layers N] [--dtype float32|bfloat16]

SHAPE is a name of SHAPES. A weight is a function of its tensor's name and its place there, so that a
folder is the same wherever it is made: speed does not depend on values as long as none is huge,
denormal or zero. The tokenizer is that of another folder, so that all shapes get the same token ids.
The folder is one of sentence-transformers, which every program of the benchmarks reads.
"""

import argparse
import json
import os
import shutil
import zlib

# transformers' configuration class, what differs from its defaults, pooling, longest text.
SHAPES = {
    "minilm-l6": ("BertConfig", dict(
        hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536), "mean", 512),
    "bert-base": ("BertConfig", dict(), "mean", 512),
    "bge-large": ("BertConfig", dict(
        hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096), "cls", 512),
    "xlm-roberta-base": ("XLMRobertaConfig", dict(
        vocab_size=250002, max_position_embeddings=514, type_vocab_size=1, layer_norm_eps=1e-5), "mean", 512),
    "modernbert-base": ("ModernBertConfig", dict(), "mean", 8192),
    "t5-base": ("T5Config", dict(  # T5 1.1
        d_model=768, d_kv=64, d_ff=2048, num_layers=12, num_heads=12, feed_forward_proj="gated-gelu",
        tie_word_embeddings=False), "mean", 8192),
    "llama-3.2-1b": ("LlamaConfig", dict(
        vocab_size=128256, hidden_size=2048, intermediate_size=8192, num_hidden_layers=16,
        num_attention_heads=32, num_key_value_heads=8, head_dim=64, max_position_embeddings=131072,
        rms_norm_eps=1e-5, tie_word_embeddings=True,
        rope_parameters=dict(rope_type="llama3", rope_theta=500000.0, factor=32.0, low_freq_factor=1.0,
                             high_freq_factor=4.0, original_max_position_embeddings=8192)),
        "lasttoken", 8192),
    "llama-3.2-3b": ("LlamaConfig", dict(
        vocab_size=128256, hidden_size=3072, intermediate_size=8192, num_hidden_layers=28,
        num_attention_heads=24, num_key_value_heads=8, head_dim=128, max_position_embeddings=131072,
        rms_norm_eps=1e-5, tie_word_embeddings=True,
        rope_parameters=dict(rope_type="llama3", rope_theta=500000.0, factor=32.0, low_freq_factor=1.0,
                             high_freq_factor=4.0, original_max_position_embeddings=8192)),
        "lasttoken", 8192),
    "qwen3-0.6b": ("Qwen3Config", dict(
        vocab_size=151669, hidden_size=1024, intermediate_size=3072, num_hidden_layers=28,
        num_attention_heads=16, num_key_value_heads=8, head_dim=128, max_position_embeddings=32768,
        rms_norm_eps=1e-6, tie_word_embeddings=True,
        rope_parameters=dict(rope_type="default", rope_theta=1000000.0)), "lasttoken", 8192),
}
POOLING_KEYS = {"mean": "pooling_mode_mean_tokens", "cls": "pooling_mode_cls_token",
                "lasttoken": "pooling_mode_lasttoken"}


def values_of(name, shape):
    """Numbers in [-1, 1], from an integer hash of name and place."""
    import numpy as np

    count = int(np.prod(shape))
    places = np.arange(count, dtype=np.uint32)
    places *= np.uint32(2654435761)
    places ^= np.uint32(zlib.crc32(name.encode()))
    places ^= places >> np.uint32(15)
    places *= np.uint32(2246822519)
    places ^= places >> np.uint32(13)
    return ((places % np.uint32(2001)).astype(np.float32) / 1000 - 1).reshape(shape)


def tensor_of(name, shape):
    values = values_of(name, shape)
    if len(shape) > 1:
        return values * 0.035  # the deviation 0.02 that published models start from
    return values * 0.1 + (0 if name.endswith("bias") else 1)


def names_and_shapes(config):
    import torch
    import transformers

    kind = transformers.T5EncoderModel if config.model_type == "t5" else None
    with torch.device("meta"):
        model = kind(config) if kind else transformers.AutoModel.from_config(config)
    return {name: tuple(value.shape) for name, value in model.state_dict().items()
            if name != "encoder.embed_tokens.weight" and value.dtype.is_floating_point}


def write(path, value):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file, indent=1)


def write_weights(folder, config, dtype):
    import torch
    from safetensors.torch import save_file

    tensors = {}
    for name, shape in names_and_shapes(config).items():
        tensors[name] = torch.from_numpy(tensor_of(name, shape)).to(getattr(torch, dtype))
    save_file(tensors, os.path.join(folder, "model.safetensors"), metadata={"format": "pt"})


def make(shape, folder, tokenizer, layers=None, dtype="float32"):
    """Writes the folder, complete or not at all; does nothing where it is there."""
    import transformers

    if os.path.exists(folder):
        return
    kind, settings, pooling, longest = SHAPES[shape]
    config = getattr(transformers, kind)(**settings)
    if layers:
        if getattr(config, "layer_types", None):
            config.layer_types = config.layer_types[:layers]
        setattr(config, "num_layers" if kind == "T5Config" else "num_hidden_layers", layers)
    config.architectures = ["T5EncoderModel" if kind == "T5Config" else kind.replace("Config", "Model")]
    config.dtype = dtype
    partial = f"{folder}.{os.getpid()}"
    os.makedirs(partial)
    config.save_pretrained(partial)
    write_weights(partial, config, dtype)
    for name in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt"):
        if os.path.exists(os.path.join(tokenizer, name)):
            shutil.copy(os.path.join(tokenizer, name), partial)
    write(os.path.join(partial, "modules.json"), [
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
        {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}])
    modes = {key: name == pooling for name, key in POOLING_KEYS.items()}
    write(os.path.join(partial, "1_Pooling", "config.json"),
          {"word_embedding_dimension": config.hidden_size, **modes})
    os.makedirs(os.path.join(partial, "2_Normalize"))
    write(os.path.join(partial, "sentence_bert_config.json"),
          {"max_seq_length": longest, "do_lower_case": False})
    os.rename(partial, folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shape", choices=sorted(SHAPES))
    parser.add_argument("folder")
    parser.add_argument("--tokenizer", required=True)
    parser.add_argument("--layers", type=int)
    parser.add_argument("--dtype", choices=["float32", "bfloat16"], default="float32")
    options = parser.parse_args()
    make(options.shape, options.folder, options.tokenizer, options.layers, options.dtype)


if __name__ == "__main__":
    main()
