"""Folders of tokenizers whose files beside tokenizer.json change what it means.

A case is a dictionary: `base`, a tokenizer.json; `json`, changes of its members; `config`, `map` and
`added`, the contents of tokenizer_config.json, special_tokens_map.json and added_tokens.json (None:
no such file); `model`, config.json; `length`, where texts are cut (0: nowhere).
"""
import copy
import json
import os
import random

GOLDEN = os.path.join(os.path.dirname(__file__), "..", "..", "tests", "text", "golden")

# transformers' classes that are followed, and the small tokenizers that they can read.
WORD_PIECE = ["added_uncased", "added_cased", "added_bare"]
BPE = ["bpe_roberta", "bpe_gemma", "bpe_llama2", "bpe_qwen2", "bpe_gpt2", "bpe_modernbert"]
UNIGRAM = ["unigram_added", "unigram_bytes"]
CLASSES = {
    "BertTokenizer": WORD_PIECE, "BertTokenizerFast": WORD_PIECE, "DistilBertTokenizer": WORD_PIECE,
    "ElectraTokenizer": WORD_PIECE, "MPNetTokenizer": WORD_PIECE, "RobertaTokenizer": BPE,
    "RobertaTokenizerFast": BPE, "GPT2Tokenizer": BPE, "Qwen2Tokenizer": BPE,
    "LlamaTokenizerFast": BPE, "LlamaTokenizer": BPE, "GemmaTokenizer": BPE,
    "XLMRobertaTokenizer": UNIGRAM, "CamembertTokenizer": UNIGRAM, "T5Tokenizer": UNIGRAM,
    "AlbertTokenizer": UNIGRAM, "PreTrainedTokenizerFast": WORD_PIECE + BPE + UNIGRAM,
    "TokenizersBackend": WORD_PIECE + BPE + UNIGRAM, "UnknownTokenizer": WORD_PIECE + BPE + UNIGRAM,
    None: WORD_PIECE + BPE + UNIGRAM,
}
MODEL_TYPES = ["bert", "camembert", "distilbert", "gemma3_text", "llama", "mistral", "modernbert",
               "mpnet", "qwen2", "qwen3", "roberta", "t5", "xlm-roberta"]
# What any of them needs to be a model's settings.
SIZES = {"vocab_size": 2000, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2,
         "intermediate_size": 8, "max_position_embeddings": 64, "dim": 16, "n_layers": 1, "n_heads": 2,
         "hidden_dim": 8, "d_model": 16, "num_key_value_heads": 2, "num_layers": 1, "num_heads": 2, "d_ff": 8,
         "d_kv": 8}
NAMES = ["bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"]
TOKENS = ["[CLS]", "[SEP]", "[MASK]", "<s>", "</s>", "<mask>", "<pad>", "<x>", "hello", "[NEW]", "NeW",
          "a", "<|endoftext|>", "<extra_id_0>", "<left>", " x ", "\u4e2d"]

TEXTS = [
    "", " ", "hello world", "Hello WORLD", " leading", "trailing ", "two  spaces   three",
    "caf\u00e9 CAF\u00c9 na\u00efve \u00c5ngstr\u00f6m \u0130stanbul", "\u4e2d\u56fd \u4e2d x\u4e2dy",
    "tab\tnew\rline", "a [MASK] b", "a[MASK]b", "x <mask> y", "x<mask>y", "<s> text </s>", "<pad><pad>",
    "[CLS] [SEP]", "[NEW] [new] NeW new NEW", "hello <x> <xy> <xyz>", " <left> a <right> b <both> ",
    "<extra_id_0> and <extra_id_1>", "<|endoftext|> end", "<bos><eos><unk>", "1234 5,678.90 x1y2",
    "it's we'll I'D", "'s 'S", "``quoted''", "\u2581\u2581mark \u2581", "\ufb01ne \u2460 \uff21",
    "e\u0301 o\u0308 \u1e9e\u00df", "\u3000ideographic\u3000space", "\u00a0nbsp\u200bzero",
    "\U0001f600 emoji \U0001f468\u200d\U0001f469", "x x a a  x ", "<S> </S> <MASK> [mask]",
    "a b c d e f g h i j k l m n o p q r s t u v w x y z", "(hello) [world] {x}",
]


