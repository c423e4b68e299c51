#include "data/training_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/error.h"

namespace tandem::data {
namespace {

std::string WithoutOwn(double positive_grade, PairedDocument own) {
  return own == PairedDocument::kPositive
             ? fmt::format("queries without a document of grade {} or more, left out",
                           positive_grade)
             : std::string("queries without a judged document, left out");
}

std::string NoneLeft(size_t judged, double positive_grade, PairedDocument own) {
  return own == PairedDocument::kPositive
             ? fmt::format(
                   "none of the {} judged queries has a document of grade {} or more "
                   "(data.positive_grade)",
                   judged, positive_grade)
             : fmt::format("none of the {} judged queries has a document of grade 0 or more",
                           judged);
}

}  // namespace

bool IsRelevant(const TrainingQuery& query, uint32_t document) {
  const auto is_it = [document](const Judgement& judgement) {
    return judgement.document == document;
  };
  const auto is_relevant = [&](const Judgement& judgement) {
    return is_it(judgement) && judgement.grade > 0;
  };
  return std::any_of(query.positives.begin(), query.positives.end(), is_it) ||
         std::any_of(query.others.begin(), query.others.end(), is_relevant) ||
         std::any_of(query.unused.begin(), query.unused.end(), is_relevant);
}

bool HasPairedDocument(const TrainingQuery& query, PairedDocument own) {
  if (!query.positives.empty()) return true;
  return own == PairedDocument::kAnyGrade &&
         std::any_of(query.others.begin(), query.others.end(),
                     [](const Judgement& judgement) { return judgement.grade >= 0; });
}

void SplitAgain(TrainingQuery& query, double positive_grade) {
  std::vector<Judgement> all = std::move(query.positives);
  all.insert(all.end(), query.others.begin(), query.others.end());
  query.positives.clear();
  query.others.clear();
  for (const Judgement& judgement : all) {
    (judgement.grade >= positive_grade ? query.positives : query.others).push_back(judgement);
  }
}

TrainingSet BuildTrainingSet(Dataset dataset, double positive_grade, PairedDocument own,
                             Warnings* warnings) {
  if (!(positive_grade > 0) || !std::isfinite(positive_grade)) {
    throw UsageError(
        fmt::format("positive_grade is {}; expected a number above 0", positive_grade));
  }
  WarningScope scope(warnings);
  TrainingSet set{.positive_grade = positive_grade, .own = own, .file = dataset.file};
  for (JudgedQuery& judged : dataset.judged) {
    TrainingQuery query{
        .query = judged.query, .source = judged.source, .positives = std::move(judged.judgements)};
    SplitAgain(query, positive_grade);
    if (!HasPairedDocument(query, own)) {
      ++set.queries_without_positive;
      scope.get().Count("", WithoutOwn(positive_grade, own), 0, dataset.queries.id(judged.query));
      continue;
    }
    set.pair_count += query.positives.size();
    set.examples.push_back(std::move(query));
  }
  if (set.examples.empty()) {
    throw DataError(dataset.file.empty() ? "training data" : dataset.file, 0, "",
                    NoneLeft(dataset.judged.size(), positive_grade, own));
  }
  set.queries = std::move(dataset.queries);
  set.documents = std::move(dataset.documents);
  set.query_hashes = *set.queries.hashes();
  set.document_hashes = *set.documents.hashes();
  return set;
}

TrainingSet BuildTrainingSet(Dataset dataset, double positive_grade, Warnings* warnings) {
  return BuildTrainingSet(std::move(dataset), positive_grade, PairedDocument::kPositive, warnings);
}

}  // namespace tandem::data
