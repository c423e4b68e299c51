#include "sampling/composition/batch_composer.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "sampling/composition/batch_order.h"
#include "sampling/composition/token_composition.h"

namespace tandem::sampling {
namespace {

// Numbers that one task may draw: far more than its batches need.
constexpr int kTaskBits = 40;

// The key of each of `count` things: equal hashes have one key, and one that is alone has none.
template <typename HashOf, typename Use>
void NumberShared(size_t count, const HashOf& hash_of, const Use& use) {
  std::vector<std::pair<uint64_t, uint32_t>> sorted(count);
  for (uint32_t i = 0; i < count; ++i) sorted[i] = {hash_of(i), i};
  std::sort(sorted.begin(), sorted.end());
  uint32_t next = 0;
  for (size_t begin = 0, end = 0; begin < count; begin = end) {
    while (end < count && sorted[end].first == sorted[begin].first) ++end;
    if (end - begin < 2) continue;
    for (size_t i = begin; i < end; ++i) use(sorted[i].second, next);
    ++next;
  }
}

std::vector<BatchKeys> KeysOf(const Examples& examples, std::span<const Draw> draws,
                              std::span<const uint32_t> places) {
  std::vector<BatchKeys> keys(places.size());
  NumberShared(
      places.size(), [&](size_t i) { return examples.query_hash(draws[places[i]].query); },
      [&](size_t i, uint32_t key) { keys[i].text = key; });
  NumberShared(
      places.size(), [&](size_t i) { return examples.document_hash(draws[places[i]].document); },
      [&](size_t i, uint32_t key) { keys[i].document = key; });
  return keys;
}

// Gives batches new numbers by which tasks come in turns; `order` says in which order those of a
// task come. The first of_task[0] batches are those of the first task, and so on.
std::vector<uint32_t> InTurns(const std::vector<uint32_t>& order,
                              const std::vector<uint64_t>& of_task) {
  std::vector<std::vector<uint32_t>> batches;  // of each task, as they come
  uint32_t next = 0;
  for (const uint64_t count : of_task) {
    std::vector<uint32_t>& own = batches.emplace_back(count);
    std::iota(own.begin(), own.end(), next);
    next += static_cast<uint32_t>(count);
    std::sort(own.begin(), own.end(), [&](uint32_t a, uint32_t b) { return order[a] < order[b]; });
  }
  std::vector<uint32_t> numbers(order.size());
  Turns turns(of_task);
  const std::vector<bool> none(of_task.size());
  for (uint32_t number = 0; number < order.size(); ++number) {
    const size_t task = *turns.Next(none);
    numbers[batches[task][turns.taken()[task]]] = number;
    turns.Take(task);
  }
  return numbers;
}

Copies CopiesOf(const SamplerOptions& options) {
  if (!options.copies_meet) return Copies::kNever;
  return options.fill_batches ? Copies::kRatherThanSmallBatches : Copies::kWhereTheyMust;
}

void CheckSize(const char* what, size_t have, size_t want) {
  if (have != want) throw std::invalid_argument(what);
}

}  // namespace

BatchComposer::BatchComposer(const Pairs& pairs, const SamplerOptions& options)
    : pairs_(pairs),
      tokens_(pairs, options.lengths, options.negatives, options.mines),
      tasks_(options.tasks),
      batch_(options.batch),
      batch_tokens_(options.batch_tokens),
      by_task_(options.by_task && !options.tasks.empty()),
      similar_lengths_(options.similar_lengths),
      no_duplicates_(options.no_duplicates),
      copies_(CopiesOf(options)),
      in_turns_(by_task_ && options.mixture == Mixture::kRoundRobin) {
  const Examples& examples = pairs.examples();
  if (by_task_) CheckSize("each query needs a task", tasks_.size(), examples.size());
  if (similar_lengths_ || by_tokens()) {
    CheckSize("each query needs a length", options.lengths.queries.size(), examples.size());
    CheckSize("each document needs a length", options.lengths.documents.size(),
              examples.documents());
  }
  if (!by_tokens()) return;
  const LongDraw longest = tokens_.Longest();
  if (longest.tokens > batch_tokens_) throw DrawTooLong(longest);
}

std::vector<BatchComposer::Places> BatchComposer::ByTask(std::span<const Draw> draws) const {
  std::map<uint32_t, Places> by_task;
  for (uint32_t i = 0; i < draws.size(); ++i) by_task[TaskOf(draws[i])].push_back(i);
  std::vector<Places> lists;
  for (auto& [task, places] : by_task) lists.push_back(std::move(places));
  return lists;
}

// Every second window is sorted from long to short, so that a batch of two windows has similar
// lengths too.
void BatchComposer::SortByLength(std::span<const Draw> draws, Places& places) const {
  const auto shorter = [&](uint32_t a, uint32_t b) {
    return tokens_.OfPair(draws[a]) < tokens_.OfPair(draws[b]);
  };
  const auto longer = [&](uint32_t a, uint32_t b) { return shorter(b, a); };
  bool rises = true;
  for (auto begin = places.begin(); begin != places.end(); rises = !rises) {
    auto end = begin;
    for (uint64_t size = 0; end != places.end() && size < kWindowBatches * limit(); ++end) {
      size += SizeOf(draws[*end]);
    }
    rises ? std::stable_sort(begin, end, shorter) : std::stable_sort(begin, end, longer);
    begin = end;
  }
}

std::vector<uint32_t> BatchComposer::Cut(std::span<const Draw> draws, const Places& places,
                                         RandomStream random) const {
  std::vector<BatchKeys> keys(places.size());
  if (no_duplicates_) keys = KeysOf(pairs_.examples(), draws, places);
  if (!by_tokens()) {
    return ComposeEvenly(keys,
                         {.batch = batch_,
                          .refuge = similar_lengths_ ? Refuge::kNear : Refuge::kAnywhere,
                          .copies = copies_},
                         random);
  }
  std::vector<uint32_t> tokens;
  tokens.reserve(places.size());
  for (const uint32_t place : places) tokens.push_back(SizeOf(draws[place]));
  return ComposeByTokens(keys, tokens, {.limit = batch_tokens_, .copies = copies_}, random);
}

DrawBatches BatchComposer::Compose(std::span<const Draw> draws, RandomStream random) const {
  std::vector<uint32_t> batch_of(draws.size());
  std::vector<uint64_t> of_task;  // batches
  uint32_t batches = 0;
  uint64_t task = 0;
  for (Places& places : ByTask(draws)) {
    if (similar_lengths_) SortByLength(draws, places);
    random.Seek(++task << kTaskBits);
    const std::vector<uint32_t> cut = Cut(draws, places, random);
    for (size_t i = 0; i < places.size(); ++i) batch_of[places[i]] = batches + cut[i];
    of_task.push_back(1 + *std::max_element(cut.begin(), cut.end()));
    batches += static_cast<uint32_t>(of_task.back());
  }
  random.Seek(0);
  std::vector<uint32_t> lengths;
  if (similar_lengths_) {
    for (const Draw& draw : draws) lengths.push_back(tokens_.OfPair(draw));
  }
  std::vector<uint32_t> order = similar_lengths_ ? BalancedOrder(batch_of, batches, lengths, random)
                                                 : ShuffledOrder(batches, random);
  if (in_turns_) order = InTurns(order, of_task);
  for (uint32_t& batch : batch_of) batch = order[batch];
  return DrawBatches::Sorted(draws, batch_of);
}

size_t BatchComposer::Count(std::span<const Draw> draws, Copies copies) const {
  size_t count = 0;
  for (const Places& places : ByTask(draws)) {
    std::vector<BatchKeys> keys(places.size());
    if (no_duplicates_) keys = KeysOf(pairs_.examples(), draws, places);
    count += CountBatches(keys, batch_, copies);
  }
  return count;
}

size_t BatchComposer::EstimateBatches(size_t draws) const {
  const double tokens = tokens_.Mean() * static_cast<double>(draws);
  return std::max<size_t>(
      1, static_cast<size_t>(std::ceil(tokens / static_cast<double>(batch_tokens_))));
}

}  // namespace tandem::sampling
