"""What the files beside tokenizer.json say, and patterns of Replace."""
import json
import pathlib
import shutil

from .case import case

TEXTS = ["Hello CAF\u00c9 na\u00efve", "\u4e2d\u56fd x\u4e2dy", "a [MASK] b [NEW] new", " a\u00df  b ",
         "$5 + 3\u00b2 = x_1!", "one two three four five six seven eight nine ten", ""]

PACKAGE = """
from transformers import AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained(folder)
options = {"truncation": True, "max_length": length} if length else {}
result = [tokenizer(text, **options)["input_ids"] for text in texts]
"""


def changed(bench, name, **files):
    """The model's folder with other JSON files, without its weights."""
    model, folder = pathlib.Path(bench.model()), bench.work / name
    shutil.copytree(model, folder, ignore=shutil.ignore_patterns("*.safetensors"))
    for file, change in files.items():
        path = folder / (file + ".json")
        content = json.loads(path.read_text()) if path.exists() else {}
        path.write_text(json.dumps(change(content)))
    return str(folder)


def compare(bench, folder, length=0):
    ended = bench.works(bench.tandem("tokenize", "--model", folder, "--max-length", length,
                                     stdin="".join(t + "\n" for t in TEXTS).encode()))
    ids = [[int(i) for i in line.split()] for line in ended.stdout.split("\n")[:-1]]
    bench.equal(ids, bench.peer(PACKAGE, folder=folder, length=length, texts=TEXTS), folder)


def config_case(bench, **settings):
    compare(bench, changed(bench, "model", tokenizer_config=lambda c: c | settings))


@case("do_lower_case of tokenizer_config.json", peer="transformers")
def do_lower_case(bench):
    "BertTokenizer keeps upper case where its file says so, though tokenizer.json lowers it."
    config_case(bench, do_lower_case=False)


@case("strip_accents of tokenizer_config.json", peer="transformers")
def strip_accents(bench):
    "BertTokenizer keeps accents where its file says so."
    config_case(bench, strip_accents=False)


@case("tokenize_chinese_chars of tokenizer_config.json", peer="transformers")
def tokenize_chinese_chars(bench):
    "BertTokenizer leaves Chinese characters together where its file says so."
    config_case(bench, tokenize_chinese_chars=False)


@case("a class that reads tokenizer.json as it is", peer="transformers")
def class_of_the_file(bench):
    "PreTrainedTokenizerFast looks at none of BERT's settings."
    config_case(bench, do_lower_case=False, tokenizer_class="PreTrainedTokenizerFast")


@case("BertTokenizer lower-cases without do_lower_case", peer="transformers")
def class_without_key(bench):
    "BertTokenizer lower-cases though tokenizer.json does not, where no file says otherwise."
    def cased(tokenizer):
        tokenizer["normalizer"]["lowercase"] = False
        return tokenizer
    compare(bench, changed(bench, "model", tokenizer=cased, tokenizer_config=lambda c: {}))


@case("special tokens of the files beside tokenizer.json", peer="transformers")
def additional_special_tokens(bench):
    "Tokens that tokenizer_config.json alone names are found in texts."
    compare(bench, changed(bench, "additional", tokenizer_config=lambda c: c | {
        "additional_special_tokens": ["[NEW]"]}))
    token = {"content": "new", "lstrip": True, "rstrip": False, "single_word": True,
             "normalized": False, "special": False}
    compare(bench, changed(bench, "decoder", tokenizer_config=lambda c: c | {
        "added_tokens_decoder": {"30522": token}}))
    compare(bench, changed(bench, "map", special_tokens_map=lambda c: c | {"cls_token": "new"}))


@case("truncation side left", peer="transformers")
def truncation_side(bench):
    "Texts that are too long lose their beginning, whichever file says so."
    compare(bench, changed(bench, "config", tokenizer_config=lambda c: c | {
        "truncation_side": "left"}), 6)
    side = {"direction": "Left", "max_length": 9, "strategy": "LongestFirst", "stride": 0}
    compare(bench, changed(bench, "json", tokenizer=lambda c: c | {"truncation": side}), 6)


@case("regular expressions of Replace", peer="transformers")
def replace_patterns(bench):
    "A Replace may look for any pattern that both engines understand alike."
    for i, pattern in enumerate(["\\p{S}", "\\d", "[^A-Za-z0-9 ]", "\\s{2,}|[\\n\\t]", "\\p{Lu}(?=\\p{Lu})"]):
        stages = [{"type": "Replace", "pattern": {"Regex": pattern}, "content": "-"},
                  {"type": "Lowercase"}]
        folder = changed(bench, str(i), tokenizer=lambda c: c | {
            "normalizer": {"type": "Sequence", "normalizers": stages}},
            tokenizer_config=lambda c: {"tokenizer_class": "PreTrainedTokenizerFast"})
        compare(bench, folder)


@case("the length of tokenizer.json's truncation", peer="sentence-transformers")
def length_of_truncation(bench):
    "truncation.max_length of tokenizer.json is no limit: the positions of config.json are."
    folder = changed(bench, "model", tokenizer_config=lambda c: {"tokenizer_class": "BertTokenizer"},
                     sentence_bert_config=lambda c: {})
    text = "a " * 300
    ended = bench.works(bench.tandem("tokenize", "--model", folder, stdin=text.encode() + b"\n"))
    bench.equal(len(ended.stdout.split()), 302, "tokens of a text of 300 words")


@case("tokenizer classes that are not followed")
def other_classes(bench):
    "A class of transformers that makes a tokenizer by other rules is named, with the way out."
    folder = changed(bench, "model", tokenizer_config=lambda c: c | {
        "tokenizer_class": "DebertaV2Tokenizer"})
    bench.refused(bench.tandem("tokenize", "--model", folder), 4, "tokenizer_config.json",
                  "tokenizer_class: DebertaV2Tokenizer is not supported", "PreTrainedTokenizerFast")


@case("arguments of the tokenizer in sentence_bert_config.json")
def tokenizer_arguments(bench):
    "They count more than the tokenizer's files for sentence-transformers, and are refused."
    folder = changed(bench, "model", sentence_bert_config=lambda c: c | {
        "processor_kwargs": {"truncation_side": "left"}})
    bench.refused(bench.tandem("tokenize", "--model", folder), 4, "sentence_bert_config.json",
                  "processor_kwargs", "truncation_side")
