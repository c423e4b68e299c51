#include "search/length_batches.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "tensor/core/parallel.h"
#include "tensor/machine/run_apart.h"

namespace tandem::search {
namespace {

using text::EncodedTexts;

// The indices of the texts, the longest first, so that a batch holds texts of similar length. Texts
// of the same length keep their order.
std::vector<size_t> LongestFirst(const EncodedTexts& texts) {
  std::vector<size_t> order(texts.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return texts[a].size() > texts[b].size(); });
  return order;
}

// Texts order[begin] to order[end - 1].
struct Batch {
  size_t begin;
  size_t end;
  size_t tokens;
};

// The batch that begins at `begin`: as many texts as fit the budget, at least one.
Batch BatchFrom(const EncodedTexts& texts, const std::vector<size_t>& order, size_t begin,
                size_t budget) {
  Batch batch{begin, begin, 0};
  while (batch.end < order.size() &&
         (batch.end == begin || batch.tokens + texts[order[batch.end]].size() <= budget)) {
    batch.tokens += texts[order[batch.end++]].size();
  }
  return batch;
}

// Splits all texts into batches. `budget` returns the most tokens of the next batch, given how many
// tokens are left.
template <typename Budget>
std::vector<Batch> BatchesOf(const EncodedTexts& texts, const std::vector<size_t>& order,
                             const Budget& budget) {
  std::vector<Batch> batches;
  size_t left = texts.ids.size();
  for (size_t begin = 0; begin < order.size(); begin = batches.back().end) {
    batches.push_back(BatchFrom(texts, order, begin, budget(left)));
    left -= batches.back().tokens;
  }
  return batches;
}

}  // namespace

void ForLengthBatches(const EncodedTexts& texts, const BatchTokens& tokens, const BatchBody& body) {
  const std::vector<size_t> order = LongestFirst(texts);
  const auto run = [&](const Batch& batch) {
    body(std::span(order).subspan(batch.begin, batch.end - batch.begin), batch.tokens);
  };
  const auto threads = static_cast<size_t>(tensor::ThreadCount());
  if (tokens.of_thread == 0 || texts.ids.size() < 2 * threads * tokens.of_thread) {
    const auto budget = [&](size_t) { return tokens.whole; };
    for (const Batch& batch : BatchesOf(texts, order, budget)) run(batch);
    return;
  }
  // Each thread encodes batches of its own and waits for no other: 4 to 5 % faster in fp32.
  const std::vector<Batch> batches = BatchesOf(texts, order, [&](size_t left) {
    return std::clamp(left / (2 * threads), (tokens.of_thread + 3) / 4, tokens.of_thread);
  });
  tensor::RunApart(batches.size(), [&](size_t i) { run(batches[i]); });
}

}  // namespace tandem::search
