// An index in memory, for tests of what is made of its hits: every document's score is the dot
// product with its row.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "index/document_index.h"

namespace tandem::index {

struct FakeDocument {
  std::string id;
  std::string text;
  std::vector<float> row;  // [E]
};

class FakeIndex final : public DocumentIndex {
 public:
  explicit FakeIndex(std::vector<FakeDocument> documents, std::string similarity = "dot")
      : documents_(std::move(documents)) {
    info_.model.similarity = std::move(similarity);
    info_.model.width = documents_.front().row.size();
    info_.documents = documents_.size();
  }

  const IndexInfo& info() const override { return info_; }
  std::vector<std::vector<DocumentHit>> Search(const DocumentQuery& query) const override {
    last_query_ = query;
    std::vector<std::vector<DocumentHit>> found(query.count);
    for (size_t q = 0; q < query.count; ++q) {
      for (uint32_t d = 0; d < documents_.size(); ++d) {
        float score = 0;
        for (size_t i = 0; i < info_.model.width; ++i) {
          score += query.queries[q * info_.model.width + i] * documents_[d].row[i];
        }
        found[q].push_back({d, score});
      }
      std::stable_sort(found[q].begin(), found[q].end(),
                       [](const auto& a, const auto& b) { return a.score > b.score; });
      if (found[q].size() > query.k) found[q].resize(query.k);
    }
    return found;
  }
  std::string_view id(uint32_t document) const override { return documents_[document].id; }
  std::string_view text(uint32_t document) const override { return documents_[document].text; }
  std::string_view title(uint32_t) const override { return {}; }
  data::MetadataValue metadata(uint32_t, size_t) const override { return {}; }

  const DocumentQuery& last_query() const { return last_query_; }

 private:
  std::vector<FakeDocument> documents_;
  IndexInfo info_;
  mutable DocumentQuery last_query_;
};

}  // namespace tandem::index
