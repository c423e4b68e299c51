#!/usr/bin/env python3
"""Makes tests/model/golden/encoders.json: what transformers computes for small encoders.

    make_encoder_golden.py OUTPUT.json [CASE ...]

Each case is a config.json. Its weights are not stored: one integer formula (`formula_values`) gives
them here and in tests/model/encoders/formula_weights.cc, and the texts' token ids too. What is stored, for
texts of the lengths that the case names:

  pooled    per text: norm, and a few columns, of the mean of its token rows; in float64 and float32
  last      the same columns of the last text's last token row, in float64
  gradients per parameter: norm, and the largest element with its place, of the gradient of
            sum sin(pooled[b, j]) cos(b * H + j); in float64, and the norm in float32
  bf16      per text: norm of (pooled in bf16 - pooled in float64)

Cases of PADDED have the padding token in their texts, as one who writes "<pad>" gets it: it is read
(the mask has 1, as from a tokenizer), and only its position differs. The gradients there are those of
tables that know no padding row, since transformers otherwise sets its row's to 0.

float32 and bf16 are transformers as it is (attention "eager", whose masks follow `is_causal`). In
float64 it would still compute parts in float32 (norms, softmax, rotary tables), so that nothing could
be compared to nine places: there, torch.float32 is float64 while the model runs, and rotary tables
are what float32 tables are when each number is rounded correctly (tables made by a processor's own
cosine differ in the last place). Buckets of relative positions stay as float32 gives them.
"""

import contextlib
import json
import pathlib
import sys
import tempfile

import numpy
import torch
from transformers import AutoConfig, AutoModel, T5EncoderModel

COLUMNS = 6


# ---- the formula, as in tests/model/encoders/formula_weights.cc


def fnv1a64(text):
    value = 0xCBF29CE484222325
    for byte in text.encode("utf-8"):
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def mixed(seed, count):
    """uint64 [count]: numbers that look random, from a name's hash and each place."""
    with numpy.errstate(over="ignore"):
        x = numpy.uint64(seed) + numpy.arange(count, dtype=numpy.uint64)
        x = x * numpy.uint64(0x9E3779B97F4A7C15)
        x ^= x >> numpy.uint64(32)
        x = x * numpy.uint64(0xBF58476D1CE4E5B9)
        x ^= x >> numpy.uint64(29)
    return x


def formula_values(name, shape):
    """Weights of a tensor: n / 1024 times a power of two, n an integer from -1024 to 1024."""
    count = int(numpy.prod(shape))
    numbers = (mixed(fnv1a64(name), count) >> numpy.uint64(11)) % numpy.uint64(2049)
    values = (numbers.astype(numpy.int64) - 1024) / 1024.0
    if len(shape) == 2:
        power = 0
        while 4**power < shape[1]:
            power += 1
        values = values / 2**power
    elif name.endswith(".weight"):
        values = 1 + values / 4
    else:
        values = values / 8
    return values.reshape(shape)


def formula_ids(text, length, vocabulary, padding=None):
    """Ids from 3 on, so that no text has a padding token; with `padding`, each third one is that."""
    numbers = mixed(fnv1a64(f"text {text}"), length) >> numpy.uint64(11)
    ids = (3 + numbers % numpy.uint64(vocabulary - 3)).astype(numpy.int64)
    if padding is not None:
        ids[1::3] = padding
    return ids


# ---- the cases

