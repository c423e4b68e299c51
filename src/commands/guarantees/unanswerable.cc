#include "commands/guarantees/unanswerable.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "base/log.h"
#include "commands/guarantees/guarantee_study.h"
#include "commands/model/load_model.h"
#include "data/texts/texts_file.h"

namespace tandem::app {
namespace {

void WarnOfAnswered(const data::Texts& queries, const data::Dataset& judged, double relevance_level,
                    const std::string& file) {
  std::unordered_set<std::string_view> answered;
  for (const data::JudgedQuery& query : judged.judged) {
    const bool has_answer = std::any_of(
        query.judgements.begin(), query.judgements.end(),
        [&](const data::Judgement& judgement) { return judgement.grade >= relevance_level; });
    if (has_answer) answered.insert(judged.queries.text(query.query));
  }
  size_t found = 0;
  for (size_t q = 0; q < queries.size(); ++q) found += answered.count(queries.text(q));
  if (found == 0) return;
  Warn(
      fmt::format("{}: {} of its {} queries are judged queries that have an answer, and count as "
                  "queries without one",
                  file, found, queries.size()));
}

}  // namespace

std::vector<double> BestScoresOfFile(model::DualEncoder& model, const data::Dataset& judged,
                                     double relevance_level, const std::string& file,
                                     search::RetrieveOptions options) {
  const data::Texts queries = data::ReadTexts(file, data::TextRole::kQuery);
  WarnOfAnswered(queries, judged, relevance_level, file);
  std::vector<std::string> texts;
  for (size_t q = 0; q < queries.size(); ++q) texts.emplace_back(queries.text(q));
  options.top_k = 1;
  options.relevance_level = 0;
  std::vector<double> best;
  for (const search::QueryHits& hits :
       search::RetrieveForTexts(model, judged.documents, texts, options)) {
    if (!hits.hits.empty()) best.push_back(hits.hits.front().score);
  }
  return best;
}

std::string UnanswerableName(const std::string& flag) {
  return flag.empty() || flag == kHeldOut ? flag : FolderName(flag);
}

}  // namespace tandem::app
