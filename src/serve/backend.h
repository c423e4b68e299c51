// The backend of a server: a model and perhaps an index. The server knows this interface only, so
// that it needs no tensors and is tested with a made-up one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace tandem::serve {

enum class TextKind : uint8_t { kQuery, kDocument };

struct IndexField {  // that searches can filter by
  std::string name;
  std::string type;  // "number" or "string"
};

struct IndexDescription {
  std::string kind;
  uint64_t documents = 0;
  bool texts = true;         // whether the documents' texts are kept
  bool by_document = false;  // SearchOptions::by_document where a request does not say it
  std::vector<IndexField> fields;
};

struct BackendInfo {
  std::string model;       // the name that clients give
  std::string model_name;  // of the model's own folder, for people; "": not known, or the same
  size_t width = 0;        // E
  std::string similarity;  // "cosine" or "dot"
  std::string precision;
  size_t max_query_tokens = 0;  // longer texts are cut; 0: no limit
  size_t max_document_tokens = 0;
  bool calibrated = false;            // whether scores have probabilities
  std::vector<std::string> promises;  // that searches can keep
  std::string keep;                   // the one that they keep by default; "": none
  std::optional<IndexDescription> index;
};

// One text of a batch. Encode writes its embedding to row [E].
struct EncodeItem {
  std::span<const int32_t> ids;
  TextKind kind;
  float* row;
};

struct SearchOptions {
  size_t k = 10;
  // A promise that is kept, of BackendInfo::promises; "": none; not there: the default one, unless
  // another threshold is given.
  std::optional<std::string> keep;
  bool watch = true;  // whether its queries count for QueryWatch
  std::optional<double> min_score;
  std::optional<double> min_probability;
  std::string filter;  // a JSON object; "": none
  bool highlight = true;
  // Finds documents by the best of their passages, which are what the index holds ("doc#3").
  // Nothing is highlighted then: the text is that passage.
  bool by_document = false;
};

// A promise that a search keeps.
struct KeptPromise {
  std::string name;
  std::string sentence;  // for people
  double threshold = 0;  // hits score at least this
  size_t depth = 0;      // it is of so many best documents; 0: of all above the threshold
};

// Whether queries are still like those that promises were made for (eval/guarantees/query_drift.h).
struct QueryWatch {
  uint64_t queries = 0;
  double martingale = 1;
  double highest = 1;
  double distance = 0;
  bool alarm = false;
};

struct FoundHighlight {  // bytes of the text
  size_t begin = 0;
  size_t end = 0;
};

// Views are valid as long as the backend.
struct Found {
  std::string_view id;
  std::string_view passage;  // the id of the document's best passage; "": it is whole
  float score = 0;
  std::optional<double> probability;
  std::string_view text;
  std::string_view title;  // that the text begins with; "": none
  std::optional<FoundHighlight> highlight;
};

// Embeddings of texts as documents, [texts, E] row after row.
using EmbedTexts = std::function<std::vector<float>(std::span<const std::string_view> texts)>;

// Errors of the client's making are UsageErrors (base/error.h); anything else is the server's.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual const BackendInfo& info() const = 0;

  // Appends the token ids of a text, with the prompt of its kind and cut at its length. Any thread.
  virtual void Tokenize(std::string_view text, TextKind kind, text::EncodedTexts* texts) const = 0;

  // Called by one thread at a time.
  virtual void Encode(std::span<const EncodeItem> batch) = 0;

  // Returns none where scores have no probabilities. Any thread may call it.
  virtual std::optional<double> Probability(double score) const = 0;

  // The promise that a search with these options keeps; none: none. Throws UsageError for one that
  // is not promised, or that does not go with the other options. Called where there is an index.
  virtual std::optional<KeptPromise> Kept(const SearchOptions& /*options*/) const { return {}; }
  // None where nothing is promised. Both may be called by any thread.
  virtual std::optional<QueryWatch> watched() const { return {}; }

  // Throws UsageError for options that do not fit the index, before anything is encoded. Both are
  // called only where info().index is there, by any thread; `queries` is [count, E].
  virtual void CheckSearch(const SearchOptions& options) const = 0;
  virtual std::vector<std::vector<Found>> Search(const float* queries, size_t count,
                                                 const SearchOptions& options,
                                                 const EmbedTexts& embed) const = 0;
};

// Opens what the server serves: once at the start, and again on SIGHUP.
using OpenBackend = std::function<std::shared_ptr<Backend>()>;

}  // namespace tandem::serve
