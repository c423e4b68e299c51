#include "import/splits/split_dataset.h"

#include <memory>
#include <utility>
#include <vector>

namespace tandem::import_data {

Holdout SplitDataset(const data::Dataset& dataset, const HoldoutOptions& holdout,
                     data::WriteOptions* options) {
  std::vector<std::pair<uint32_t, uint32_t>> positives;
  for (const data::JudgedQuery& judged : dataset.judged) {
    for (const data::Judgement& judgement : judged.judgements) {
      if (judgement.grade > 0) positives.emplace_back(judged.query, judgement.document);
    }
  }
  Holdout made = HoldOut({dataset.queries, positives, {}}, holdout);
  const auto of_query = std::make_shared<const std::vector<Split>>(made.of_query);
  options->split_of_query = [of_query](uint32_t query) { return SplitName((*of_query)[query]); };
  if (!holdout.by_documents) return made;
  const auto held_out = std::make_shared<std::vector<bool>>(dataset.documents.size());
  for (const auto& [query, document] : positives) {
    if ((*of_query)[query] != Split::kTrain) (*held_out)[document] = true;
  }
  options->leaves_out = [of_query, held_out](uint32_t query, const data::Judgement& judgement) {
    return (*of_query)[query] == Split::kTrain && judgement.grade <= 0 &&
           (*held_out)[judgement.document];
  };
  return made;
}

}  // namespace tandem::import_data
