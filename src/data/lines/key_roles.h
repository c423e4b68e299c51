// Recognises the likely meaning of an unknown key by its name, so that a misspelt key is not
// ignored.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "data/input/line_reader.h"
#include "data/lines/example_sink.h"
#include "data/lines/json_line.h"

namespace tandem::data {

// kFeedback: thumbs, votes, what somebody has chosen. kClicks: how often a document was shown or
// clicked.
enum class KeyRole { kQuery, kPositive, kNegative, kScore, kFeedback, kClicks };

struct KeyLook {
  KeyRole role = KeyRole::kQuery;
  // The name says that it only describes what has this role: "negative_ids", "label_type".
  bool describes = false;
};

// "hard_negatives", "neg1", "postive", "similarity_score", ...; nothing for names such as "id",
// "source" and "title". A known word may have one letter wrong (more than nine: two), as for keys
// of recipes; short ones must be spelled right. `columns`: the words of sentence-transformers'
// columns count too ("answers", "sentence3").
std::optional<KeyLook> LookOfKey(std::string_view key, bool columns);

// The keys of a format for each role, as messages name them; "": the format has none.
struct FormatKeys {
  std::string_view query, positive, negative, score;
  bool columns = false;
};

// Passes over the keys that a format does not read, and counts them in the sink.
class UnreadKeys {
 public:
  // All must outlive this object.
  UnreadKeys(const LineReader& reader, ExampleSink& sink, const FormatKeys& format)
      : reader_(reader), sink_(sink), format_(format) {}

  // The parts of the line that are read, besides its query and its positives.
  struct Line {
    bool negatives = false;
    bool scores = false;
  };

  // Counts a key that the format does not read. Throws DataError for a key that looks like a query,
  // a positive, a negative or a score, unless it only describes one that is read, and for feedback
  // and clicks where nothing else on the line says how good the document is; a null, which
  // exporters write for what is absent, throws nothing. `within`: the list whose objects have it,
  // or "".
  void Pass(const JsonField& field, const Line& line, std::string_view within = {});
  // For a line that lacks what has `role`: throws as Pass does where one of its keys looks like it.
  void LookFor(KeyRole role, std::span<const JsonField> fields);

 private:
  const std::optional<KeyLook>& LookOf(std::string_view key);
  // Says whether a line that has what `line` says can be read without a key that looks so.
  static bool MayBePassedOver(const KeyLook& look, const Line& line);
  DataError LooksLike(std::string_view key, KeyRole role, std::string_view within) const;

  const LineReader& reader_;
  ExampleSink& sink_;
  FormatKeys format_;
  std::map<std::string, std::optional<KeyLook>, std::less<>> looks_;  // by name, at most kMostNames
};

}  // namespace tandem::data
