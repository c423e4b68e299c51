// A sink takes what the readers of training lines find.
#pragma once

#include <cstdint>
#include <string_view>

#include "data/dataset.h"
#include "data/lines/score_meaning.h"

namespace tandem::data {

// Takes one line after the other: its query, then its documents, each with its judgement. The
// numbers that it gives out are good for Judge until the next query.
class ExampleSink {
 public:
  virtual ~ExampleSink() = default;

  // One query for each different text, named `id` where it is new. Rows whose scores cannot be
  // compared are queries of their own: one for each text and number `apart` (0: all others).
  virtual uint32_t QueryOfText(std::string_view text, std::string_view id, uint64_t apart) = 0;
  virtual uint32_t DocumentOfText(std::string_view text, std::string_view id,
                                  size_t title_bytes) = 0;
  // One query for each id. May throw DataError where the id had another text before.
  virtual uint32_t QueryOfId(std::string_view id, std::string_view text) = 0;
  // The text begins with a title of `title_bytes` bytes and a space, if that is not 0.
  virtual uint32_t DocumentOfId(std::string_view id, std::string_view text, size_t title_bytes) = 0;

  // A document of the line: grade 1 for a positive, 0 for a negative, by the list that it stands
  // in.
  virtual void Judge(uint32_t query, uint32_t document, double grade, double score) = 0;

  // Says what the line's scores are, before its documents are judged. Lines without scores have no
  // call, except a list of several documents without negatives: kNone, and the key of the list.
  // Throws DataError where an earlier line's were something else.
  virtual void SetScores(const LineScores& scores) = 0;
  // The prompt that all lines put before their queries, whose texts do not include it; "": no
  // prompt. Readers of formats with prompts call this once, after the last line.
  virtual void SetQueryPrompt(std::string_view /*prompt*/) {}
  // Counts a value of a line that no training reads.
  virtual void CountIgnored(std::string_view key) = 0;
  // Counts negatives that are null or empty, which are left out.
  virtual void CountSkipped() = 0;
};

}  // namespace tandem::data
