#include "data/judgements/candidates.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "data/formats/trec_run.h"
#include "data/input/fields.h"
#include "data/input/line_reader.h"

namespace tandem::data {
namespace {

// The line of a run that names `document` for `query`. Read again, because lines are not kept and
// only an error asks for one.
int64_t LineOf(const std::filesystem::path& path, std::string_view query,
               std::string_view document) {
  Warnings ignored;
  LineReader reader(path, ignored);
  std::string_view line;
  while (reader.Next(&line)) {
    std::array<std::string_view, 3> fields;
    if (SplitAtBlanks(line, fields) >= fields.size() && fields[0] == query &&
        fields[2] == document) {
      return reader.line_number();
    }
  }
  return 0;
}

std::vector<uint32_t> DocumentsOf(const QueryResults& results, const std::filesystem::path& path,
                                  const Texts& corpus) {
  std::vector<uint32_t> documents;
  for (const ScoredDocument& result : results.results) {
    const std::optional<uint32_t> document = corpus.Find(result.document);
    if (!document) {
      throw DataError(path.native(), LineOf(path, results.query, result.document), results.query,
                      fmt::format("document {} is not among the {} of the corpus; give a run over "
                                  "this corpus",
                                  result.document, corpus.size()));
    }
    documents.push_back(*document);
  }
  return documents;
}

}  // namespace

Candidates ReadCandidates(const std::filesystem::path& path, const Dataset& dataset,
                          Warnings* warnings) {
  const Run run = ReadTrecRun(path, warnings);
  Candidates candidates;
  std::unordered_set<std::string_view> judged;
  for (const JudgedQuery& query : dataset.judged) {
    const std::string_view id = dataset.queries.id(query.query);
    judged.insert(id);
    const QueryResults* results = run.Find(id);
    candidates.queries_without += results == nullptr ? 1 : 0;
    candidates.documents.push_back(results == nullptr
                                       ? std::vector<uint32_t>()
                                       : DocumentsOf(*results, path, dataset.documents));
  }
  if (candidates.queries_without == dataset.judged.size()) {
    throw DataError(path.native(), 0, "",
                    fmt::format("has candidates for none of the {} judged queries of {}: do they "
                                "belong together?",
                                dataset.judged.size(), dataset.file));
  }
  for (const QueryResults& results : run.queries()) {
    if (judged.contains(results.query)) continue;
    ++candidates.unjudged_queries;
    DocumentsOf(results, path, dataset.documents);  // which throws for a run of another corpus
  }
  return candidates;
}

}  // namespace tandem::data
