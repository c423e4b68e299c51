// Small training sets for tests of mining.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "data/training_set.h"

namespace tandem::search {

struct TinyJudgement {
  const char* query;
  const char* document;
  double grade;
};

// Ids and texts of queries and documents; positives are judged 2 or more.
inline data::TrainingSet TinySet(const std::vector<std::pair<std::string, std::string>>& queries,
                                 const std::vector<std::pair<std::string, std::string>>& documents,
                                 std::initializer_list<TinyJudgement> judgements) {
  data::Dataset dataset{.file = "qrels.tsv"};
  for (const auto& [id, text] : queries) {
    dataset.judged.push_back({.query = static_cast<uint32_t>(dataset.queries.size())});
    dataset.queries.Add(id, text);
  }
  for (const auto& [id, text] : documents) dataset.documents.Add(id, text);
  for (const TinyJudgement& judgement : judgements) {
    dataset.judged[*dataset.queries.Find(judgement.query)].judgements.push_back(
        {.document = *dataset.documents.Find(judgement.document), .grade = judgement.grade});
  }
  return data::BuildTrainingSet(std::move(dataset), 2);
}

}  // namespace tandem::search
