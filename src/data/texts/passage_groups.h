// Passages of documents: texts whose ids are DOCUMENT#N, and the documents that they are of.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "data/texts/texts.h"

namespace tandem::data {

// The id before a last "#" that only digits follow; the whole id where there is none, as of a
// document that was not cut. "guide.md#3" is of "guide.md", "a#2#1" of "a#2".
std::string_view DocumentOfPassage(std::string_view id);

// The documents of a corpus of passages. Those of one document stand side by side.
struct PassageGroups {
  Texts passages;                     // P
  Texts documents;                    // D, without texts, in the order of their first passages
  std::vector<uint32_t> document_of;  // [P]
  std::vector<uint32_t> starts;       // [D + 1]: document d has passages starts[d] .. starts[d + 1)
};

// Shares the texts of `passages`. 8 to 60 bytes a passage besides. Throws DataError naming `file`
// where passages of one document stand apart.
PassageGroups GroupPassages(const Texts& passages, std::string_view file);

// The documents with the texts of their first passages, for those who show documents. A copy.
Texts DocumentsWithTexts(const PassageGroups& groups);

}  // namespace tandem::data
