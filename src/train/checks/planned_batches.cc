#include "train/checks/planned_batches.h"

#include <algorithm>
#include <utility>

namespace tandem::train {
namespace {

int64_t TokensOf(const sampling::Batch& batch, const ExampleTexts& texts) {
  size_t tokens = 0;
  for (const uint32_t q : batch.queries) tokens += texts.queries.length(texts.query_texts[q]);
  for (const uint32_t d : batch.documents) tokens += texts.documents.length(d);
  return static_cast<int64_t>(tokens);
}

}  // namespace

void SeenTokens::Add(const TokenStore& texts, size_t text) {
  if (seen_texts_.size() < texts.size()) seen_texts_.resize(texts.size());
  if (seen_texts_[text]) return;
  seen_texts_[text] = true;
  ids_.clear();
  texts.Append(text, &ids_);
  for (const int32_t id : ids_) Mark(static_cast<size_t>(id));
}

void SeenTokens::Add(const SeenTokens& other) {
  for (size_t id = 0; id < other.tokens_.size(); ++id) {
    if (other.tokens_[id]) Mark(id);
  }
}

std::vector<int64_t> SeenTokens::Rows() const {
  std::vector<int64_t> rows;
  for (size_t id = 0; id < tokens_.size(); ++id) {
    if (tokens_[id]) rows.push_back(static_cast<int64_t>(id));
  }
  return rows;
}

void SeenTokens::Mark(size_t id) {
  if (tokens_.size() <= id) tokens_.resize(id + 1);
  tokens_[id] = true;
}

std::vector<int64_t> PlannedBatches::RowsOf(const model::DualEncoder& model,
                                            const std::string& name) const {
  if (!model.shared()) return (name.starts_with("query.") ? queries : documents).Rows();
  SeenTokens both = queries;
  both.Add(documents);
  return both.Rows();
}

PlannedBatches LookAtBatches(const Trainer& trainer, const RunPlan& plan, int64_t most) {
  if (trainer.miner) trainer.sampler->set_mined(trainer.miner->StandIn());
  const sampling::SamplerState state = trainer.sampler->State();
  const ExampleTexts& texts = trainer.inputs.texts;
  PlannedBatches batches;
  const int64_t all = plan.steps * trainer.recipe().train.accumulate;
  for (int64_t b = 0; b < std::min(all, most); ++b) {
    sampling::Batch batch = trainer.sampler->Next();
    for (const uint32_t q : batch.queries) {
      batches.queries.Add(texts.queries, texts.query_texts[q]);
    }
    for (const uint32_t d : batch.documents) batches.documents.Add(texts.documents, d);
    const int64_t tokens = TokensOf(batch, texts);
    if (tokens <= batches.largest_tokens) continue;
    batches.largest_tokens = tokens;
    batches.largest = std::move(batch);
  }
  trainer.sampler->Restore(state);
  return batches;
}

}  // namespace tandem::train
