// Dynamic pruning at the size of a large training set: memory, and time to choose a batch.
//
//   sampling_bench [--queries N] [--pairs N] [--batches N]
//
// Prints a line for each figure: what was measured, its limit, and their ratio. Memory is what the
// C library's allocator holds before and after: all of it, examples included; what queries take
// besides pairs is measured with one pair a query. The memory of documents is told apart, since
// their number is not that of the pairs. Batches get feedback as training gives it, and the time
// includes that. Last comes what other ways to make batches take, for `uniform` and
// `dynamic_pruning`.
#include <malloc.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "sampling/catalogue.h"

namespace tandem::sampling {
namespace {

constexpr double kBytesAPair = 24;
constexpr double kBytesAQuery = 64;
constexpr double kMicrosecondsAtEveryStep = 200;
constexpr double kMicrosecondsAtTenSteps = 100;
constexpr size_t kBatch = 64;

double HeldBytes() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd);
}

// Of this thread, which is the only one: other processes do not count.
double ProcessorSeconds() {
  struct timespec time {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// `documents` documents; pairs are spread evenly, each query's documents at random.
Examples MakeExamples(uint32_t queries, uint32_t pairs, uint32_t documents) {
  RandomStream random({1, "bench"});
  std::vector<uint64_t> hashes(documents);
  for (uint64_t& hash : hashes) hash = random.Next();
  Examples examples(1, std::move(hashes));
  examples.Reserve(queries, pairs);
  std::vector<Judged> judged;
  for (uint32_t q = 0; q < queries; ++q) {
    const auto count =
        static_cast<uint32_t>(uint64_t{q + 1} * pairs / queries - uint64_t{q} * pairs / queries);
    judged.clear();
    const auto first = static_cast<uint32_t>(random.Below(documents));
    for (uint32_t i = 0; i < count; ++i) judged.push_back({(first + i * 7919) % documents, 1});
    examples.Add(random.Next(), judged);
  }
  return examples;
}

std::vector<float> MakeScores(size_t count) {
  RandomStream random({2, "bench"});
  std::vector<float> scores(count);
  for (float& score : scores) score = static_cast<float>(random.Uniform());
  return scores;
}

// Ten tasks, and texts of 4 to 259 tokens.
struct Figures {
  explicit Figures(const Examples& examples)
      : tasks(examples.size()), queries(examples.size()), documents(examples.documents()) {
    RandomStream random({3, "bench"});
    for (uint32_t& task : tasks) task = static_cast<uint32_t>(random.Below(10));
    for (auto* lengths : {&queries, &documents}) {
      for (uint32_t& length : *lengths) length = 4 + static_cast<uint32_t>(random.Below(256));
    }
  }
  std::vector<uint32_t> tasks, queries, documents;
};

std::unique_ptr<Sampler> MakeSampler(const Examples& examples, int64_t interval) {
  config::Params params(kDynamicPruning.params);
  params.Set("update_interval", interval);
  const std::vector<float> scores = MakeScores(Pairs(examples, false).size());
  return kDynamicPruning.make(
      examples,
      {.batch = kBatch, .length = {.epochs = 3}, .params = params, .scores = {scores, {}}});
}

void Print(const char* what, double value, double limit, const char* unit) {
  std::printf("%-34s %8.1f %s, limit %.0f: %.2f\n", what, value, unit, limit, value / limit);
}

// Microseconds of processor time for a batch and its feedback: the mean over a whole pass, its
// beginning included. The clock is read twice in all: on some machines reading it takes as long as
// a part of a batch.
double MicrosecondsABatch(const Examples& examples, int64_t interval, uint64_t most) {
  const std::unique_ptr<Sampler> sampler = MakeSampler(examples, interval);
  const std::vector<float> cosines = MakeScores(size_t{1} << 16);
  const auto take = [&](uint64_t number) {
    const Batch batch = sampler->Next();
    const size_t first = number * kBatch % (cosines.size() - kBatch);
    sampler->AddFeedback({.batch = &batch,
                          .cosines = std::span(cosines).subspan(first, batch.rows()),
                          .losses = {}});
  };
  // The constructor begins the first pass, outside of the measurement; so the second one counts.
  uint64_t number = 0;
  while (sampler->Passes() < 1 - 1e-9) take(number++);
  const double start = ProcessorSeconds();
  const uint64_t first = number;
  while (sampler->Passes() < 2 - 1e-9 && number - first < most) take(number++);
  return 1e6 * (ProcessorSeconds() - start) / static_cast<double>(number - first);
}

// Microseconds of processor time for a batch of a whole pass, its beginning included.
double MicrosecondsComposed(const SamplerInfo& info, const Examples& examples,
                            const SamplerOptions& options) {
  const std::unique_ptr<Sampler> sampler = info.make(examples, options);
  uint64_t batches = 0;
  while (sampler->Passes() < 1 - 1e-9) sampler->Next();
  const double start = ProcessorSeconds();
  for (; sampler->Passes() < 2 - 1e-9; ++batches) sampler->Next();
  return 1e6 * (ProcessorSeconds() - start) / static_cast<double>(batches);
}

void PrintCompositions(const Examples& examples) {
  const Figures figures(examples);
  const std::vector<float> scores = MakeScores(Pairs(examples, false).size());
  const SamplerOptions plain = {
      .batch = kBatch,
      .length = {.epochs = 3},
      .scores = {scores, {}},
      .tasks = figures.tasks,
      .lengths = {.queries = figures.queries, .documents = figures.documents}};
  SamplerOptions by_task = plain, similar = plain, tokens = plain, all = plain;
  by_task.by_task = all.by_task = true;
  similar.similar_lengths = all.similar_lengths = true;
  tokens.batch_tokens = all.batch_tokens = 64 * 263;
  const std::pair<const char*, const SamplerOptions*> rows[] = {{"plain", &plain},
                                                                {"by task", &by_task},
                                                                {"similar lengths", &similar},
                                                                {"tokens", &tokens},
                                                                {"all three", &all}};
  for (const SamplerInfo* info : {&kUniform, &kDynamicPruning}) {
    for (const auto& [name, options] : rows) {
      std::printf("a batch of %s, %-16s %8.1f us\n", std::string(info->name).c_str(), name,
                  MicrosecondsComposed(*info, examples, *options));
    }
  }
}

// Bytes that examples and sampler hold, without documents' hashes.
double BytesOf(uint32_t queries, uint32_t pairs, uint32_t documents) {
  const double before = HeldBytes();
  const Examples examples = MakeExamples(queries, pairs, documents);
  const std::unique_ptr<Sampler> sampler = MakeSampler(examples, 1);
  return HeldBytes() - before - 8.0 * documents;
}

int Run(uint32_t queries, uint32_t pairs, uint64_t batches) {
  std::printf("%u pairs of %u queries, batches of %zu\n", pairs, queries, kBatch);
  const uint32_t documents = pairs;
  // Bytes = a * queries + b * pairs + c; c is the histogram's, of all pairs together.
  const double all = BytesOf(queries, pairs, documents);
  const double single = BytesOf(queries, queries, documents);
  const double histogram = BytesOf(1, 1, 1);
  const double each_pair = (all - single) / static_cast<double>(pairs - queries);
  const double a_pair = each_pair + histogram / pairs;
  const double a_query = (single - histogram - each_pair * queries) / queries;
  Print("bytes a pair", a_pair, kBytesAPair, "bytes");
  Print("bytes a pair, with its document", a_pair + 8, kBytesAPair, "bytes");
  Print("bytes a query", a_query, kBytesAQuery, "bytes");
  Print("all, for 24 a pair and 64 a query", (all + 8.0 * documents) / 1e6,
        (kBytesAPair * pairs + kBytesAQuery * queries) / 1e6, "MB");
  const Examples examples = MakeExamples(queries, pairs, documents);
  Print("a batch, update interval 1", MicrosecondsABatch(examples, 1, batches),
        kMicrosecondsAtEveryStep, "us");
  Print("a batch, update interval 10", MicrosecondsABatch(examples, 10, batches),
        kMicrosecondsAtTenSteps, "us");
  PrintCompositions(examples);
  return 0;
}

}  // namespace
}  // namespace tandem::sampling

int main(int argc, char** argv) {
  uint32_t queries = 1'000'000, pairs = 10'000'000;
  uint64_t batches = UINT64_MAX;
  for (int i = 1; i + 1 < argc; i += 2) {
    const uint64_t value = std::strtoull(argv[i + 1], nullptr, 10);
    if (std::strcmp(argv[i], "--queries") == 0) queries = static_cast<uint32_t>(value);
    if (std::strcmp(argv[i], "--pairs") == 0) pairs = static_cast<uint32_t>(value);
    if (std::strcmp(argv[i], "--batches") == 0) batches = value;
  }
  return tandem::sampling::Run(queries, pairs, batches);
}
