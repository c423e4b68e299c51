"""Model folders: what sentence-transformers computes from one, and what is no model file."""
import json
import pathlib
import shutil

from meanings.case import case

TEXTS = ["the cat sat", "the <pad> cat <pad> sat on", "<pad> mat", "on the mat the dog sat"]

# A tiny model of random weights, saved by sentence-transformers.
MAKE = """
import os, random, sys
sys.stdout = sys.stderr
import torch, transformers
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import AutoModel, PreTrainedTokenizerFast
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer import modules
torch.manual_seed(1)
words = ["<s>", "<pad>", "</s>", "<unk>", "the", "cat", "sat", "on", "mat", "dog"]
tokenizer = Tokenizer(models.WordPiece({w: i for i, w in enumerate(words)}, unk_token="<unk>"))
tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
tokenizer.post_processor = processors.TemplateProcessing(
    single="<s> $A </s>", pair="<s> $A </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>",
                               unk_token="<unk>", pad_token="<pad>", model_max_length=30)
config = transformers.AutoConfig.for_model(**config)
model = AutoModel.from_config(config)
for parameter in model.parameters():
    torch.nn.init.normal_(parameter, 0, 0.3)
plain = folder + "-plain"
model.save_pretrained(plain)
fast.save_pretrained(plain)
if chat_template:
    open(plain + "/chat_template.jinja", "w").write(chat_template)
"""
SAVE = """
transformer = modules.Transformer(plain, max_seq_length=30, **transformer_arguments)
pooling = modules.Pooling(transformer.get_embedding_dimension(), "mean")
more = [eval(text, {"modules": modules}) for text in further]
SentenceTransformer(modules=[transformer, pooling, *more]).save(folder)
result = SentenceTransformer(folder).encode(texts).tolist()
"""
ENCODE = """
import sys
sys.stdout = sys.stderr
from sentence_transformers import SentenceTransformer
result = SentenceTransformer(folder).encode(texts).tolist()
"""
BERT = {"model_type": "bert", "vocab_size": 10, "hidden_size": 16, "num_hidden_layers": 2,
        "num_attention_heads": 2, "intermediate_size": 24, "max_position_embeddings": 64,
        "pad_token_id": 1}
LLAMA = {"model_type": "llama", "vocab_size": 10, "hidden_size": 16, "num_hidden_layers": 2,
         "num_attention_heads": 2, "num_key_value_heads": 2, "intermediate_size": 24,
         "max_position_embeddings": 64, "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2}


def made(bench, name, config, further=(), transformer_arguments=None, chat_template="", how=SAVE):
    """A folder and what the peer encodes TEXTS to."""
    folder = str(bench.work / name)
    wanted = bench.peer(MAKE + how, folder=folder, config=config, texts=TEXTS,
                        further=list(further), transformer_arguments=transformer_arguments or {},
                        chat_template=chat_template)
    return folder, wanted


def encoded(bench, folder, texts=None):
    path = bench.text("texts.txt", "".join(t + "\n" for t in texts or TEXTS))
    ended = bench.works(bench.tandem("encode", folder, path, "--output", "-"))
    return [json.loads(line)["embedding"] for line in ended.stdout.splitlines()]


def cosine(a, b):
    def dot(x, y):
        return sum(p * q for p, q in zip(x, y))
    return dot(a, b) / (dot(a, a) * dot(b, b)) ** 0.5


def same(bench, got, wanted, what):
    bench.equal(len(got), len(wanted), f"{what}: texts")
    for i, (a, b) in enumerate(zip(got, wanted)):
        bench.close(cosine(a, b), 1, 1e-5, f"{what}: cosine of text {i}")


def change(path, **members):
    path = pathlib.Path(path)
    settings = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps({**settings, **members}))


@case("padding tokens that texts write out", peer="sentence-transformers")
def padding_in_texts(bench):
    """RoBERTa's kin and MPNet count no position for a token of pad_token_id, wherever it stands; it is
    read like any other token."""
    for kind in ("roberta", "xlm-roberta", "camembert", "mpnet", "bert"):
        folder, wanted = made(bench, kind, {**BERT, "model_type": kind})
        same(bench, encoded(bench, folder), wanted, kind)


@case("a pad_token_id that is an ordinary token", peer="sentence-transformers")
def ordinary_padding(bench):
    "Each text that has the token reads other positions."
    for kind in ("roberta", "xlm-roberta", "camembert", "mpnet"):
        folder, wanted = made(bench, kind, {**BERT, "model_type": kind, "pad_token_id": 4})
        same(bench, encoded(bench, folder), wanted, kind)


@case("a Dropout module", peer="sentence-transformers")
def dropout_module(bench):
    "It changes no embedding."
    folder, wanted = made(bench, "model", BERT, ["modules.Dropout(0.4)", "modules.Normalize()"])
    same(bench, encoded(bench, folder), wanted, "with Dropout")


