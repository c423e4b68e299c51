#include "commands/judged_set.h"

namespace tandem::app {

search::RetrievalTask JudgedSet::Task() const {
  const data::Dataset& dataset = judged.dataset;
  return groups.starts.empty() ? search::RetrievalTask(dataset)
                               : search::RetrievalTask(groups, dataset.queries, dataset.judged);
}

void JudgedSet::AddTexts() {
  if (!groups.starts.empty()) judged.dataset.documents = data::DocumentsWithTexts(groups);
}

JudgedSet LoadJudgedSet(const std::filesystem::path& folder, std::string_view split,
                        bool by_document) {
  JudgedSet set;
  if (!by_document) {
    set.judged = data::LoadJudgedData(folder, split);
    return set;
  }
  set.judged = data::LoadJudgedDocuments(folder, split, &set.groups);
  return set;
}

}  // namespace tandem::app
