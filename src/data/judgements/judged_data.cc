#include "data/judgements/judged_data.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <utility>

#include "base/error.h"

namespace tandem::data {
namespace {

// Fills dataset.judged from the judgements; returns how many of these name what is there.
size_t Resolve(const Qrels& qrels, Dataset& dataset, Warnings& warnings) {
  size_t resolved = 0;
  for (const QueryJudgements& read : qrels.queries()) {
    const std::optional<uint32_t> query = dataset.queries.Find(read.query);
    if (!query) {
      warnings.Count(dataset.file, "judged queries without a text in queries.jsonl, not searched",
                     0, read.query);
      continue;
    }
    JudgedQuery judged{.query = *query};
    for (const GradedDocument& judgement : read.judgements) {
      const std::optional<uint32_t> document = dataset.documents.Find(judgement.document);
      if (!document) {
        warnings.Count(dataset.file, "judgements of documents that corpus.jsonl lacks, never found",
                       0, judgement.document);
        continue;
      }
      judged.judgements.push_back(
          {.document = *document, .grade = judgement.grade, .line = judgement.line});
    }
    resolved += judged.judgements.size();
    dataset.judged.push_back(std::move(judged));
  }
  return resolved;
}

}  // namespace

JudgedData LoadJudgedData(const std::filesystem::path& folder, std::string_view split,
                          const BeirTexts* texts, Warnings* warnings) {
  WarningScope scope(warnings);
  JudgedData data;
  // The judgements are read first, so that a wrong split fails at once.
  data.qrels = LoadBeirQrels(folder, split, &scope.get());
  data.dataset.file = (folder / "qrels" / fmt::format("{}.tsv", split)).native();
  data.dataset.has_grades = true;
  data.dataset.queries = texts != nullptr ? texts->queries : LoadBeirQueries(folder, &scope.get());
  data.dataset.documents =
      texts != nullptr ? texts->documents : LoadBeirCorpus(folder, &scope.get());
  const size_t resolved = Resolve(data.qrels, data.dataset, scope.get());
  if (resolved == 0) {
    throw DataError(data.dataset.file, 0, data.qrels.queries().front().query,
                    "none of the judgements names a query and a document that the folder has: do "
                    "its files belong together?");
  }
  return data;
}

}  // namespace tandem::data