BERT = {
    "model_type": "bert", "vocab_size": 61, "hidden_size": 32, "num_hidden_layers": 3,
    "num_attention_heads": 2, "intermediate_size": 48, "max_position_embeddings": 40,
    "type_vocab_size": 2, "pad_token_id": 0,
}
DECODER = {
    "vocab_size": 61, "hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4,
    "num_key_value_heads": 2, "intermediate_size": 48, "max_position_embeddings": 64,
    "hidden_act": "silu", "rms_norm_eps": 1e-5, "pad_token_id": 0, "bos_token_id": 1,
    "eos_token_id": 2,
}
MODERNBERT = {
    "model_type": "modernbert", "vocab_size": 61, "hidden_size": 32, "num_hidden_layers": 5,
    "num_attention_heads": 2, "intermediate_size": 48, "max_position_embeddings": 80,
    "local_attention": 10, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
    "cls_token_id": 1, "sep_token_id": 2,
}
T5 = {
    "model_type": "t5", "vocab_size": 61, "d_model": 32, "num_layers": 3, "num_heads": 4, "d_kv": 16,
    "d_ff": 48, "relative_attention_num_buckets": 32, "pad_token_id": 0, "eos_token_id": 1,
}
GEMMA = {
    "model_type": "gemma3_text", "vocab_size": 61, "hidden_size": 48, "num_hidden_layers": 7,
    "num_attention_heads": 3, "num_key_value_heads": 1, "head_dim": 16, "intermediate_size": 80,
    "max_position_embeddings": 64, "sliding_window": 7, "query_pre_attn_scalar": 24,
    "rms_norm_eps": 1e-6, "pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 1,
}
LLAMA3 = {
    "rope_type": "llama3", "factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "original_max_position_embeddings": 24,
}
SHORT = [1, 2, 5, 17]
CASES = {
    "bert": (BERT, SHORT + [40]),
    "bert_odd_gelu_new": ({**BERT, "hidden_size": 21, "num_attention_heads": 3,
                           "intermediate_size": 13, "hidden_act": "gelu_new",
                           "layer_norm_eps": 1e-5}, SHORT),
    "bert_relu": ({**BERT, "hidden_act": "relu", "num_hidden_layers": 1}, SHORT),
    "bert_silu": ({**BERT, "hidden_act": "silu", "num_hidden_layers": 1}, SHORT),
    "bert_gelu_fast": ({**BERT, "hidden_act": "gelu_fast", "num_hidden_layers": 1}, SHORT),
    "roberta": ({**BERT, "model_type": "roberta", "type_vocab_size": 1, "pad_token_id": 1,
                 "max_position_embeddings": 42}, SHORT + [40]),
    "xlm_roberta_odd": ({**BERT, "model_type": "xlm-roberta", "type_vocab_size": 1,
                         "pad_token_id": 1, "hidden_size": 18, "num_attention_heads": 3,
                         "intermediate_size": 29, "max_position_embeddings": 34},
                        SHORT + [32]),
    "camembert_pad_2": ({**BERT, "model_type": "camembert", "pad_token_id": 2}, SHORT + [37]),
    "roberta_ordinary_pad": ({**BERT, "model_type": "roberta", "pad_token_id": 7,
                              "max_position_embeddings": 50}, SHORT + [40]),
    "xlm_roberta_pad_in_text": ({**BERT, "model_type": "xlm-roberta", "pad_token_id": 1,
                                 "hidden_size": 18, "num_attention_heads": 3,
                                 "intermediate_size": 29}, SHORT + [38]),
    "mpnet_pad_in_text": ({**BERT, "model_type": "mpnet", "pad_token_id": 0}, SHORT + [38]),
    "distilbert": ({"model_type": "distilbert", "vocab_size": 61, "dim": 32, "n_layers": 3,
                    "n_heads": 2, "hidden_dim": 48, "max_position_embeddings": 40,
                    "pad_token_id": 0}, SHORT + [40]),
    "distilbert_odd_relu": ({"model_type": "distilbert", "vocab_size": 61, "dim": 15, "n_layers": 2,
                             "n_heads": 5, "hidden_dim": 22, "max_position_embeddings": 24,
                             "pad_token_id": 0, "activation": "relu",
                             "sinusoidal_pos_embds": True}, SHORT),
    "mpnet": ({**BERT, "model_type": "mpnet", "pad_token_id": 1, "max_position_embeddings": 202},
              SHORT + [200]),
    "mpnet_odd": ({**BERT, "model_type": "mpnet", "pad_token_id": 1, "hidden_size": 21,
                   "num_attention_heads": 3, "intermediate_size": 13}, SHORT + [38]),
    "modernbert_old": ({**MODERNBERT, "global_attn_every_n_layers": 3, "global_rope_theta": 160000.0,
                        "local_rope_theta": 10000.0}, SHORT + [80]),
    "modernbert_new": ({**MODERNBERT, "hidden_size": 36, "num_attention_heads": 3,
                        "local_attention": 7, "norm_bias": True, "attention_bias": True,
                        "mlp_bias": True, "hidden_activation": "gelu_pytorch_tanh",
                        "layer_types": ["sliding_attention", "full_attention", "full_attention",
                                        "sliding_attention", "sliding_attention"],
                        "rope_parameters": {
                            "full_attention": {"rope_type": "linear", "factor": 3.0,
                                               "rope_theta": 50000.0},
                            "sliding_attention": {"rope_type": "default", "rope_theta": 500.0}}},
                       SHORT + [30]),
    "t5_relu": (T5, SHORT + [200]),
    "t5_gated_odd": ({**T5, "d_model": 21, "num_heads": 3, "d_kv": 5, "d_ff": 13,
                      "feed_forward_proj": "gated-gelu", "relative_attention_num_buckets": 20,
                      "relative_attention_max_distance": 30, "tie_word_embeddings": False},
                     SHORT + [50]),
    "t5_gated": ({**T5, "feed_forward_proj": "gated-gelu", "layer_norm_epsilon": 1e-5}, SHORT),
    "t5_gated_silu": ({**T5, "feed_forward_proj": "gated-silu", "num_layers": 1}, SHORT),
    "llama": ({**DECODER, "model_type": "llama", "rope_theta": 500000.0, "head_dim": 16}, SHORT + [64]),
    "llama_llama3_old": ({**DECODER, "model_type": "llama", "head_dim": 32, "rope_theta": 500.0,
                          "rope_scaling": LLAMA3, "num_key_value_heads": None}, SHORT + [64]),
    "llama_llama3_new": ({**DECODER, "model_type": "llama", "hidden_size": 40,
                          "attention_bias": True, "mlp_bias": True,
                          "rope_parameters": {**LLAMA3, "rope_theta": 300.0}}, SHORT + [64]),
    "llama_linear_both_sides": ({**DECODER, "model_type": "llama", "hidden_act": "gelu",
                                 "rope_scaling": {"type": "linear", "factor": 3.0},
                                 "is_causal": False}, SHORT + [33]),
    "mistral": ({**DECODER, "model_type": "mistral", "sliding_window": 6, "head_dim": 16}, SHORT + [64]),
    "mistral_both_sides": ({**DECODER, "model_type": "mistral", "sliding_window": 6,
                            "is_causal": False}, SHORT + [40]),
    "mistral_no_window": ({**DECODER, "model_type": "mistral", "sliding_window": None,
                           "hidden_size": 24}, SHORT),
    "qwen2": ({**DECODER, "model_type": "qwen2", "sliding_window": 6, "use_sliding_window": False,
               "max_window_layers": 1, "rope_theta": 1000000.0}, SHORT + [64]),
    "qwen2_window": ({**DECODER, "model_type": "qwen2", "sliding_window": 6,
                      "use_sliding_window": True, "max_window_layers": 1,
                      "rope_parameters": {"rope_type": "default", "rope_theta": 1000.0}},
                     SHORT + [64]),
    "qwen2_both_sides_odd": ({**DECODER, "model_type": "qwen2", "sliding_window": 5,
                              "use_sliding_window": True, "is_causal": False, "hidden_size": 24,
                              "num_attention_heads": 4, "num_key_value_heads": 4,
                              "intermediate_size": 13,
                              "layer_types": ["sliding_attention", "full_attention",
                                              "sliding_attention"]}, SHORT + [40]),
    "qwen3": ({**DECODER, "model_type": "qwen3", "head_dim": 16, "rope_theta": 1000000.0},
              SHORT + [64]),
    "qwen3_window_odd": ({**DECODER, "model_type": "qwen3", "hidden_size": 20, "head_dim": 6,
                          "attention_bias": True, "sliding_window": 4, "use_sliding_window": True,
                          "max_window_layers": 2, "intermediate_size": 13}, SHORT + [40]),
    "qwen3_both_sides": ({**DECODER, "model_type": "qwen3", "head_dim": 16, "is_causal": False},
                         SHORT + [40]),
    "gemma3_old": ({**GEMMA, "sliding_window_pattern": 3, "rope_theta": 1000000.0,
                    "rope_local_base_freq": 10000.0,
                    "rope_scaling": {"rope_type": "linear", "factor": 8.0}}, SHORT + [64]),
    "gemma3_both_sides_new": ({**GEMMA, "use_bidirectional_attention": True,
                               "rope_parameters": {
                                   "full_attention": {"rope_type": "default", "rope_theta": 40000.0},
                                   "sliding_attention": {"rope_type": "default",
                                                         "rope_theta": 300.0}},
                               "layer_types": ["sliding_attention"] * 3 + ["full_attention"]
                                              + ["sliding_attention"] * 3}, SHORT + [64]),
    "gemma3_even_window": ({**GEMMA, "use_bidirectional_attention": True, "sliding_window": 8,
                            "hidden_size": 33, "intermediate_size": 13, "head_dim": 6,
                            "num_hidden_layers": 2}, SHORT + [40]),
    "gemma3_not_causal": ({**GEMMA, "is_causal": False, "num_hidden_layers": 2}, SHORT + [40]),
    "gemma3_not_causal_both_sides": ({**GEMMA, "is_causal": False, "num_hidden_layers": 2,
                                      "use_bidirectional_attention": True}, SHORT + [40]),
}
# The padding token of cases whose texts have it.
PADDED = {"roberta_ordinary_pad": 7, "xlm_roberta_pad_in_text": 1, "mpnet_pad_in_text": 1}