def base_of(name):
    with open(os.path.join(GOLDEN, name + ".json"), encoding="utf-8") as file:
        return json.load(file)


def case(base, config=None, model=None, **more):
    return {"base": base, "config": config, "model": model, "json": {}, "map": None, "added": None,
            "length": 0} | more


def added(content, **flags):
    return {"content": content, "lstrip": False, "rstrip": False, "single_word": False,
            "normalized": True, "special": False} | flags


def named_object(content, **flags):
    return {"__type": "AddedToken"} | {k: v for k, v in added(content, **flags).items()
                                       if k != "special"}


def one_by_one():
    """Each setting alone, for each class that reads it."""
    cases = []
    of_class = [(name, bases) for name, bases in CLASSES.items() if name]
    for name, bases in of_class:
        for base in bases:
            cases.append(case(base, {"tokenizer_class": name}))
    for name, bases in of_class:
        base = bases[0]
        for config in settings_of(name):
            cases.append(case(base, {"tokenizer_class": name} | config))
    for model_type in MODEL_TYPES:
        for base in ("added_uncased", "bpe_roberta", "unigram_added"):
            for name in (None, "PreTrainedTokenizerFast", "BertTokenizer", "LlamaTokenizer"):
                config = {} if name is None else {"tokenizer_class": name}
                cases.append(case(base, config, {"model_type": model_type}))
        cases.append(case("added_uncased", {}, {"model_type": model_type,
                                                "tokenizer_class": "BertTokenizer"}))
    cases += files_beside()
    return cases


def settings_of(name):
    settings = [{key: value} for key in ("do_lower_case", "strip_accents", "tokenize_chinese_chars",
                                         "add_prefix_space", "split_special_tokens", "legacy",
                                         "keep_accents", "trim_offsets", "add_bos_token",
                                         "add_eos_token", "clean_up_tokenization_spaces")
                for value in (True, False)]
    settings += [{"strip_accents": None}, {"add_prefix_space": None}, {"legacy": None},
                 {"do_lower_case": False, "strip_accents": True},
                 {"do_lower_case": True, "strip_accents": False}, {"padding_side": "left"},
                 {"extra_ids": 3}, {"extra_ids": 0}, {"extra_special_tokens": ["[NEW]", "hello"]},
                 {"additional_special_tokens": ["[NEW]", "<x>"]},
                 {"additional_special_tokens": ["[NEW]"], "extra_special_tokens": ["NeW"]},
                 {"additional_special_tokens": ["[NEW]"], "extra_special_tokens": []},
                 {"extra_special_tokens": {"image_token": "[NEW]"}}, {"image_token": "[NEW]"},
                 {"added_tokens_decoder": {"7": added("[NEW]"), "3": added("NeW", lstrip=True)}},
                 {"added_tokens_decoder": {"0": added("hello", single_word=True, normalized=False)}},
                 {"added_tokens_decoder": {}}]
    for key in NAMES:
        settings += [{key: "[NEW]"}, {key: "hello"}, {key: None},
                     {key: named_object("NeW", lstrip=True, normalized=False)},
                     {key: {"content": "hello", "lstrip": False}}]
    return settings


