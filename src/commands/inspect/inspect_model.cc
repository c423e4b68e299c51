// Inspects model folders and weights files for `tandem inspect`.

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/json/json.h"
#include "commands/inspect/inspections.h"
#include "text/load/known_files.h"
#include "weights/folders/cross_encoder_folder.h"
#include "weights/folders/tower_folders.h"

namespace tandem::app {
namespace {

Json TensorRow(const weights::TensorView& tensor) {
  return {{"name", tensor.name},
          {"dtype", weights::DtypeName(tensor.dtype)},
          {"shape", tensor.shape},
          {"bytes", tensor.bytes.size()}};
}

Json ModuleRow(const weights::HeadModule& module) {
  if (const auto* pooling = std::get_if<weights::Pooling>(&module)) {
    return {{"module", "Pooling"}, {"setting", weights::PoolingText(*pooling)}};
  }
  if (const auto* dense = std::get_if<weights::Dense>(&module)) {
    return {{"module", "Dense"},
            {"setting", fmt::format("{} -> {}, {}, {}", dense->in_features, dense->out_features,
                                    dense->bias ? "bias" : "no bias",
                                    weights::ActivationName(dense->activation))}};
  }
  if (const auto* norm = std::get_if<weights::LayerNorm>(&module)) {
    return {{"module", "LayerNorm"}, {"setting", fmt::format("{}", norm->dimension)}};
  }
  return {{"module", "Normalize"}, {"setting", ""}};
}

Json RateOf(const std::optional<double>& rate) { return rate ? Json(*rate) : Json("none"); }

Json EncoderRow(const weights::EncoderSpec& spec) {
  const weights::DropoutSpec& dropout = spec.dropout;
  Json row = {{"layers", spec.layers.size()},
              {"hidden_size", spec.hidden_size},
              {"heads", spec.heads},
              {"key_value_heads", spec.key_value_heads},
              {"head_width", spec.head_width},
              {"intermediate_size", spec.intermediate_size},
              {"gated", spec.gated},
              {"activation", weights::HiddenActivationName(spec.activation)},
              {"norm", weights::NormText(spec)},
              {"vocabulary_size", spec.vocabulary_size},
              {"max_positions", spec.max_positions},
              {"hidden_dropout", RateOf(dropout.feed_forward_output)},
              {"attention_dropout", RateOf(dropout.attention)}};
  // Only some architectures have a separate rate at these places.
  if (dropout.attention_output != dropout.feed_forward_output) {
    row["attention_output_dropout"] = RateOf(dropout.attention_output);
  }
  if (dropout.inner) row["inner_dropout"] = *dropout.inner;
  if (dropout.final) row["final_dropout"] = *dropout.final;
  return row;
}

// Returns runs of consecutive layers with the same attention: "0-4", and its kind.
Json AttentionRows(const weights::EncoderSpec& spec) {
  Json rows = Json::array();
  for (size_t i = 0; i < spec.layers.size();) {
    const std::string text = weights::AttentionText(spec, spec.layers[i].attention);
    size_t end = i + 1;
    while (end < spec.layers.size() &&
           weights::AttentionText(spec, spec.layers[end].attention) == text) {
      ++end;
    }
    rows.push_back(
        {{"layers", end - i == 1 ? fmt::format("{}", i) : fmt::format("{}-{}", i, end - 1)},
         {"attention", text}});
    i = end;
  }
  return rows;
}

// Counts the tensors of each type.
Json TypeCounts(const weights::EncoderSpec& encoder) {
  Json counts = Json::object();
  for (const weights::EncoderTensor& tensor : encoder.tensors) {
    const std::string name(weights::DtypeName(tensor.view->dtype));
    counts[name] = counts.value(name, 0) + 1;
  }
  return counts;
}

Json ModuleRows(const weights::ModelFolder& folder) {
  Json rows = Json::array();
  rows.push_back({{"module", "Transformer"}, {"setting", folder.encoder.model_type}});
  for (const weights::HeadModule& module : folder.head) rows.push_back(ModuleRow(module));
  return rows;
}

// Adds the length limits of tandem.json, which override those of every other file.
void AddLengths(const weights::TandemFile& file, Json* found) {
  if (file.max_query_tokens) (*found)["max_query_tokens"] = *file.max_query_tokens;
  if (file.max_document_tokens) (*found)["max_document_tokens"] = *file.max_document_tokens;
}

// Adds the width to which embeddings are cut, unless the caller asks for another.
void AddTruncation(const weights::ModelFolder& folder, Json* found) {
  if (folder.truncate_dim) (*found)["truncate_dim"] = *folder.truncate_dim;
}

// Adds where the run of the model was stopped.
void AddStopped(const weights::TandemFile& file, Json* found) {
  if (file.stopped) {
    (*found)["stopped"] = weights::StoppedText(*file.stopped) + "; the run is not finished";
  }
}

void AddCalibration(const weights::TandemFile& file, Json* found) {
  if (!file.calibration) return;
  const weights::Calibration& calibration = *file.calibration;
  Json row = {{"method", weights::CalibrationMethodName(calibration.method)}};
  if (calibration.method == weights::CalibrationMethod::kObjective) {
    row["objective"] = calibration.objective;
  }
  if (calibration.method == weights::CalibrationMethod::kIsotonic) {
    row["scores"] = calibration.scores.size();
    row["least_probability"] = calibration.probabilities.front();
    row["greatest_probability"] = calibration.probabilities.back();
  } else {
    row["scale"] = calibration.scale;
    row["bias"] = calibration.bias;
  }
  row["similarity"] = calibration.similarity;
  if (!calibration.fitted_on.empty()) row["fitted_on"] = calibration.fitted_on;
  (*found)["probability"] = std::move(row);
  if (!calibration.replaced) return;
  (*found)["learned"] = {{"objective", calibration.replaced->objective},
                         {"scale", calibration.replaced->scale},
                         {"bias", calibration.replaced->bias}};
}

// Loads the tokenizer, so that a model with a missing or broken one is an error here, as it is in
// training.
Json TokenizerRow(const weights::TokenizerSettings& settings, const weights::EncoderSpec& encoder,
                  const std::filesystem::path& encoder_path) {
  const auto rows = static_cast<size_t>(encoder.vocabulary_size);
  const std::unique_ptr<const text::Tokenizer> tokenizer = text::LoadTokenizer(
      settings.folder, {.lower_case = settings.lower_case, .rows = rows}, settings.KnownFiles());
  if (tokenizer->vocabulary_size() > rows) {
    throw ModelError(
        encoder_path.native(), "",
        fmt::format("its tokenizer has {} tokens and its word embeddings {} rows; tokenizer and "
                    "weights are of different models",
                    tokenizer->vocabulary_size(), rows));
  }
  Json row = {{"tokens", tokenizer->vocabulary_size()},
              {"special_tokens", tokenizer->special_tokens()}};
  if (tokenizer->cuts_left()) row["truncation_side"] = "left";
  return row;
}

Json TokenizerRow(const weights::ModelFolder& folder) {
  return TokenizerRow(folder.tokenizer, folder.encoder, folder.encoder_path);
}

// Returns all prompts that are not empty, by name.
Json PromptRows(const weights::ModelFolder& folder) {
  Json prompts = Json::object();
  for (const auto& [name, text] : folder.prompts) {
    if (!text.empty()) prompts[name] = text;
  }
  return prompts;
}

// Describes only how the two encoders of a model are arranged; the inspection of their folders
// shows the rest.
Json InspectTowers(const weights::TowerFolders& folders) {
  Json found = {{"kind", "model"}, {"towers", weights::TowersName(folders.file.towers)}};
  found["encoders"] = Json::array();
  found["modules"] = Json::array();
  int64_t parameters = 0;
  for (const auto& [name, folder] :
       {std::pair("query", &folders.query), std::pair("document", &*folders.document)}) {
    found["encoders"].push_back({{"folder", name},
                                 {"architecture", folder->encoder.model_type},
                                 {"layers", folder->encoder.layers.size()},
                                 {"hidden_size", folder->encoder.hidden_size},
                                 {"parameters", folder->parameter_count()},
                                 {"tokens_known", TokenizerRow(*folder)["tokens"]},
                                 {"max_tokens", folder->tokenizer.max_tokens.tokens}});
    for (const Json& row : ModuleRows(*folder)) {
      found["modules"].push_back(
          {{"folder", name}, {"module", row["module"]}, {"setting", row["setting"]}});
    }
    parameters += folder->parameter_count();
  }
  found["embedding_width"] = folders.query.embedding_width;
  AddTruncation(folders.query, &found);
  found["parameters"] = parameters;
  AddLengths(folders.file, &found);
  found["similarity"] = weights::SimilarityName(folders.query.similarity);
  found["query_prompt"] = folders.query.query_prompt();
  found["document_prompt"] = folders.document->document_prompt();
  found["prompts"] = PromptRows(folders.query);
  AddStopped(folders.file, &found);
  AddCalibration(folders.file, &found);
  return found;
}

// Throws if the tokenizer is missing or does not fit, as TokenizerRow does.
Json InspectCrossEncoder(const weights::ModelFiles& files) {
  const weights::CrossEncoderFolder folder = weights::ReadCrossEncoderFolder(files);
  const weights::ClassificationSpec& head = folder.head;
  Json found = {{"kind", "cross_encoder"}, {"architecture", folder.encoder.model_type}};
  found["encoder"] = EncoderRow(folder.encoder);
  found["head"] = {{"class", head.class_name},
                   {"pooling", head.mean ? "mean" : "cls"},
                   {"hidden_activation", head.activation},
                   {"norm", !head.norm.name.empty()}};
  found["labels"] = head.labels;
  found["activation"] = folder.activation;
  found["parameters"] = folder.parameter_count();
  found["encoder_tensors"] = TypeCounts(folder.encoder);
  found["tokenizer"] = TokenizerRow(folder.tokenizer, folder.encoder, folder.encoder_path);
  found["max_tokens"] = folder.max_tokens;
  found["max_tokens_from"] = folder.tokenizer.max_tokens.source;
  found["token_types"] = folder.token_types;
  found["lower_case"] = folder.tokenizer.lower_case;
  found["prompt"] = folder.prompt;
  return found;
}

}  // namespace

Json InspectModel(const std::filesystem::path& path) {
  const weights::ModelFiles files(path);
  if (weights::IsCrossEncoder(files)) return InspectCrossEncoder(files);
  const weights::TowerFolders folders = weights::ReadTowerFolders(files);
  weights::WarnOfUnusedDocumentPrompt(folders.document ? *folders.document : folders.query);
  if (folders.document) return InspectTowers(folders);
  const weights::ModelFolder& folder = folders.query;
  Json found = {{"kind", "model"}, {"architecture", folder.encoder.model_type}};
  found["encoder"] = EncoderRow(folder.encoder);
  found["attention"] = AttentionRows(folder.encoder);
  found["modules"] = ModuleRows(folder);
  found["embedding_width"] = folder.embedding_width;
  AddTruncation(folder, &found);
  found["parameters"] = folder.parameter_count();
  found["encoder_tensors"] = TypeCounts(folder.encoder);
  found["tokenizer"] = TokenizerRow(folder);
  found["max_tokens"] = folder.tokenizer.max_tokens.tokens;
  found["max_tokens_from"] = folder.tokenizer.max_tokens.source;
  AddLengths(folders.file, &found);
  found["lower_case"] = folder.tokenizer.lower_case;
  found["similarity"] = weights::SimilarityName(folder.similarity);
  found["query_prompt"] = folder.query_prompt();
  found["document_prompt"] = folder.document_prompt();
  found["prompts"] = PromptRows(folder);
  found["default_prompt_name"] = folder.default_prompt_name;
  AddStopped(folders.file, &found);
  AddCalibration(folders.file, &found);
  found["carried_tensors"] = Json::array();
  for (const weights::TensorView* tensor : folder.carried_tensors) {
    found["carried_tensors"].push_back(TensorRow(*tensor));
  }
  return found;
}

Json InspectSafetensors(const std::filesystem::path& path) {
  const weights::SafetensorsFile file(path);
  size_t elements = 0;
  Json tensors = Json::array();
  for (const weights::TensorView& tensor : file.tensors()) {
    elements += tensor.elements();
    tensors.push_back(TensorRow(tensor));
  }
  return {{"kind", "safetensors"},
          {"metadata", file.metadata()},
          {"elements", elements},
          {"tensors", std::move(tensors)}};
}

}  // namespace tandem::app
