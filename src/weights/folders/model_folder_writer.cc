#include "weights/folders/model_folder_writer.h"

#include <fmt/format.h>

#include <cerrno>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/files/atomic_folder.h"
#include "base/files/files.h"
#include "base/json/json.h"
#include "weights/folders/keep_layers.h"
#include "weights/folders/tandem_file.h"
#include "weights/settings/settings_file.h"

namespace tandem::weights {
namespace {

// Files of tokenizers, and those that tell a model's terms of use.
constexpr const char* kCopiedFiles[] = {
    "tokenizer.json",  "tokenizer_config.json",
    "vocab.txt",       "special_tokens_map.json",
    "vocab.json",      "merges.txt",
    "spiece.model",    "sentencepiece.bpe.model",
    "tokenizer.model", "added_tokens.json",
    "LICENSE",         "LICENSE.txt",
    "LICENSE.md",      "NOTICE",
    "NOTICE.txt",
};

using Replacements = std::unordered_map<std::string, const TensorToWrite*>;

// Replacements by full name; each is taken out when it is used, so that what is left fits nothing.
Replacements ByName(const FolderChanges& changes) {
  Replacements by_name;
  for (const TensorToWrite& tensor : changes.tensors) {
    if (!by_name.emplace(tensor.name, &tensor).second) {
      throw ModelError("folder to write", tensor.name, "is replaced twice");
    }
  }
  return by_name;
}

// All tensors of `weights` but those of `dropped`, replaced where there is a replacement under
// prefix + name.
std::vector<TensorToWrite> Merge(const WeightFiles& weights, const std::string& prefix,
                                 Replacements* replacements,
                                 const std::set<const TensorView*>& dropped = {}) {
  std::vector<TensorToWrite> merged;
  for (const TensorView* tensor : weights.tensors()) {
    if (dropped.contains(tensor)) continue;
    merged.push_back(Unchanged(*tensor));
    const auto found = replacements->find(prefix + tensor->name);
    if (found == replacements->end()) continue;
    const TensorToWrite& replacement = *found->second;
    if (replacement.shape != tensor->shape || !IsComputable(replacement.dtype)) {
      throw ModelError(weights.FileOf(tensor->name).native(), tensor->name,
                       fmt::format("cannot be replaced by {} of shape {}; its shape is {}",
                                   DtypeName(replacement.dtype), ShapeText(replacement.shape),
                                   ShapeText(tensor->shape)));
    }
    merged.back().dtype = replacement.dtype;
    merged.back().bytes = replacement.bytes;
    merged.back().make = replacement.make;
    replacements->erase(found);
  }
  return merged;
}

// All tensors of a module that has no files yet.
std::vector<TensorToWrite> NewTensors(const HeadModule& module, Replacements* replacements) {
  std::vector<TensorToWrite> tensors;
  for (const auto& [name, shape] : ParametersOf(module)) {
    const std::string full_name = fmt::format("{}/{}", SourceOf(module)->folder, name);
    const auto found = replacements->find(full_name);
    if (found == replacements->end() || found->second->shape != shape) {
      throw ModelError("folder to write", full_name,
                       fmt::format("is not given in shape {}", ShapeText(shape)));
    }
    tensors.push_back(*found->second);
    tensors.back().name = name;
    replacements->erase(found);
  }
  return tensors;
}

std::string DtypeInConfig(Dtype dtype) {
  if (dtype == Dtype::kF16) return "float16";
  return dtype == Dtype::kBF16 ? "bfloat16" : "float32";
}

// The type that the encoder's tensors are to be read in, as written: their first one's, or float32
// where some have it (those that were trained beside frozen ones) and would be rounded otherwise.
Dtype WrittenDtype(const ModelFolder& source, const FolderChanges& changes) {
  std::unordered_map<std::string_view, Dtype> replaced;
  for (const TensorToWrite& tensor : changes.tensors) replaced[tensor.name] = tensor.dtype;
  Dtype dtype = source.encoder.tensors.front().view->dtype;
  for (const EncoderTensor& tensor : source.encoder.tensors) {
    const auto found = replaced.find(tensor.view->name);
    if (found == replaced.end()) continue;
    if (&tensor == source.encoder.tensors.data() || found->second == Dtype::kF32) {
      dtype = found->second;
    }
  }
  return dtype;
}

// The source's bytes, unless the encoder's type, direction or layers changed: readers load the type
// that it names.
std::string ConfigText(const ModelFolder& source, const FolderChanges& changes) {
  const std::filesystem::path path = source.encoder_path / "config.json";
  const Dtype dtype = WrittenDtype(source, changes);
  const bool new_dtype = dtype != source.encoder.tensors.front().view->dtype;
  if (!new_dtype && !source.is_causal && !source.kept_layers)
    return ReadModelFile(path, kMaxSettingsBytes);
  Json config = ReadToRewrite(path);
  if (new_dtype) config[config.contains("dtype") ? "dtype" : "torch_dtype"] = DtypeInConfig(dtype);
  if (source.is_causal) config["is_causal"] = *source.is_causal;
  if (source.kept_layers) SetLayers(source.encoder.layers_key, *source.kept_layers, &config);
  return config.Dump(2) + "\n";
}

// Folders are named as sentence-transformers names them: "1_Pooling", "2_Dense", "3_LayerNorm".
struct ModuleWriter {
  const std::filesystem::path& folder;
  int64_t hidden_size;
  Replacements* replacements;
  size_t index = 0;
  Json list = Json::array();

