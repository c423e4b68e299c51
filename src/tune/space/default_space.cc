#include "tune/space/default_space.h"

#include <algorithm>
#include <set>
#include <utility>

namespace tandem::tune {
namespace {

using config::SearchKey;

// Of fewer queries, leaving pairs out costs more than it saves (OPERA prunes sets of 5,500 and
// more).
constexpr size_t kLeastQueriesToPrune = 5000;
// Ranks up to 200 of a smaller corpus are hardly hard.
constexpr size_t kLeastDocumentsToMine = 2000;

SearchKey List(std::string path, std::vector<std::string> values) {
  return {.path = std::move(path), .values = std::move(values)};
}

void AddObjectives(const DataKind& kind, std::vector<SearchKey>* keys) {
  if (kind.taught) {
    keys->push_back(List("objective.name", {"\"kl_distillation\"", "\"margin_mse\""}));
    keys->push_back(List("objective.temperature", {"0.02", "0.05", "0.1"}));
    return;
  }
  keys->push_back(List("objective.temperature", {"0.01", "0.02", "0.05"}));
  if (!kind.graded) {
    keys->push_back(List("objective.name", {"\"infonce\"", "\"mann_whitney\"", "\"samtone\""}));
    return;
  }
  keys->push_back(
      List("objective.name", {"\"bixse\"", "\"infonce\"", "\"lambda_loss\"", "\"soft_infonce\""}));
  keys->push_back(List("objective.scale", {"10.0", "20.0", "40.0"}));
}

void AddNegatives(const config::Recipe& recipe, const DataKind& kind,
                  std::vector<SearchKey>* keys) {
  if (kind.taught) return;  // its documents are those that the teacher scored
  if (kind.negatives) keys->push_back(List("data.negatives", {"1", "3", "7"}));
  if (kind.documents < kLeastDocumentsToMine || recipe.mining.enabled()) return;
  keys->push_back(List("mining.every", {"", "\"100%\""}));  // not at all, or once before training
  keys->push_back(List("mining.range", {"\"10:100\"", "\"30:200\""}));
}

}  // namespace

DataKind KindOf(const config::Recipe& recipe, const train::RunData& data, bool taught) {
  DataKind kind{
      .taught = taught, .queries = data.training.size(), .documents = data.set.documents.size()};
  std::set<double> grades;
  for (const uint32_t example : data.training) {
    for (const auto* judgements :
         {&data.set.examples[example].positives, &data.set.examples[example].others}) {
      for (const data::Judgement& judgement : *judgements) grades.insert(judgement.grade);
    }
  }
  kind.negatives = grades.contains(0);
  const bool in_scale = recipe.data.grade_scale.has_value() ||
                        (!grades.empty() && *grades.begin() >= 0 && *grades.rbegin() <= 1);
  kind.graded = grades.size() > 2 && in_scale && !recipe.data.binarize_at;
  return kind;
}

std::vector<SearchKey> DefaultKeys(const config::Recipe& recipe, const DataKind& kind) {
  std::vector<SearchKey> keys;
  AddObjectives(kind, &keys);
  AddNegatives(recipe, kind, &keys);
  keys.push_back({.path = "optimizer.learning_rate", .range = {5e-6, 5e-4}, .logarithmic = true});
  if (recipe.train.epochs) keys.push_back(List("train.epochs", {"1.0", "2.0", "4.0"}));
  if (recipe.model.train == "all" && recipe.model.freeze.empty()) {
    keys.push_back(List("model.train", {"\"all\"", "\"lora\""}));
  }
  if (kind.queries >= kLeastQueriesToPrune && recipe.sampling.name == "uniform") {
    keys.push_back(List("sampling.name", {"\"static_pruning\"", "\"uniform\""}));
    keys.push_back(List("sampling.keep", {"0.25", "0.5"}));
  }
  std::sort(keys.begin(), keys.end(),
            [](const SearchKey& a, const SearchKey& b) { return a.path < b.path; });
  return keys;
}

std::string KindText(const DataKind& kind) {
  if (kind.taught) return "a teacher's scores";
  if (kind.graded) return "graded judgements";
  return kind.negatives ? "pairs with judged negatives" : "pairs";
}

}  // namespace tandem::tune
