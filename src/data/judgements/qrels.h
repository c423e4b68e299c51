// Judgements by id, as evaluation needs them, whatever file format they came from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "data/texts/arena.h"
#include "data/texts/slot_table.h"

namespace tandem::data {

struct GradedDocument {
  std::string_view document;
  double grade = 0;
  uint32_t line = 0;  // of the file; 0: not known
};

struct QueryJudgements {
  std::string_view query;
  std::vector<GradedDocument> judgements;  // in order of Add, each document once
};

// Moving keeps the views valid; it cannot be copied.
class Qrels {
 public:
  // The queries in order of first mention.
  const std::vector<QueryJudgements>& queries() const { return queries_; }
  size_t judgement_count() const { return places_.size(); }
  // Returns null where nothing is judged for the query.
  const QueryJudgements* Find(std::string_view query) const;

  struct Added {
    bool is_new = false;
    double grade = 0;    // of the judgement that stands
    uint32_t order = 0;  // how many judgements had been added before it
  };
  // Nothing changes where the document is judged for the query already. Throws std::length_error
  // beyond 2^32 - 1 judgements.
  Added Add(std::string_view query, std::string_view document, double grade, uint32_t line = 0);

 private:
  struct Place {
    uint32_t query;
    uint32_t judgement;
  };
  uint32_t QueryIndex(std::string_view query);

  Arena arena_;
  std::vector<QueryJudgements> queries_;
  SlotTable query_index_;
  std::vector<Place> places_;  // of every judgement, in order of Add
  SlotTable place_index_;
  uint32_t last_query_ = 0;  // files are grouped by query nearly always
};

}  // namespace tandem::data
