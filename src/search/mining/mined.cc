#include "search/mining/mined.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tandem::search {
namespace {

bool Holds(std::span<const uint32_t> rows, uint32_t row) {
  return std::binary_search(rows.begin(), rows.end(), row);
}

data::Judgement WithoutScore(data::Judgement judgement) {
  judgement.score = data::kNoScore;
  return judgement;
}

}  // namespace

float LowestPositive(const MiningTask& task, const Mined& mined, size_t query) {
  const auto scores = std::span(mined.positive_scores)
                          .subspan(task.positives.start(query), task.positives[query].size());
  return scores.empty() ? -std::numeric_limits<float>::infinity()
                        : *std::min_element(scores.begin(), scores.end());
}

Mined NothingMined(const MiningTask& task) {
  Mined mined;
  mined.queries.resize(task.query_of.size());
  mined.positive_scores.assign(task.positives.values(), -std::numeric_limits<float>::infinity());
  return mined;
}

size_t HitsNeeded(const MiningTask& task, const MiningRules& rules, size_t query) {
  const size_t documents = task.document_of.size();
  const size_t others = task.irrelevant[query].empty() ? rules.Depth() : rules.ranks.end;
  return std::min(std::min(others, documents) + task.relevant[query].size(), documents);
}

void MineQuery(const MiningTask& task, const MiningRules& rules, size_t query,
               std::span<const Hit> hits, Mined* mined) {
  MinedQuery& result = mined->queries[query];
  const float lowest_positive = LowestPositive(task, *mined, query);
  const bool judged = !task.irrelevant[query].empty();
  std::vector<Hit> candidates;
  size_t rank = 0;
  for (const Hit& hit : hits) {
    if (rank == rules.ranks.end) break;
    const bool in_range = rank >= rules.ranks.begin;
    if (Holds(task.relevant[query], hit.document)) {
      if (judged && in_range && Holds(task.positives[query], hit.document)) {
        ++result.positives_in_range;
      }
      continue;
    }
    ++rank;
    if (judged && in_range && Holds(task.irrelevant[query], hit.document))
      ++result.irrelevant_in_range;
    if (KeepsMargins(rules, hit.score, lowest_positive)) {
      candidates.push_back(hit);
    } else {
      ++result.left_out;
    }
  }
  result.negatives = Choose(rules, static_cast<uint32_t>(query), candidates);
}

std::optional<double> MiningSummary::FalseNegativeRate() const {
  if (irrelevant_in_range == 0) return std::nullopt;
  return static_cast<double>(positives_in_range) /
         static_cast<double>(positives_in_range + irrelevant_in_range);
}

MiningSummary Summarize(const MiningRules& rules, const Mined& mined) {
  MiningSummary sums{.queries = mined.queries.size()};
  for (const MinedQuery& query : mined.queries) {
    sums.full += query.negatives.size() == rules.negatives;
    sums.without += query.negatives.empty();
    sums.negatives += query.negatives.size();
    for (const Hit& hit : query.negatives) sums.negative_score += hit.score;
    sums.left_out += query.left_out;
    sums.positives_in_range += query.positives_in_range;
    sums.irrelevant_in_range += query.irrelevant_in_range;
  }
  for (const float score : mined.positive_scores) {
    if (std::isfinite(score)) {
      ++sums.positives;
      sums.positive_score += score;
    } else {
      ++sums.unscored_positives;
    }
  }
  if (sums.negatives > 0) sums.negative_score /= static_cast<double>(sums.negatives);
  if (sums.positives > 0) sums.positive_score /= static_cast<double>(sums.positives);
  return sums;
}

data::Dataset WithMined(const data::TrainingSet& set, const MiningTask& task, const Mined& mined,
                        std::string query_prompt, bool has_grades) {
  data::Dataset dataset{.documents = set.documents,
                        .queries = set.queries,
                        .file = set.file,
                        .query_prompt = std::move(query_prompt),
                        .has_grades = has_grades};
  for (size_t e = 0; e < set.examples.size(); ++e) {
    const data::TrainingQuery& example = set.examples[e];
    data::JudgedQuery judged{.query = example.query};
    for (const auto* list : {&example.positives, &example.others}) {
      for (const data::Judgement& judgement : *list) {
        if (judgement.grade > 0) judged.judgements.push_back(WithoutScore(judgement));
      }
    }
    for (const Hit& hit : mined.queries[task.row_of_example[e]].negatives) {
      judged.judgements.push_back({.document = task.document_of[hit.document]});
    }
    dataset.judged.push_back(std::move(judged));
  }
  return dataset;
}

}  // namespace tandem::search
