// Tasks and lengths for the tests of compositions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sampling/sampling_worlds.h"

namespace tandem::sampling {

// Every way to make batches: by task, of similar lengths, by tokens, and all at once.
struct Composition {
  std::string name;
  bool by_task = false;
  bool similar_lengths = false;
  bool by_tokens = false;

  bool plain() const { return !by_task && !similar_lengths && !by_tokens; }
};

inline std::vector<Composition> Compositions() {
  return {{.name = "plain"},
          {.name = "by_task", .by_task = true},
          {.name = "similar", .similar_lengths = true},
          {.name = "tokens", .by_tokens = true},
          {.name = "all", .by_task = true, .similar_lengths = true, .by_tokens = true}};
}

// Made-up tokens of each text, from 3 to 42 for a query and from 4 to 83 for a document, few of
// which are long; and tasks, of which 2 has a tenth of the queries and 1 a third.
struct Figures {
  explicit Figures(const Examples& examples) {
    for (uint32_t q = 0; q < examples.size(); ++q) {
      queries.push_back(3 + Tokens(q, 40));
      tasks.push_back(q % 10 == 9 ? 2 : q % 3 == 0 ? 1 : 0);
    }
    for (uint32_t d = 0; d < examples.documents(); ++d) {
      documents.push_back(4 + Tokens(1000000 + d, 80));
    }
  }

  void AddTo(SamplerOptions& options) const {
    options.tasks = tasks;
    options.lengths = {.queries = queries, .documents = documents};
  }

  size_t TokensOf(const Batch& batch) const {
    size_t tokens = 0;
    for (const uint32_t q : batch.queries) tokens += queries[q];
    for (const uint32_t d : batch.documents) tokens += documents[d];
    return tokens;
  }

  static uint32_t Tokens(uint64_t text, float most) {
    const float share = Pseudo(text, 7, 0, 1);
    return static_cast<uint32_t>(share * share * most);
  }

  std::vector<uint32_t> queries, documents, tasks;
};

// What an average query brings with one document, in tokens.
inline constexpr size_t kUsualTokens = 60;

}  // namespace tandem::sampling
