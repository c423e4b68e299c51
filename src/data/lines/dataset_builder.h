// Builds a Dataset from lines that carry their texts; the readers of all such formats use it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/dataset.h"
#include "data/input/line_reader.h"
#include "data/lines/example_sink.h"
#include "data/texts/slot_table.h"

namespace tandem::data {

// The error at the reader's line, to be thrown, where its scores are of another kind than those of
// earlier lines.
DataError MixedScoreKinds(const LineReader& reader, ScoreKind found, ScoreKind before);

// Queries and documents are known by their text or by their id, as the format has it. Everything is
// counted and reported at the reader's current line.
class DatasetBuilder final : public ExampleSink {
 public:
  // `reader` must outlive the builder.
  explicit DatasetBuilder(LineReader& reader) : reader_(reader) {}

  uint32_t QueryOfText(std::string_view text, std::string_view id, uint64_t apart) override;
  uint32_t DocumentOfText(std::string_view text, std::string_view id, size_t title_bytes) override;
  // Throws DataError where the id had another text before.
  uint32_t QueryOfId(std::string_view id, std::string_view text) override;
  uint32_t DocumentOfId(std::string_view id, std::string_view text, size_t title_bytes) override;

  // A document that is positive and negative of one query stays positive, one with two scores keeps
  // the first; both are counted.
  void Judge(uint32_t query, uint32_t document, double grade, double score) override;

  void SetScores(const LineScores& scores) override { tally_.BeginLine(reader_, scores); }
  void SetQueryPrompt(std::string_view prompt) override { query_prompt_ = prompt; }
  void CountIgnored(std::string_view key) override;
  void CountSkipped() override;

  // Where all scores are labels, they become the grades (ScoreMeaning::kLabels). Throws DataError
  // where no query was added.
  Dataset Take();

 private:
  struct Interned {
    Texts texts;
    SlotTable by_text;
    std::unordered_map<uint32_t, uint64_t> apart;  // of texts that stand apart
  };
  // Says how often something was found, and where first.
  struct Count {
    uint64_t count = 0;
    int64_t first_line = 0;
    void Add(int64_t line) {
      if (count++ == 0) first_line = line;
    }
  };
  struct Place {
    uint32_t query;
    uint32_t judgement;
  };
  uint32_t InternText(Interned& interned, std::string_view text, std::string_view id,
                      size_t title_bytes, uint64_t apart);
  uint32_t InternId(Interned& interned, std::string_view what, std::string_view id,
                    std::string_view text, size_t title_bytes);
  uint32_t Judged(uint32_t query);
  void CountIfEmpty(std::string_view text);
  void Merge(Place place, const Judgement& found);
  void SettleLabels();
  void Report(const Count& count, std::string_view kind);
  void ReportIgnored();

  LineReader& reader_;
  Interned queries_;
  Interned documents_;
  std::vector<JudgedQuery> judged_;  // one for each query
  SlotTable judged_index_;           // (query, document) -> place in judged_places_
  std::vector<Place> judged_places_;
  ScoreTally tally_;
  std::vector<Place> labelled_twice_;  // 0 and 1 both; as long as all scores may be labels
  Count contradictions_, label_contradictions_, two_scores_, against_lists_;
  std::map<std::string, uint64_t, std::less<>> ignored_;
  Count all_ignored_;
  std::string query_prompt_;
};

}  // namespace tandem::data
