"""Writes a sentence-transformers folder of a BERT that is small enough to train in a test."""

import json
import shutil
from pathlib import Path

import numpy as np

WIDTH, INNER, LAYERS, HEADS = 32, 64, 1, 2
TOKENIZER = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt")


def write_tiny_bert(folder: Path, like: Path) -> Path:
    """`like` is the folder of a BERT, whose tokenizer and vocabulary are taken."""
    folder.mkdir(parents=True)
    config = json.loads((like / "config.json").read_text())
    config.update(hidden_size=WIDTH, intermediate_size=INNER, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
                  max_position_embeddings=128)
    _write(folder / "config.json", config)
    for name in TOKENIZER:
        shutil.copy(like / name, folder / name)
    _write(folder / "modules.json", [
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
    ])
    _write(folder / "sentence_bert_config.json", {"max_seq_length": 64, "do_lower_case": False})
    (folder / "1_Pooling").mkdir()
    _write(folder / "1_Pooling" / "config.json",
           {"word_embedding_dimension": WIDTH, "pooling_mode_mean_tokens": True})
    _write_safetensors(folder / "model.safetensors", _weights(config["vocab_size"]))
    return folder


def _weights(words: int) -> dict[str, np.ndarray]:
    shapes = {f"embeddings.{name}_embeddings.weight": (rows, WIDTH)
              for name, rows in (("word", words), ("position", 128), ("token_type", 2))}
    norms = ["embeddings.LayerNorm"]
    for layer in range(LAYERS):
        path = f"encoder.layer.{layer}."
        maps = {"attention.self.query": (WIDTH, WIDTH), "attention.self.key": (WIDTH, WIDTH),
                "attention.self.value": (WIDTH, WIDTH), "attention.output.dense": (WIDTH, WIDTH),
                "intermediate.dense": (INNER, WIDTH), "output.dense": (WIDTH, INNER)}
        for name, shape in maps.items():
            shapes[f"{path}{name}.weight"], shapes[f"{path}{name}.bias"] = shape, shape[:1]
        norms += [f"{path}attention.output.LayerNorm", f"{path}output.LayerNorm"]
    random = np.random.default_rng(1)
    weights = {name: random.normal(0, 0.2, shape).astype(np.float32) for name, shape in shapes.items()}
    for name in norms:
        weights[f"{name}.weight"], weights[f"{name}.bias"] = np.ones(WIDTH, np.float32), np.zeros(WIDTH, np.float32)
    return weights


def _write_safetensors(path: Path, weights: dict[str, np.ndarray]) -> None:
    header, at = {}, 0
    for name, values in weights.items():
        header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": [at, at + values.nbytes]}
        at += values.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(v.tobytes() for v in weights.values()))


def _write(path: Path, value) -> None:
    path.write_text(json.dumps(value))