# ---- transformers


def make_model(config, padding):
    """The plain model class, with the formula's weights, and its parameters by name."""
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "config.json").write_text(json.dumps(config))
        loaded = AutoConfig.from_pretrained(folder)
    loaded._attn_implementation = "eager"
    make = T5EncoderModel if config["model_type"] == "t5" else AutoModel.from_config
    model = make(loaded).eval()
    if padding is not None:
        model.embeddings.word_embeddings.padding_idx = None
        model.embeddings.position_embeddings.padding_idx = None
    parameters = dict(model.named_parameters())
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(torch.from_numpy(formula_values(name, tuple(parameter.shape))))
    return model, parameters


def rotaries_of(model):
    return [module for module in model.modules() if type(module).__name__.endswith("RotaryEmbedding")]


def exact_frequencies(base, width):
    exponents = numpy.arange(0, width, 2, dtype=numpy.float32) / numpy.float32(width)
    powers = (numpy.float64(numpy.float32(base)) ** exponents.astype(numpy.float64))
    return torch.from_numpy((1 / powers.astype(numpy.float32)).astype(numpy.float32))


def use_exact_tables(module):
    """Replaces frequencies by what correctly rounded powers give, and tables likewise."""
    real_pow = torch.Tensor.__rpow__

    def correctly_rounded(exponents, base):
        power = numpy.float64(numpy.float32(base)) ** exponents.double().numpy()
        return torch.from_numpy(power.astype(numpy.float32))

    torch.Tensor.__rpow__ = correctly_rounded
    try:
        fresh = type(module)(module.config)
    finally:
        torch.Tensor.__rpow__ = real_pow
    buffers = dict(fresh.named_buffers())

    def forward(x, position_ids, layer_type=None):
        prefix = f"{layer_type}_" if layer_type else ""
        frequencies = buffers[prefix + "inv_freq"].numpy()
        places = position_ids[0].numpy().astype(numpy.float32)
        angles = (places[:, None] * frequencies[None, :]).astype(numpy.float64)
        tables = [f(numpy.concatenate([angles, angles], 1)).astype(numpy.float32)
                  for f in (numpy.cos, numpy.sin)]
        return tuple(torch.from_numpy(t.astype(numpy.float64))[None] for t in tables)

    module.forward = forward