def files_beside():
    cases = []
    for base, name in [("added_uncased", "BertTokenizer"), ("bpe_roberta", "RobertaTokenizer"),
                       ("unigram_added", "XLMRobertaTokenizer"), ("unigram_added", "T5Tokenizer"),
                       ("unigram_added", "CamembertTokenizer"), ("bpe_qwen2", "Qwen2Tokenizer"),
                       ("added_cased", "PreTrainedTokenizerFast"), ("added_uncased", "MPNetTokenizer")]:
        config = {"tokenizer_class": name}
        cases += [
            case(base, config, map={"cls_token": "[NEW]", "mask_token": added("<x>", lstrip=True)}),
            case(base, config | {"cls_token": "hello"}, map={"cls_token": "[NEW]"}),
            case(base, config, map={"additional_special_tokens": ["[NEW]", "NeW"]}),
            case(base, config, map={"additional_special_tokens": [added("[NEW]")]}),
            case(base, config, map={"extra_special_tokens": [added("[NEW]"), "NeW"]}),
            case(base, config | {"additional_special_tokens": ["<x>"]},
                 map={"additional_special_tokens": ["[NEW]", "NeW"]}),
            case(base, config | {"added_tokens_decoder": {}}, map={"cls_token": "[NEW]"}),
            case(base, config, added={"[NEW]": 70, "NeW": 71}),
            case(base, config | {"extra_special_tokens": ["[NEW]"]}, added={"[NEW]": 70, "NeW": 71}),
            case(base, config, map={"do_lower_case": False, "add_prefix_space": True}),
            case(base, config, map={"pad_token": "hello", "sep_token": "[NEW]"}, added={"hello": 1}),
            case(base, None, map={"cls_token": "[NEW]"}),
        ]
        for length in (3, 5, 9):
            cut = {"direction": "Left", "max_length": 77, "strategy": "LongestFirst", "stride": 0}
            cases += [case(base, config | {"truncation_side": "left"}, length=length),
                      case(base, config, json={"truncation": cut}, length=length),
                      case(base, config | {"truncation_side": "right"}, json={"truncation": cut},
                           length=length)]
        cases.append(case(base, config | {"truncation_side": "middle"}))
        cases.append(case(base, config, json={"post_processor": None}))
        cases.append(case(base, config, json={"normalizer": {"type": "Lowercase"}}))
        padding = {"strategy": "BatchLongest", "direction": "Right", "pad_to_multiple_of": None,
                   "pad_id": 0, "pad_type_id": 0, "pad_token": "[NEW]"}
        cases.append(case(base, config, json={"padding": padding}))
    return cases


def random_case(number):
    draw = random.Random(number)
    name = draw.choice(list(CLASSES))
    base = draw.choice(CLASSES[name])
    config = {} if name is None else {"tokenizer_class": name}
    model = draw.choice([None, {"model_type": draw.choice(MODEL_TYPES)}])
    settings = settings_of(name)
    for _ in range(draw.randrange(4)):
        config |= draw.choice(settings)
    for _ in range(draw.randrange(3)):
        config[draw.choice(NAMES)] = draw.choice(TOKENS)
    if draw.random() < 0.4:
        flags = {key: draw.random() < 0.5 for key in ("lstrip", "rstrip", "single_word", "normalized",
                                                      "special")}
        config["added_tokens_decoder"] = {
            str(draw.randrange(80)): added(draw.choice(TOKENS), **flags) for _ in range(4)}
    more = {}
    if draw.random() < 0.3:
        more["map"] = {draw.choice(NAMES): draw.choice([draw.choice(TOKENS),
                                                        added(draw.choice(TOKENS), lstrip=True)])}
    if draw.random() < 0.2:
        more["added"] = {draw.choice(TOKENS): draw.randrange(100) for _ in range(3)}
    if draw.random() < 0.3:
        config["truncation_side"] = draw.choice(["left", "right"])
        more["length"] = draw.choice([2, 4, 7, 12])
    return case(base, config, model, **more)


def write(one, folder, bases=base_of):
    os.makedirs(folder)
    tokenizer = copy.deepcopy(bases(one["base"])) | one["json"]
    for name, content in [("tokenizer.json", tokenizer), ("tokenizer_config.json", one["config"]),
                          ("special_tokens_map.json", one["map"]),
                          ("added_tokens.json", one["added"]), ("config.json", one["model"] and SIZES | one["model"])]:
        if content is not None:
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                json.dump(content, file)