@case("modules of other models")
def other_modules(bench):
    "They are refused by name."
    for name in ("models.WeightedLayerPooling", "models.CNN", "models.LSTM", "models.BoW",
                 "models.WordEmbeddings", "models.WordWeights", "models.StaticEmbedding",
                 "models.CLIPModel", "sparse_encoder.models.MLMTransformer",
                 "sparse_encoder.models.SpladePooling", "sparse_encoder.models.SparseAutoEncoder"):
        folder = copied(bench, name)
        path = pathlib.Path(folder, "modules.json")
        listed = json.loads(path.read_text())
        listed[1]["type"] = f"sentence_transformers.{name}"
        path.write_text(json.dumps(listed))
        bench.refused(bench.tandem("inspect", folder), 4, str(path), name, "is not supported: it is")


def copied(bench, name):
    """The model's folder, as links that can be replaced."""
    folder = bench.work / name
    shutil.copytree(bench.model(), folder,
                    copy_function=lambda a, b: pathlib.Path(b).symlink_to(pathlib.Path(a).resolve()))
    for path in folder.rglob("*.json"):
        content = path.read_bytes()
        path.unlink()
        path.write_bytes(content)
    return str(folder)


@case("what is no model file")
def no_model_file(bench):
    "A pointer, a page, an archive, a pickle or nothing is named, with what to do."
    contents = {
        "pointer": (b"version https://git-lfs.github.com/spec/v1\noid sha256:46\nsize 90868376\n",
                    "is a Git LFS pointer", "git lfs pull"),
        "page": (b"<!doctype html><html>Sign in</html>", "is an HTML page"),
        "zip": (b"PK\x03\x04\x14\0\0\0model.bin", "is a zip archive"),
        "pickle": (b"PK\x03\x04\0\0\x08\x08archive/data.pkl", "pickle of PyTorch", "never loaded"),
        "gzip": (b"\x1f\x8b\x08\0\0\0\0\0", "is gzip-compressed"),
        "nothing": (b"", "empty"),
    }
    for file in ("model.safetensors", "tokenizer.json", "config.json"):
        for kind, (content, *words) in contents.items():
            folder = copied(bench, f"{kind}_{file}")
            path = pathlib.Path(folder, file)
            path.unlink()
            path.write_bytes(content)
            texts = bench.text("t.txt", "a\n")
            bench.refused(bench.tandem("encode", folder, texts, "--output", "-"), 4, str(path),
                          *words)
    folder = copied(bench, "cut")
    path = pathlib.Path(folder, "model.safetensors")
    content = path.read_bytes()
    path.unlink()
    path.write_bytes(content[:len(content) // 2])
    bench.refused(bench.tandem("inspect", folder), 4, str(path), "cut short")


@case("numbers of Python in config.json", peer="sentence-transformers")
def numbers_of_python(bench):
    """NaN, Infinity and numbers of any size are read by Python; where nobody reads the key they change
    nothing, elsewhere the key is named."""
    folder, _ = made(bench, "model", BERT)
    path = pathlib.Path(folder, "config.json")
    text = path.read_text()
    path.write_text(text.replace("{", '{"task_specific_params": {"a": NaN, "b": -Infinity}, '
                                      '"seed": 123456789012345678901234567890, ', 1))
    same(bench, encoded(bench, folder), bench.peer(ENCODE, folder=folder, texts=TEXTS), "NaN")
    path.write_text(text.replace("{", '{"layer_norm_eps": NaN, ', 1)
                    .replace('"layer_norm_eps": 1e-12', '"a": 0'))
    bench.refused(bench.tandem("inspect", folder), 4, str(path), "'layer_norm_eps' is NaN")


@case("an index that disagrees with its shards", peer="sentence-transformers")
def index_and_shards(bench):
    "The index only lists files; their own headers say where tensors are."
    how = SAVE.replace("result =", "model.save_pretrained(folder, max_shard_size='3KB')\n"
                       "os.remove(folder + '/model.safetensors')\nresult =")
    folder, _ = made(bench, "model", BERT, how=how)
    path = pathlib.Path(folder, "model.safetensors.index.json")
    index = json.loads(path.read_text())
    names = list(index["weight_map"])
    files = sorted(set(index["weight_map"].values()))
    bench.equal(len(files) > 2, True, "several shards")
    index["metadata"]["total_size"] = 7
    index["weight_map"][names[0]] = next(f for f in files if f != index["weight_map"][names[0]])
    # A tensor that the map lacks, in a file that others name.
    held = [f for f in files if list(index["weight_map"].values()).count(f) > 1]
    del index["weight_map"][next(n for n in names[1:] if index["weight_map"][n] in held)]
    index["weight_map"]["cls.nowhere.weight"] = files[0]
    path.write_text(json.dumps(index))
    same(bench, encoded(bench, folder), bench.peer(ENCODE, folder=folder, texts=TEXTS), "index")
    bench.says(bench.tandem("inspect", folder), "names 1 tensor that no file has",
               "cls.nowhere.weight")
    missing = pathlib.Path(folder, files[1])
    missing.unlink()
    bench.refused(bench.tandem("inspect", folder), 4, str(missing), "is missing")


@case("settings of the Transformer module", peer="sentence-transformers")
def transformer_settings(bench):
    """Those that would change an embedding are followed or refused by key; those that the package does
    not know end its loading, too."""
    folder, wanted = made(bench, "model", BERT)
    path = pathlib.Path(folder, "sentence_bert_config.json")
    text = path.read_text()
    for key, value in {"model_args": {"attn_implementation": "eager"}, "unpad_inputs": False}.items():
        change(path, **{key: value})
        same(bench, encoded(bench, folder), wanted, key)
        same(bench, bench.peer(ENCODE, folder=folder, texts=TEXTS), wanted, f"the package's {key}")
    refused = {
        "max_seq_lenght": 12,
        "config_args": {"num_hidden_layers": 1},
        "processor_kwargs": {"model_max_length": 3},
        "tokenizer_name_or_path": "other",
        "query_expansion": {"strategy": "fixed", "length": 8},
        "transformer_task": "fill-mask",
    }
    for key, value in refused.items():
        path.write_text(text)
        change(path, **{key: value})
        bench.refused(bench.tandem("inspect", folder), 4, str(path), key)


@case("chat templates", peer="sentence-transformers")
def chat_templates(bench):
    """A text passes through the template where modality_config has `message`, which is refused, and in
    folders without modules.json, which is said; else it is encoded as it is."""
    template = "{% for m in messages %}the dog {{ m['content'] }} mat{% endfor %}"
    folder, rendered = made(bench, "model", LLAMA, chat_template=template)
    path = pathlib.Path(folder, "sentence_bert_config.json")
    settings = json.loads(path.read_text())
    bench.equal("message" in settings["modality_config"], True, "saved with the template")
    bench.refused(bench.tandem("inspect", folder), 4, str(path), "modality_config",
                  'no "message" in it')
    path.write_text(json.dumps({"max_seq_length": 30}))
    wanted = bench.peer(ENCODE, folder=folder, texts=TEXTS)
    bench.equal(cosine(wanted[0], rendered[0]) < 0.999, True, "the template changes embeddings")
    same(bench, encoded(bench, folder), wanted, "texts as they are")
    bench.says(bench.tandem("inspect", folder + "-plain"), "texts are encoded as they are",
               "chat template")


CROSS = """
import sys
sys.stdout = sys.stderr
import torch
from sentence_transformers import CrossEncoder
from transformers import AutoConfig, AutoModelForSequenceClassification
exec(make.replace("AutoModel.from_config(config)",
                  "AutoModelForSequenceClassification.from_config(config)"))
CrossEncoder(plain).save_pretrained(folder)
result = [float(score) for score in
          CrossEncoder(folder).predict(pairs, activation_fn=torch.nn.Identity())]
"""


@case("cross-encoders saved", peer="sentence-transformers")
def cross_encoders_saved(bench):
    """A folder that CrossEncoder.save_pretrained wrote scores pairs as there."""
    config = BERT | {"architectures": ["BertForSequenceClassification"], "num_labels": 1}
    folder = bench.work / "cross"
    pairs = [("the cat", "sat on the mat"), ("the dog", "the mat sat"), ("on", "cat")]
    wanted = bench.peer(CROSS, make=MAKE, config=config, folder=str(folder), chat_template="",
                        pairs=pairs)
    data = bench.lines("pairs.jsonl", *({"anchor": q, "positive": d} for q, d in pairs))
    scored = bench.work / "scored.jsonl"
    bench.works(bench.tandem("score", "--model", folder, "--pairs", data, "--as", "teacher",
                             "--output", scored))
    found = {row["anchor"]: row["score"] for row in map(json.loads, scored.open())}
    for (query, _), score in zip(pairs, wanted):
        bench.close(found[query], score, 1e-4, query)


@case("keys of pooling", peer="sentence-transformers")
def keys_of_pooling(bench):
    """A key that the Pooling module does not have fails there, and would mean the mean of all tokens."""
    folder, _ = made(bench, "model", BERT)
    path = pathlib.Path(folder, "1_Pooling", "config.json")
    path.write_text(json.dumps({"word_embedding_dimension": 16, "pooling_mode_cls_tokens": True}))
    bench.refused(bench.tandem("inspect", folder), 4, str(path), "pooling_mode_cls_token?")
