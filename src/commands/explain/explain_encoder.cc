#include "commands/explain/explain_encoder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>

#include "weights/architecture.h"

namespace tandem::app {
namespace {

using weights::Architecture;
using weights::ConfigKeyText;

constexpr std::string_view kIntroduction = R"(# Models

```
tandem list encoders                # the architectures, one line each
tandem explain modernbert           # what is read of one
tandem inspect MODEL                # what a folder computes: layers, heads, windows, norms, limits
```

A model is a folder as sentence-transformers or transformers writes it: `config.json`,
`model.safetensors` (or shards and `model.safetensors.index.json`), the tokenizer's files, and
`modules.json` with the folders of pooling and further modules, where there are any. Nothing is
downloaded, and no code of a folder is run. Weights are F32, F16 or BF16; Tandem trains in F32, writes what
it trained in F32 whatever the base's type was (rounding it to BF16 would lose small steps), and says so in
`config.json`. What is frozen keeps its type.

| architecture | `model_type` | what it is |
|---|---|---|
)";

constexpr std::string_view kNotes = R"(
| what a folder has | what happens |
|---|---|
| another `model_type` | an error that names those of the table, and the nearest |
| `auto_map` (code in the folder) | a warning: the model is computed as its `model_type` says, as in transformers without `trust_remote_code` |
| `quantization_config` (GPTQ, AWQ, bitsandbytes) | an error: take the model that was quantised |
| tensors of another shape, fewer or more layers than `config.json` says | an error that names both |
| heads of other tasks, a pooler, a decoder beside T5's encoder | carried through: they are written as they were read |
| `is_causal: false` with a decoder | every token reads tokens on both sides; `model.is_causal` of a recipe changes it, and the written `config.json` says so |
| `attn_implementation` | ignored: attention is always computed exactly |
| padding tokens that a text writes out (`<pad>`), or a `pad_token_id` that is an ordinary token | they are read as any other token, as from a tokenizer; of RoBERTa's kin and MPNet they take no position, as in transformers |
| `model.safetensors.index.json` | lists the files of weights; their own headers say which tensor is where, as in transformers. A file that is missing or a tensor that is needed and nowhere is an error; a tensor of the index that is nowhere and not needed, a warning |
| a Git LFS pointer, an HTML page, an archive, a pickle or an empty file as weights, tokenizer or settings | an error that names it and what to do |
| NaN, Infinity and numbers beyond 64 bits in a file of settings, which Python writes | passed over where nobody reads the key; an error that names the key elsewhere |
| rotary scaling other than `linear` and `llama3` | an error |

**Tokenizers** are read as transformers 5.24 reads a folder. Which of its classes does so decide `tokenizer_class` of
`tokenizer_config.json` or else of `config.json`, and `model_type`; the class decides whether `tokenizer.json` counts as
it is, or only its vocabulary and merges:

| class | for | what it makes itself, whatever `tokenizer.json` says |
|---|---|---|
| `PreTrainedTokenizerFast`, `TokenizersBackend`, any unknown name; none with `llama` and `mistral` | ModernBERT and Mistral (whatever class of transformers is named), Llama 3 | nothing |
| `BertTokenizer`; the same: `DistilBert`, `Electra`, `LayoutLM`, `Lxmert`, `MobileBert`, `SqueezeBert` | BERT, DistilBERT | WordPiece of words up to 100 characters; BERT's normalizer by `do_lower_case` (true without the key), `strip_accents`, `tokenize_chinese_chars`; `cls_token` and `sep_token` around texts |
| `MPNetTokenizer` | MPNet | the same with MPNet's names (`<s>`, `</s>`), two `sep_token` between the texts of a pair |
| `RobertaTokenizer`; the same: `Bart`, `LED`, `Longformer`, `Mvp` | RoBERTa | byte-level words with `add_prefix_space` (false); no normalizer; `cls_token`, `sep_token` |
| `GPT2Tokenizer` | | byte-level words with `add_prefix_space` (false); no normalizer |
| `XLMRobertaTokenizer`, `CamembertTokenizer` | XLM-RoBERTa, CamemBERT | the file's character map alone as normalizer; words between white space, each after U+2581 (`add_prefix_space`: true); unknown: token 3, or `unk_token`; `bos_token`, `eos_token` |
| `T5Tokenizer` | T5 | the same without a choice; unknown: token 2; `eos_token` after texts; `extra_ids` (100) tokens `<extra_id_N>` |
| `AlbertTokenizer` | | the same; quotes, `keep_accents`, `do_lower_case` before the character map; unknown: token 1 |
| `LlamaTokenizer`, `Phi3Tokenizer`, unless `tokenizer.json` has a `ByteLevel` | Llama 2 | no normalizer; U+2581 before the text by `add_prefix_space` (true), `legacy` (false: before the first part alone); byte fallback |
| `Qwen2Tokenizer` (of `qwen2` whatever class is named) | Qwen2, Qwen3 | NFC; Qwen's pattern of words; `add_prefix_space` (false) |
| `GemmaTokenizer` | Gemma 3 | spaces become U+2581; byte fallback |
| another class that transformers knows | | an error; so are other values of the keys above, a model of another kind, and `null` for a token that the class needs |

"Fast" may follow each name. Where a class makes no special tokens around texts, those of `tokenizer.json` stand.

| key | class | what happens |
|---|---|---|
| `cls_token`, `sep_token`, `bos_token`, `eos_token`, `unk_token`, `pad_token`, `mask_token`, others in `_token`, `extra_special_tokens`, `additional_special_tokens`, and the class's own names of them | every | found in texts, added with the next free id where they are new; around texts where the class says so |
| `added_tokens_decoder` | every | its tokens are added in the order of their numbers. Where it is there, `special_tokens_map.json` and `added_tokens.json` are not read, and of classes that make parts the tokens of `tokenizer.json` do not count |
| `special_tokens_map.json`, `added_tokens.json` | every | otherwise they are laid over `tokenizer_config.json` |
| `split_special_tokens` | every | special tokens that stand in texts are text |
| `truncation_side`, or else `truncation.direction` of `tokenizer.json` | every | `left`: texts that are too long lose their beginning, in pairs too; `tandem inspect` says so |
| `model_max_length`, `max_len` | every | the length limit where `sentence_bert_config.json` has none. `truncation.max_length` of `tokenizer.json` is none |
| `model_input_names` | every | without `token_type_ids` (the default of all classes but `BertTokenizer`) pairs have token types of 0 |
| `do_lower_case`, `strip_accents`, `tokenize_chinese_chars`, `keep_accents`, `add_prefix_space`, `legacy`, `extra_ids` | those above | as above; without effect in the other classes |
| `add_bos_token`, `add_eos_token` | every | without effect beside a `tokenizer.json`, as in transformers 5 |
| `padding_side`, `clean_up_tokenization_spaces`, `trim_offsets`, `do_basic_tokenize`, `never_split`, `chat_template`, other keys | every | change no id |
| `auto_map` | every | the class that is named is used, no code |
| `init_inputs`, `fast_tokenizer_files`, `fix_mistral_regex` | every | an error |
| `processor_kwargs`, `tokenizer_args` of `sentence_bert_config.json` | every | an error for what could change ids |

A token that only these files name, and whose id the model has no row for, is an error in the text that has it, not
before. A folder without `config.json` has the class of `tokenizer_class`, or none. `vocab.txt` alone is read as
`BertTokenizer`, or as `MPNetTokenizer` where that is named. `tools/checks/check_tokenizer_settings.py` compares all
this with the package.

**Pooling** is of the folder's `1_Pooling/config.json`, whatever the architecture; a key there that
sentence-transformers does not know is an error. A plain Hugging Face
folder (no `modules.json`) is pooled as sentence-transformers 6.2 does: by the last token where
`architectures` names a causal language model (`LlamaForCausalLM`) and `is_causal` is not false, by the
mean otherwise; a message says which. **Prompts** are those of `config_sentence_transformers.json`.

**Modules after pooling** are Dense (with and without bias; Identity, Tanh, ReLU, GELU by the error
function, Sigmoid, SiLU), LayerNorm and Normalize, in any number and order. Dropout, which changes no
embedding, is left out, in training and in what is written too; a message says so. Router and Asym are
models of two encoders. All other modules of sentence-transformers 6.2 (StaticEmbedding, WordEmbeddings,
WordWeights, BoW, CNN, LSTM, WeightedLayerPooling, CLIPModel, those of sparse and multi-vector encoders) and
classes of a folder's own are errors that name them.

**Other files and keys beside these.**

| what a folder has | what happens |
|---|---|
| `sentence_bert_config.json`: `max_seq_length`, `do_lower_case`, `query_length`, `document_length` | followed |
| `transformer_task` other than `feature-extraction` (of a cross-encoder, `sequence-classification`); `processing_kwargs` for texts other than padding; `query_expansion`; `tokenizer_name_or_path`; `modality_config` that sends texts elsewhere than to the last layer's output (of a cross-encoder, the logits), or through a chat template ("message"); arguments (`model_args`, `tokenizer_args`, `config_args`, ...) that may change an embedding; a key that sentence-transformers does not know | an error that names the key |
| `unpad_inputs`, arguments of loading, types and kernels (`torch_dtype`, `attn_implementation`, `trust_remote_code`, ...) | ignored: they change no embedding but by rounding |
| `config_sentence_transformers.json`: `prompts`, `default_prompt_name`, `similarity_fn_name` (cosine, dot), `truncate_dim` | followed; `model_type` other than `SentenceTransformer` and `CrossEncoder`, and other similarities, are errors |
| `requirements`, `__version__` | ignored: they are of Python packages |
| `preprocessor_config.json`, `processor_config.json`, `generation_config.json` | ignored: they are of images and sound, and of generated text |
| a chat template | ignored: a text is encoded as it is, as sentence-transformers does where `modules.json` is there and `modality_config` has no `message`. In a folder without `modules.json` its release 6.2 passes texts through the template; a warning says so |
| `adapter_config.json` | an error: an adapter is no whole model; `tandem merge` makes one |
| `onnx/`, `openvino/`, `tf_model.h5`, `flax_model.msgpack`, `pytorch_model.bin` | not read; where a pickle is all there is, an error says how to convert it |

**Prediction heads.** `model.head = true` in a recipe puts the prediction head of ModernBERT's task models
(for masked language modelling, for classification) after pooling, with the weights that the base has:

| what the base has | what the head is |
|---|---|
| `head.dense.weight` [H, H], with `classifier_bias` `head.dense.bias` | a Dense module; its activation is `classifier_activation`: gelu, relu, silu or tanh |
| `head.norm.weight`, with `norm_bias` `head.norm.bias` | a LayerNorm module; without `norm_bias` its bias starts at 0. `norm_eps` must be 1e-5, which sentence-transformers' module always has |
| no `modules.json` | pooling as the classifiers do: `classifier_pooling`, cls or mean (cls without the key), unless `model.pooling` says otherwise |
| the head as modules already, as Tandem wrote them | they stay; nothing is added |
| no such tensors, or other Dense or LayerNorm modules | an error |

With this key a folder of a classifier (`ModernBertForSequenceClassification`, also one of
sentence-transformers' CrossEncoder) may be the base. The written folder has the head as modules
(`2_Dense`, `3_LayerNorm`), which sentence-transformers loads; the task model's own tensors beside the encoder's
are carried through as they were read.

**What was compared with what.** For each `model_type`, small encoders of odd and even sizes, whose
weights an integer formula gives, with transformers 5.23 on libtorch 2.15
(`tools/golden/make_encoder_golden.py`, `tests/model/golden/encoders.json`), on texts of 1 token to the limit:
mean-pooled embeddings within 1e-5 of their norm in float32 and 1e-9 in float64; the gradient of a loss for
each parameter within 1e-4 and 1e-9 of its norm; the error of bf16 at most 1.5 times that of
transformers in bf16. In float64, transformers was made to compute in float64 what it otherwise always
computes in float32 (norms, softmax), and tables of rotary positions are float32 numbers, rounded
correctly. Attention was transformers' `eager`. ModernBERT's prediction head is compared in float32 and bf16, by
`tools/golden/make_prediction_head_golden.py`. `tools/checks/check_encoders.py` compares folders, read and written, with
sentence-transformers 6.2, plain ones and those with a prediction head too: within 1e-5.
)";

// EntryInfo holds views of strings; those of an architecture live as long as the program.
struct Entry {
  config::EntryInfo info;
  const Architecture* architecture;
};

const std::deque<Entry>& Entries() {
  static const std::deque<Entry> entries = [] {
    std::deque<Entry> all;
    for (const Architecture* one : weights::Architectures()) {
      all.push_back(
          {{.name = one->name, .summary = one->summary, .source = one->source, .params = {}}, one});
    }
    return all;
  }();
  return entries;
}

std::string KeyList(const Architecture& architecture) {
  std::string text;
  for (const weights::ConfigKey& key : architecture.keys()) {
    const ConfigKeyText row = weights::TextOf(key);
    text += fmt::format("  {}: {}", row.name, row.meaning);
    if (!row.range.empty()) text += fmt::format("; {}", row.range);
    if (!row.fallback.empty()) {
      text +=
          row.fallback == "required" ? "; required" : fmt::format("; without it {}", row.fallback);
    }
    text += "\n";
  }
  return text;
}

std::string Details(const config::EntryInfo& entry) {
  const auto found = std::find_if(Entries().begin(), Entries().end(),
                                  [&](const Entry& one) { return &one.info == &entry; });
  const Architecture& architecture = *found->architecture;
  return fmt::format("model_type: {}\ntokenizers: {}\nread from config.json:\n{}",
                     fmt::join(architecture.model_types, ", "), architecture.tokenizers,
                     KeyList(architecture));
}

std::string KeyTable(const Architecture& architecture) {
  std::string text = "| key | what it is | range | without it |\n|---|---|---|---|\n";
  for (const weights::ConfigKey& key : architecture.keys()) {
    const ConfigKeyText row = weights::TextOf(key);
    text +=
        fmt::format("| `{}` | {} | {} | {} |\n", row.name, row.meaning, row.range, row.fallback);
  }
  return text;
}

}  // namespace

config::Catalogue EncoderCatalogue() {
  config::Catalogue catalogue{.name = "encoders",
                              .entry = "encoder",
                              .table = "",
                              .summary = "architectures of model.base, by config.json's model_type",
                              .details = Details};
  for (const Entry& entry : Entries()) catalogue.entries.push_back(&entry.info);
  return catalogue;
}

std::string EncoderReference() {
  std::string text(kIntroduction);
  for (const Entry& entry : Entries()) {
    text += fmt::format("| [{0}](#{0}) | `{1}` | {2} |\n", entry.info.name,
                        fmt::join(entry.architecture->model_types, "`, `"), entry.info.summary);
  }
  text += kNotes;
  for (const Entry& entry : Entries()) {
    const Architecture& architecture = *entry.architecture;
    text += fmt::format("\n## {}\n\nSource: {}.\nTokenizers: {}.\n\n{}", architecture.name,
                        architecture.source, architecture.tokenizers, KeyTable(architecture));
  }
  return text;
}

}  // namespace tandem::app
