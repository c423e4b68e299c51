#include "data/judgements/judged_data.h"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/hashes/running_hash.h"

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

// Throws where no judgement was resolved.
void CheckResolved(size_t resolved, const JudgedData& data) {
  if (resolved > 0) return;
  for (const GradedDocument& judgement : data.qrels.queries().front().judgements) {
    const std::string passage = std::string(judgement.document) + "#1";
    if (!data.dataset.documents.Find(passage)) continue;
    throw DataError(
        data.dataset.file, 0, data.qrels.queries().front().query,
        fmt::format("the judgements name documents ({}) and the corpus has their passages "
                    "({}); evaluate, compare, report and search rank documents with --by-document",
                    judgement.document, passage));
  }
  throw DataError(data.dataset.file, 0, data.qrels.queries().front().query,
                  "none of the judgements names a query and a document that the folder has: do "
                  "its files belong together?");
}

// The judgements of passages as judgements of their documents.
Qrels ByDocument(const Qrels& qrels, const Texts& documents) {
  Qrels by_document;
  for (const QueryJudgements& query : qrels.queries()) {
    std::vector<GradedDocument> merged;
    std::map<std::string_view, size_t> places;
    for (GradedDocument one : query.judgements) {
      if (!documents.Find(one.document)) one.document = DocumentOfPassage(one.document);
      const auto [place, is_new] = places.emplace(one.document, merged.size());
      if (is_new) {
        merged.push_back(one);
      } else if (one.grade > merged[place->second].grade) {
        merged[place->second].grade = one.grade;
      }
    }
    for (const GradedDocument& one : merged) {
      by_document.Add(query.query, one.document, one.grade, one.line);
    }
  }
  return by_document;
}

std::string FileOfSplit(const std::filesystem::path& folder, std::string_view split) {
  return (folder / "qrels" / fmt::format("{}.tsv", split)).native();
}

}  // namespace

JudgedData LoadJudgedData(const std::filesystem::path& folder, std::string_view split,
                          const BeirTexts* texts, Warnings* warnings) {
  WarningScope scope(warnings);
  JudgedData data;
  // The judgements are read first, so that a wrong split fails at once.
  data.qrels = LoadBeirQrels(folder, split, &scope.get());
  data.dataset.file = FileOfSplit(folder, split);
  data.dataset.has_grades = true;
  data.dataset.queries = texts != nullptr ? texts->queries : LoadBeirQueries(folder, &scope.get());
  data.dataset.documents =
      texts != nullptr ? texts->documents : LoadBeirCorpus(folder, &scope.get());
  CheckResolved(Resolve(data.qrels, data.dataset, scope.get()), data);
  return data;
}

JudgedData LoadJudgedDocuments(const std::filesystem::path& folder, std::string_view split,
                               PassageGroups* groups, Warnings* warnings) {
  WarningScope scope(warnings);
  const Qrels of_passages = LoadBeirQrels(folder, split, &scope.get());
  *groups = GroupPassages(LoadBeirCorpus(folder, &scope.get()),
                          FindBeirTexts(folder, TextRole::kDocument).native());
  JudgedData data;
  data.qrels = ByDocument(of_passages, groups->documents);
  data.dataset.file = FileOfSplit(folder, split);
  data.dataset.has_grades = true;
  data.dataset.queries = LoadBeirQueries(folder, &scope.get());
  data.dataset.documents = groups->documents;
  CheckResolved(Resolve(data.qrels, data.dataset, scope.get()), data);
  return data;
}

uint64_t Fingerprint(const JudgedData& judged, const Texts* passages) {
  const Dataset& dataset = judged.dataset;
  const Texts& documents = passages != nullptr ? *passages : dataset.documents;
  // A sum does not depend on the order of what is added.
  uint64_t queries = 0, judgements = 0, texts = 0;
  for (const JudgedQuery& query : dataset.judged) {
    RunningHash hash;
    hash.Add(dataset.queries.id(query.query));
    hash.Add(dataset.queries.text(query.query));
    queries += hash.value();
  }
  for (const QueryJudgements& query : judged.qrels.queries()) {
    for (const GradedDocument& one : query.judgements) {
      RunningHash hash;
      hash.Add(query.query);
      hash.Add(one.document);
      hash.Add(one.grade);
      judgements += hash.value();
    }
  }
  const std::vector<uint64_t>& hashes = *documents.hashes();
  for (size_t i = 0; i < hashes.size(); ++i) {
    RunningHash hash;
    hash.Add(documents.id(static_cast<uint32_t>(i)));
    hash.Add(hashes[i]);
    texts += hash.value();
  }
  RunningHash all;
  for (const uint64_t sum : {queries, judgements, texts}) all.Add(sum);
  return all.value();
}

}  // namespace tandem::data
