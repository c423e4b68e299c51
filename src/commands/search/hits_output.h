// Writes the hits of a search in the chosen format, query by query.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "commands/search/hits_text.h"
#include "report/tables/table.h"

namespace tandem::app {

struct HitsStyle {
  std::string format = "text";           // text, json, tsv, trec
  report::TextStyle text;                // for format text
  std::string asked;                     // the conditions for hits (WhatIsAsked)
  bool has_ids = false;                  // whether queries have ids, which JSON and TSV then show
  bool as_lines = false;                 // JSON: an object on each line instead of a list of all
  std::string file = "standard output";  // for errors about ids that a TREC run cannot hold
};

struct HitsOfQuery {
  std::string_view id;
  std::string_view query;
  std::span<const ShownHit> hits;  // best first
};

// JSON is a list of {"query", "hits": [{"document", "passage", "score", "probability", "text",
// "highlight"}]}, TSV has query, rank, document, score, probability, highlighted text and id of the
// passage; members and columns that no hit
// has are left out. Finish writes the end of the output.
class HitsOutput {
 public:
  HitsOutput(HitsStyle style, std::function<void(std::string_view)> write)
      : style_(std::move(style)), write_(std::move(write)) {}

  // Throws DataError if the format is trec and an id is empty or has blanks.
  void Add(const HitsOfQuery& found);
  void Finish();

 private:
  void AddText(const HitsOfQuery& found);
  void AddJson(const HitsOfQuery& found);
  void AddTsv(const HitsOfQuery& found);
  void AddTrec(const HitsOfQuery& found);

  HitsStyle style_;
  std::function<void(std::string_view)> write_;
  size_t queries_ = 0;  // queries so far
};

}  // namespace tandem::app
