#include "data/training_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "data/text_hash.h"

namespace tandem::data {
namespace {

std::vector<uint64_t> HashesOf(const Texts& texts) {
  std::vector<uint64_t> hashes(texts.size());
  for (size_t i = 0; i < hashes.size(); ++i) hashes[i] = TextHash(texts.text(i));
  return hashes;
}

TrainingQuery SplitJudgements(const JudgedQuery& judged, double positive_grade) {
  TrainingQuery query;
  query.query = judged.query;
  for (const Judgement& judgement : judged.judgements) {
    (judgement.grade >= positive_grade ? query.positives : query.others).push_back(judgement);
  }
  return query;
}

}  // namespace

bool IsRelevant(const TrainingQuery& query, uint32_t document) {
  const auto is_it = [document](const Judgement& judgement) {
    return judgement.document == document;
  };
  if (std::any_of(query.positives.begin(), query.positives.end(), is_it)) return true;
  return std::any_of(query.others.begin(), query.others.end(), [&](const Judgement& judgement) {
    return is_it(judgement) && judgement.grade > 0;
  });
}

TrainingSet BuildTrainingSet(Dataset dataset, double positive_grade, Warnings* warnings) {
  if (!(positive_grade > 0) || !std::isfinite(positive_grade)) {
    throw UsageError(
        fmt::format("positive_grade is {}; expected a number above 0", positive_grade));
  }
  WarningScope scope(warnings);
  TrainingSet set;
  for (const JudgedQuery& judged : dataset.judged) {
    TrainingQuery query = SplitJudgements(judged, positive_grade);
    if (query.positives.empty()) {
      ++set.queries_without_positive;
      scope.get().Count(
          "",
          fmt::format("queries without a document of grade {} or more, left out", positive_grade),
          0, dataset.queries.id(judged.query));
      continue;
    }
    set.pair_count += query.positives.size();
    set.examples.push_back(std::move(query));
  }
  if (set.examples.empty()) {
    throw DataError("training data", 0, "",
                    fmt::format("none of the {} judged queries has a document of grade {} or more",
                                dataset.judged.size(), positive_grade));
  }
  set.query_hashes = HashesOf(dataset.queries);
  set.document_hashes = HashesOf(dataset.documents);
  set.queries = std::move(dataset.queries);
  set.documents = std::move(dataset.documents);
  return set;
}

}  // namespace tandem::data
