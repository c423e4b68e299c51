#include "app/inspection.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/npy.h"
#include "data/qrels_file.h"
#include "data/texts_file.h"
#include "data/trec_run.h"
#include "weights/tower_folders.h"

namespace tandem::app {
namespace {

using Json = nlohmann::ordered_json;

Json TensorRow(const weights::TensorView& tensor) {
  return {{"name", tensor.name},
          {"dtype", weights::DtypeName(tensor.dtype)},
          {"shape", tensor.shape},
          {"bytes", tensor.bytes.size()}};
}

Json ModuleRow(const weights::HeadModule& module) {
  if (const auto* pooling = std::get_if<weights::Pooling>(&module)) {
    return {{"module", "Pooling"}, {"setting", weights::PoolingModeName(pooling->mode)}};
  }
  if (const auto* dense = std::get_if<weights::Dense>(&module)) {
    return {{"module", "Dense"},
            {"setting", fmt::format("{} -> {}, {}, {}", dense->in_features, dense->out_features,
                                    dense->bias ? "bias" : "no bias",
                                    weights::ActivationName(dense->activation))}};
  }
  return {{"module", "Normalize"}, {"setting", ""}};
}

Json EncoderRow(const weights::EncoderConfig& config) {
  return {{"layers", config.layers},
          {"hidden_size", config.hidden_size},
          {"heads", config.heads},
          {"intermediate_size", config.intermediate_size},
          {"activation", config.activation},
          {"vocabulary_size", config.vocabulary_size},
          {"max_positions", config.max_positions},
          {"hidden_dropout", config.hidden_dropout},
          {"attention_dropout", config.attention_dropout}};
}

// Tensors of each type.
Json TypeCounts(const weights::ModelFolder& folder) {
  Json counts = Json::object();
  for (const weights::EncoderTensor& tensor : folder.encoder_tensors) {
    const std::string name(weights::DtypeName(tensor.view->dtype));
    counts[name] = counts.value(name, 0) + 1;
  }
  return counts;
}

Json ModuleRows(const weights::ModelFolder& folder) {
  Json rows = Json::array();
  rows.push_back({{"module", "Transformer"}, {"setting", folder.config.model_type}});
  for (const weights::HeadModule& module : folder.head) rows.push_back(ModuleRow(module));
  return rows;
}

void AddCalibration(const weights::TandemFile& file, Json* found) {
  if (!file.calibration) return;
  (*found)["probability"] = {{"objective", file.calibration->objective},
                             {"scale", file.calibration->scale},
                             {"bias", file.calibration->bias},
                             {"similarity", file.calibration->similarity}};
}

// What tells two towers apart; the rest is in the inspection of their folders.
Json InspectTowers(const weights::TowerFolders& folders) {
  Json found = {{"kind", "model"}, {"towers", weights::TowersName(folders.file.towers)}};
  found["encoders"] = Json::array();
  found["modules"] = Json::array();
  int64_t parameters = 0;
  for (const auto& [name, folder] :
       {std::pair("query", &folders.query), std::pair("document", &*folders.document)}) {
    found["encoders"].push_back({{"folder", name},
                                 {"architecture", folder->config.model_type},
                                 {"layers", folder->config.layers},
                                 {"hidden_size", folder->config.hidden_size},
                                 {"parameters", folder->parameter_count()},
                                 {"max_tokens", folder->max_tokens.tokens}});
    for (const Json& row : ModuleRows(*folder)) {
      found["modules"].push_back(
          {{"folder", name}, {"module", row["module"]}, {"setting", row["setting"]}});
    }
    parameters += folder->parameter_count();
  }
  found["embedding_width"] = folders.query.embedding_width;
  found["parameters"] = parameters;
  found["similarity"] = weights::SimilarityName(folders.query.similarity);
  found["query_prompt"] = folders.query.query_prompt;
  found["document_prompt"] = folders.document->document_prompt;
  AddCalibration(folders.file, &found);
  return found;
}

Json InspectModel(const std::filesystem::path& path) {
  const weights::TowerFolders folders = weights::ReadTowerFolders(path);
  if (folders.document) return InspectTowers(folders);
  const weights::ModelFolder& folder = folders.query;
  Json found = {{"kind", "model"}, {"architecture", folder.config.model_type}};
  found["encoder"] = EncoderRow(folder.config);
  found["modules"] = ModuleRows(folder);
  found["embedding_width"] = folder.embedding_width;
  found["parameters"] = folder.parameter_count();
  found["encoder_tensors"] = TypeCounts(folder);
  found["max_tokens"] = folder.max_tokens.tokens;
  found["max_tokens_from"] = folder.max_tokens.source;
  found["similarity"] = weights::SimilarityName(folder.similarity);
  found["query_prompt"] = folder.query_prompt;
  found["document_prompt"] = folder.document_prompt;
  found["prompts"] = folder.prompts;
  found["default_prompt_name"] = folder.default_prompt_name;
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

Json InspectNpy(const std::filesystem::path& path) {
  const NpyMatrix matrix = ReadNpy(path);
  return {{"kind", "npy"}, {"rows", matrix.rows}, {"columns", matrix.columns}};
}

Json InspectTexts(const std::filesystem::path& path) {
  const data::Texts texts = data::ReadTexts(path, data::TextRole::kDocument);
  size_t bytes = 0;
  for (size_t i = 0; i < texts.size(); ++i) bytes += texts.text(i).size();
  return {{"kind", "texts"}, {"texts", texts.size()}, {"bytes_of_text", bytes}};
}

Json InspectRun(const std::filesystem::path& path) {
  const data::Run run = data::ReadTrecRun(path);
  size_t results = 0;
  for (const data::QueryResults& query : run.queries()) results += query.results.size();
  return {{"kind", "run"}, {"queries", run.queries().size()}, {"results", results}};
}

Json InspectJudgements(const std::filesystem::path& path) {
  const data::Qrels qrels = data::ReadQrels(path);
  std::map<double, size_t> grades;
  for (const data::QueryJudgements& query : qrels.queries()) {
    for (const data::GradedDocument& judgement : query.judgements) ++grades[judgement.grade];
  }
  Json per_grade = Json::array();
  for (const auto& [grade, count] : grades) {
    per_grade.push_back({{"grade", grade}, {"judgements", count}});
  }
  return {{"kind", "judgements"},
          {"queries", qrels.queries().size()},
          {"judgements", qrels.judgement_count()},
          {"grades", std::move(per_grade)}};
}

struct FileKind {
  std::string_view ending;
  Json (*inspect)(const std::filesystem::path& path);
};
constexpr FileKind kFileKinds[] = {
    {".safetensors", InspectSafetensors}, {".npy", InspectNpy},          {".jsonl", InspectTexts},
    {".jsonl.gz", InspectTexts},          {".trec", InspectRun},         {".run", InspectRun},
    {".tsv", InspectJudgements},          {".qrels", InspectJudgements},
};

}  // namespace

Json Inspect(const std::filesystem::path& path) {
  const std::string name = path.filename().native();
  if (!std::filesystem::is_directory(path)) {
    std::string endings;
    for (const FileKind& kind : kFileKinds) {
      if (name.ends_with(kind.ending)) return kind.inspect(path);
      endings += fmt::format("{}{}", endings.empty() ? "" : ", ", kind.ending);
    }
    if (std::filesystem::exists(path)) {
      throw UsageError(
          fmt::format("{}: the ending does not tell what the file holds; known endings are {}",
                      path.native(), endings));
    }
  }
  return InspectModel(path);
}

}  // namespace tandem::app
