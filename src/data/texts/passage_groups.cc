#include "data/texts/passage_groups.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace tandem::data {

std::string_view DocumentOfPassage(std::string_view id) {
  const size_t mark = id.rfind('#');
  if (mark == std::string_view::npos || mark == 0 || mark + 1 == id.size()) return id;
  const std::string_view number = id.substr(mark + 1);
  const bool digits =
      std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
  return digits ? id.substr(0, mark) : id;
}

PassageGroups GroupPassages(const Texts& passages, std::string_view file) {
  PassageGroups groups{.passages = passages, .documents = {}, .document_of = {}, .starts = {}};
  groups.document_of.reserve(passages.size());
  for (uint32_t p = 0; p < passages.size(); ++p) {
    const std::string_view document = DocumentOfPassage(passages.id(p));
    const size_t count = groups.documents.size();
    if (count == 0 || groups.documents.id(count - 1) != document) {
      if (!groups.documents.Add(document, "")) {
        throw DataError(file, 0, passages.id(p),
                        fmt::format("the passages of {} do not stand side by side; sort the corpus "
                                    "by documents, as `tandem pairs` writes it",
                                    document));
      }
      groups.starts.push_back(p);
    }
    groups.document_of.push_back(static_cast<uint32_t>(groups.documents.size() - 1));
  }
  groups.starts.push_back(static_cast<uint32_t>(passages.size()));
  return groups;
}

Texts DocumentsWithTexts(const PassageGroups& groups) {
  Texts documents;
  for (size_t d = 0; d < groups.documents.size(); ++d) {
    const uint32_t first = groups.starts[d];
    documents.Add(groups.documents.id(d), groups.passages.text(first),
                  groups.passages.title(first).size());
  }
  return documents;
}

}  // namespace tandem::data