@contextlib.contextmanager
def float32_is_float64(model):
    """While it lasts, what the model asks for in float32 it gets in float64."""
    real, real_float, real_type = torch.float32, torch.Tensor.float, torch.float
    stack = [m for m in model.modules() if hasattr(m, "_relative_position_bucket")]
    stack += [m for m in model.modules() if hasattr(m, "relative_position_bucket")]
    owners = {type(m) for m in stack}
    kept = {}
    for owner in owners:
        name = ("_relative_position_bucket" if hasattr(owner, "_relative_position_bucket")
                else "relative_position_bucket")
        function = getattr(owner, name)
        kept[owner] = (name, owner.__dict__[name])

        def in_float32(*args, function=function, **kwargs):
            wide, torch.Tensor.float = torch.Tensor.float, real_float
            try:
                return function(*args, **kwargs)
            finally:
                torch.Tensor.float = wide

        setattr(owner, name, staticmethod(in_float32))
    torch.float32 = torch.float = torch.float64
    torch.Tensor.float = torch.Tensor.double
    try:
        yield
    finally:
        torch.float32, torch.float = real, real_type
        torch.Tensor.float = real_float
        for owner, (name, function) in kept.items():
            setattr(owner, name, function)


def pooled_rows(model, config, lengths, padding):
    rows, last = [], None
    for text, length in enumerate(lengths):
        ids = torch.from_numpy(formula_ids(text, length, config["vocab_size"], padding))[None]
        out = model(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state[0]
        rows.append(out.mean(0))
        last = out[-1]
    return torch.stack(rows), last


def loss_of(pooled):
    places = torch.arange(pooled.numel(), dtype=torch.float64).view(pooled.shape)
    return (torch.sin(pooled).double() * torch.cos(places)).sum()


def gradients(model, parameters, config, lengths, padding):
    pooled, last = pooled_rows(model, config, lengths, padding)
    model.zero_grad()
    loss = loss_of(pooled)
    loss.backward()
    found = {name: parameter.grad.detach().double() for name, parameter in parameters.items()
             if parameter.grad is not None}
    return pooled.detach().double(), last.detach().double(), found, loss.item()


def rounded(number, digits):
    return float(f"{float(number):.{digits}g}")


def largest(gradient):
    flat = gradient.flatten()
    place = int(flat.abs().argmax())
    return [place, rounded(flat[place], 13)]


def run_case(name, config, lengths):
    padding = PADDED.get(name)
    model, parameters = make_model(config, padding)
    pooled32, _, gradients32, _ = gradients(model, parameters, config, lengths, padding)
    with torch.no_grad():
        bf16, _ = pooled_rows(model.bfloat16(), config, lengths, padding)
    model, parameters = make_model(config, padding)
    model = model.double()
    with torch.no_grad():  # .double() of float32 parameters is exact, the formula's numbers are too
        for module in rotaries_of(model):
            use_exact_tables(module)
    parameters = dict(model.named_parameters())
    with float32_is_float64(model):
        pooled, last, gradients64, loss = gradients(model, parameters, config, lengths, padding)
    used = sorted(gradients64)
    width = pooled.shape[1]
    columns = [round(i * (width - 1) / (COLUMNS - 1)) for i in range(COLUMNS)]
    worst = max(float((pooled32 - pooled).norm() / pooled.norm()), 0.0)
    # Some gradients are zero but for rounding (a key's bias changes no probability).
    floor = 1e-3 * max(float(gradient.norm()) for gradient in gradients64.values())
    worst_gradient = max(
        float((gradients32[n] - gradients64[n]).norm()) / max(float(gradients64[n].norm()), floor)
        for n in used)
    errors = (bf16.double() - pooled).norm(dim=1)
    print(f"{name}: {len(used)} parameters, float32 off by {worst:.1e}, its gradients by "
          f"{worst_gradient:.1e}, bf16 by {float(errors.norm() / pooled.norm()):.1e}", flush=True)
    assert worst < 3e-6 and worst_gradient < 5e-5, name
    return {
        "name": name,
        "config": config,
        "lengths": lengths,
        **({} if padding is None else {"padding": padding}),
        "columns": columns,
        "loss": loss,
        "pooled": [[rounded(row.norm(), 13)] + [rounded(row[c], 13) for c in columns]
                   for row in pooled],
        "pooled32": [[rounded(row.norm(), 9)] + [rounded(row[c], 9) for c in columns]
                     for row in pooled32],
        "last": [rounded(last[c], 13) for c in columns],
        "gradients": {n: [rounded(gradients64[n].norm(), 13), rounded(gradients32[n].norm(), 9)]
                         + largest(gradients64[n]) for n in used},
        "bf16": [rounded(error, 4) for error in errors],
    }


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    torch.set_num_threads(2)
    wanted = sys.argv[2:] or list(CASES)
    cases = [run_case(name, *CASES[name]) for name in wanted]
    lines = ",\n".join(json.dumps(case) for case in cases)
    pathlib.Path(sys.argv[1]).write_text("[\n" + lines + "\n]\n", encoding="ascii")


if __name__ == "__main__":
    main()