  std::filesystem::path Add(const std::string& kind, const std::string& relative) {
    list.push_back({{"idx", index},
                    {"name", std::to_string(index)},
                    {"path", relative},
                    {"type", "sentence_transformers.models." + kind}});
    return folder / relative;
  }
  std::filesystem::path AddNumbered(const std::string& kind) {
    ++index;
    return Add(kind, fmt::format("{}_{}", index, kind));
  }

  void operator()(const Pooling& pooling) {
    const std::filesystem::path path = AddNumbered("Pooling");
    MakeFolder(path);
    WriteFileAtomically(path / "config.json", PoolingConfigText(pooling, hidden_size));
  }

  // A module with parameters.
  void AddWithWeights(const std::string& kind, const Json& config, const HeadModule& module) {
    const std::filesystem::path path = AddNumbered(kind);
    MakeFolder(path);
    WriteFileAtomically(path / "config.json", config.Dump(2) + "\n");
    const ModuleSource& source = *SourceOf(module);
    if (source.weights == nullptr) {
      WriteSafetensors(path / "model.safetensors", NewTensors(module, replacements));
      return;
    }
    WriteSafetensors(path / "model.safetensors",
                     Merge(*source.weights, source.folder + "/", replacements),
                     source.weights->metadata());
  }

  void operator()(const Dense& dense) {
    AddWithWeights("Dense",
                   {{"in_features", dense.in_features},
                    {"out_features", dense.out_features},
                    {"bias", dense.bias},
                    {"activation_function", ActivationName(dense.activation)}},
                   dense);
  }

  void operator()(const LayerNorm& norm) {
    AddWithWeights("LayerNorm", {{"dimension", norm.dimension}}, norm);
  }

