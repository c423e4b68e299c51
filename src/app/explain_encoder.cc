#include "app/explain_encoder.h"

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

**Pooling** is of the folder's `1_Pooling/config.json`, whatever the architecture. A plain Hugging Face
folder (no `modules.json`) is pooled as sentence-transformers 6.2 does: by the last token where
`architectures` names a causal language model (`LlamaForCausalLM`) and `is_causal` is not false, by the
mean otherwise; a message says which. **Prompts** are those of `config_sentence_transformers.json`.

**Modules behind pooling** are Dense (with and without bias; Identity, Tanh, ReLU, GELU by the error
function, Sigmoid, SiLU), LayerNorm and Normalize, in any number and order. Dropout, which changes no
embedding, is left out, in training and in what is written too; a message says so. Router and Asym are
models of two encoders. All other modules of sentence-transformers 6.2 (StaticEmbedding, WordEmbeddings,
WordWeights, BoW, CNN, LSTM, WeightedLayerPooling, CLIPModel, those of sparse and multi-vector encoders) and
classes of a folder's own are errors that name them.

**Other files and keys beside these.**

| what a folder has | what happens |
|---|---|
| `sentence_bert_config.json`: `max_seq_length`, `do_lower_case`, `query_length`, `document_length` | followed |
| `transformer_task` other than `feature-extraction` (of a cross-encoder, `sequence-classification`); `processing_kwargs` for texts other than padding; `query_expansion`; `tokenizer_name_or_path`; `modality_config` that sends texts elsewhere than to the last layer's output, or through a chat template ("message"); arguments (`model_args`, `tokenizer_args`, `config_args`, ...) that may change an embedding; a key that sentence-transformers does not know | an error that names the key |
| `unpad_inputs`, arguments of loading, types and kernels (`torch_dtype`, `attn_implementation`, `trust_remote_code`, ...) | ignored: they change no embedding but by rounding |
| `config_sentence_transformers.json`: `prompts`, `default_prompt_name`, `similarity_fn_name` (cosine, dot), `truncate_dim` | followed; `model_type` other than `SentenceTransformer` and `CrossEncoder`, and other similarities, are errors |
| `requirements`, `__version__` | ignored: they are of Python packages |
| `preprocessor_config.json`, `processor_config.json`, `generation_config.json` | ignored: they are of images and sound, and of generated text |
| a chat template | ignored: a text is encoded as it is, as sentence-transformers does where `modules.json` is there and `modality_config` has no `message`. In a folder without `modules.json` its release 6.2 passes texts through the template; a warning says so |
| `adapter_config.json` | an error: an adapter is no whole model; `tandem merge` makes one |
| `onnx/`, `openvino/`, `tf_model.h5`, `flax_model.msgpack`, `pytorch_model.bin` | not read; where a pickle is all there is, an error says how to convert it |

**Prediction heads.** `model.head = true` in a recipe puts the prediction head of ModernBERT's task models
(for masked language modelling, for classification) behind pooling, with the weights that the base has:

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
(`tools/make_encoder_golden.py`, `tests/model/golden/encoders.json`), on texts of 1 token to the limit:
mean-pooled embeddings within 1e-5 of their norm in float32 and 1e-9 in float64; the gradient of a loss for
each parameter within 1e-4 and 1e-9 of its norm; the error of bf16 at most 1.5 times that of
transformers in bf16. In float64, transformers was made to compute in float64 what it otherwise always
computes in float32 (norms, softmax), and tables of rotary positions are float32 numbers, rounded
correctly. Attention was transformers' `eager`. ModernBERT's prediction head is compared in float32 and bf16, by
`tools/make_prediction_head_golden.py`. `tools/check_encoders.py` compares folders, read and written, with
sentence-transformers 6.2, plain ones and those with a prediction head too: within 1e-5.
)";

// EntryInfo holds views; the lines live as long as the program.
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
    text += fmt::format("\n## {}\n\nSource: {}. Tokenizers: {}.\n\n{}", architecture.name,
                        architecture.source, architecture.tokenizers, KeyTable(architecture));
  }
  return text;
}

}  // namespace tandem::app
