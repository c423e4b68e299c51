// Tells documents' texts from names of documents.
#pragma once

#include <string_view>

#include "import/columns/column_choice.h"

namespace tandem::import_data {

// Says whether a value is a file's name with an ending of documents, such as "care/guide.md" or
// "guide.md#3", or the address of a page, "https://...".
bool NamesFile(std::string_view value);

// Says whether a value is one word with a digit, as ids are: "doc17", "PMC3014".
bool LooksLikeId(std::string_view value);

// Looks whether the values of the column of documents are texts. Throws UsageError where all of the
// first rows' are names of files, and warns where all look like ids: a model would learn the names.
void CheckDocumentsAreTexts(const SourceSample& sample, std::string_view document,
                            std::string_view file);

}  // namespace tandem::import_data