  void operator()(const Normalize&) { AddNumbered("Normalize"); }
};

void WriteModules(const ModelFolder& source, const std::filesystem::path& folder,
                  Replacements* replacements) {
  ModuleWriter writer{folder, source.encoder.hidden_size, replacements};
  writer.Add("Transformer", "");
  for (const HeadModule& module : source.head) std::visit(writer, module);
  WriteFileAtomically(folder / "modules.json", writer.list.Dump(2) + "\n");
}

// The source's prompts with what `changes` says; "query" and "document" are always among them, so
// that no reader has to guess.
std::map<std::string, std::string> PromptsOf(const ModelFolder& source,
                                             const FolderChanges& changes) {
  std::map<std::string, std::string> prompts = source.prompts;
  for (const auto& [name, text] : changes.task_prompts) prompts[name] = text;
  prompts["query"] = changes.query_prompt.value_or(source.query_prompt());
  prompts["document"] = changes.document_prompt.value_or(source.document_prompt());
  return prompts;
}

// The Transformer module's.
Json SentenceConfig(const ModelFolder& source, const FolderChanges& changes) {
  const TokenizerSettings& tokenizer = source.tokenizer;
  return {{"max_seq_length", changes.max_tokens.value_or(tokenizer.max_tokens.tokens)},
          {"do_lower_case", tokenizer.lower_case}};
}

void WriteSettings(const ModelFolder& source, const FolderChanges& changes, const Json& sentence,
                   const std::filesystem::path& folder) {
  WriteFileAtomically(folder / "sentence_bert_config.json", sentence.Dump(2) + "\n");
  Json settings;
  settings["prompts"] = PromptsOf(source, changes);
  settings["default_prompt_name"] =
      source.default_prompt_name.empty() ? Json(nullptr) : Json(source.default_prompt_name);
  settings["similarity_fn_name"] = SimilarityName(changes.similarity.value_or(source.similarity));
  const int64_t truncated = changes.truncate_dim.value_or(source.truncate_dim.value_or(0));
  if (truncated > 0) settings["truncate_dim"] = truncated;
  WriteFileAtomically(folder / kModelSettings, settings.Dump(2) + "\n");
}

void CopyFiles(const ModelFolder& source, const std::filesystem::path& folder) {
  for (const char* name : kCopiedFiles) {
    const std::filesystem::path from = std::filesystem::exists(source.encoder_path / name)
                                           ? source.encoder_path / name
                                           : source.path / name;
    if (!std::filesystem::is_regular_file(from)) continue;
    WriteFileAtomically(folder / name, ReadModelFile(from, kMaxTokenizerBytes));
  }
}

// "license: apache-2.0" of the source's own card; empty where it says none.
std::string LicenseOf(const ModelFolder& source) {
  const std::filesystem::path path = source.path / "README.md";
  if (!std::filesystem::is_regular_file(path)) return "";
  const std::string text = ReadModelFile(path, kMaxSettingsBytes);
  constexpr std::string_view kKey = "\nlicense:";
  const size_t end = text.find("\n---", 3);
  const size_t found = text.find(kKey);
  if (!text.starts_with("---\n") || end == std::string::npos || found >= end) return "";
  const size_t begin = found + kKey.size();
  std::string license = text.substr(begin, text.find('\n', begin) - begin);
  std::erase_if(license, [](char c) { return c == ' ' || c == '"' || c == '\'' || c == '\r'; });
  return license;
}

std::string CardText(const ModelFolder& source, const FolderChanges& changes,
                     const ModelCard& card) {
  CardSettings settings;
  settings.embedding_width = source.embedding_width;
  const size_t most = changes.max_tokens.value_or(source.tokenizer.max_tokens.tokens);
  settings.max_query_tokens = changes.max_query_tokens.value_or(most);
  settings.max_document_tokens = changes.max_document_tokens.value_or(most);
  settings.similarity = SimilarityName(changes.similarity.value_or(source.similarity));
  settings.pooling = PoolingText(PoolingOf(source));
  settings.license = LicenseOf(source);
  settings.prompts = !changes.query_prompt.value_or(source.query_prompt()).empty() ||
                     !changes.document_prompt.value_or(source.document_prompt()).empty();
  return ModelCardText(card, settings);
}

// `path` or a folder below it. Both exist.
bool IsInside(const std::filesystem::path& inner, const std::filesystem::path& path) {
  const std::filesystem::path relative =
      std::filesystem::canonical(inner).lexically_relative(std::filesystem::canonical(path));
  return !relative.empty() && *relative.begin() != "..";
}

}  // namespace

void CheckModelTarget(const ModelFolder& source, const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) return;
  if (!std::filesystem::is_directory(path)) {
    throw OutputError(path.native(), "cannot be written as a model folder", ENOTDIR);
  }
  if (IsInside(source.path, path)) {
    throw UsageError(
        fmt::format("{}: is the folder that the model comes from; choose another one to write to",
                    path.native()));
  }
  const bool model = std::filesystem::exists(path / "modules.json") ||
                     std::filesystem::exists(path / "config.json") ||
                     std::filesystem::exists(path / kTandemFile);
  if (!model && !std::filesystem::is_empty(path)) {
    throw UsageError(
        fmt::format("{}: exists and is no model folder; it is not replaced, choose another one",
                    path.native()));
  }
}

namespace {

void CheckFurtherFiles(const FolderChanges& changes) {
  for (const auto& [name, bytes] : changes.further_files) {
    if (name.empty() || name.find('/') != std::string::npos || name.starts_with('.')) {
      throw std::invalid_argument(fmt::format("'{}' is no name for a file of the folder", name));
    }
  }
}

}  // namespace

void WriteModelFolder(const ModelFolder& source, const FolderChanges& changes,
                      const ModelCard& card, const std::filesystem::path& path) {
  CheckModelTarget(source, path);
  CheckFurtherFiles(changes);
  AtomicFolder target(path);
  const std::filesystem::path& folder = target.staging();
  Replacements replacements = ByName(changes);
  WriteSafetensors(folder / "model.safetensors",
                   Merge(*source.weights, "", &replacements, source.dropped_tensors),
                   source.weights->metadata());
  WriteModules(source, folder, &replacements);
  if (!replacements.empty()) {
    throw ModelError(source.path.native(), replacements.begin()->first,
                     "the folder has no tensor of that name to replace");
  }
  WriteFileAtomically(folder / "config.json", ConfigText(source, changes));
  WriteSettings(source, changes, SentenceConfig(source, changes), folder);
  CopyFiles(source, folder);
  for (const auto& [name, bytes] : changes.further_files) {
    WriteFileAtomically(folder / name, bytes);
  }
  WriteFileAtomically(folder / "README.md", CardText(source, changes, card));
  target.Commit();
}

void WriteModulesAndSettings(const ModelFolder& source, const FolderChanges& changes,
                             const std::filesystem::path& path) {
  Replacements replacements = ByName(changes);
  WriteModules(source, path, &replacements);
  Json sentence = SentenceConfig(source, changes);
  if (changes.max_query_tokens) sentence["query_length"] = *changes.max_query_tokens;
  if (changes.max_document_tokens) sentence["document_length"] = *changes.max_document_tokens;
  WriteSettings(source, changes, sentence, path);
}

}  // namespace tandem::weights
