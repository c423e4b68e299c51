// The catalogue of what pairs of a query and a text are made of: one file each in
// documents/sources/, and one line of CMakeLists.txt. documents/pairing/ collects what they find.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "config/catalogue.h"
#include "documents/document.h"

namespace tandem::documents {

struct FoundPair {
  std::string query;
  std::string text;  // that answers it; most sources mask what gives it away (documents/masking.h)
  std::string
      linked_file;  // of a link, in place of `text`: what it leads to, relative to the folder
};

using PairSink = std::function<void(FoundPair pair)>;

struct PairSource : config::EntryInfo {
  size_t least_words = 0;  // of a text; pairs with fewer are left out
  // Gives the pairs of a document, in order.
  void (*find)(const Document& document, const PairSink& found) = nullptr;
};

// Every source. The table is written from CMakeLists.txt.
std::span<const PairSource* const> PairSources();

config::Catalogue PairSourceCatalogue();

}  // namespace tandem::documents
