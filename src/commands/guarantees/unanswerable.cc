#include "commands/guarantees/unanswerable.h"

#include "commands/guarantees/guarantee_study.h"
#include "commands/model/load_model.h"
#include "data/texts/texts_file.h"

namespace tandem::app {

std::vector<double> BestScoresOfFile(model::DualEncoder& model, const data::Texts& documents,
                                     const std::string& file, search::RetrieveOptions options) {
  const data::Texts queries = data::ReadTexts(file, data::TextRole::kQuery);
  std::vector<std::string> texts;
  for (size_t q = 0; q < queries.size(); ++q) texts.emplace_back(queries.text(q));
  options.top_k = 1;
  options.relevance_level = 0;
  std::vector<double> best;
  for (const search::QueryHits& hits : search::RetrieveForTexts(model, documents, texts, options)) {
    if (!hits.hits.empty()) best.push_back(hits.hits.front().score);
  }
  return best;
}

std::string UnanswerableName(const std::string& flag) {
  return flag.empty() || flag == kHeldOut ? flag : FolderName(flag);
}

}  // namespace tandem::app
