// Recall against time of the approximate kinds of index, beside exact search.
//
//   ann_bench VECTORS.npy QUERIES.npy KIND[:name=value,...] [RECALL]
//
// builds an index of that kind in a folder that goes away, with two threads, and searches it with
// growing effort. One TSV line for each effort: what, effort, recall@10, milliseconds a query on
// one thread and on two (queries run beside each other), resident bytes, bytes on disk, seconds of
// building. The line "own" has the effort that building chose for the recall (0.95).
// bench/ann_bench.py runs it beside other libraries.
#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "base/error.h"
#include "base/process/threads.h"
#include "embeddings/layouts/npy.h"
#include "index/approximate.h"
#include "index/calibrate.h"
#include "index/graph/best_rows.h"

namespace tandem::index {
namespace {

constexpr size_t kDepth = 10;

double Seconds(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

struct Questions {
  VectorRows rows;
  std::vector<std::vector<RowHit>> best;  // exact
};

Questions Answered(const VectorRows& rows, const VectorRows& queries) {
  Questions questions{.rows = queries, .best = std::vector<std::vector<RowHit>>(queries.count)};
  ParallelFor(queries.count, 1, UsableThreads(), [&](size_t begin, size_t end) {
    for (size_t q = begin; q < end; ++q) {
      questions.best[q] = ScanAllowed(rows, queries.values + q * rows.width, nullptr, kDepth);
    }
  });
  return questions;
}

double Recall(const Questions& questions, const std::vector<std::vector<RowHit>>& found) {
  size_t hits = 0;
  for (size_t q = 0; q < found.size(); ++q) {
    for (const RowHit& hit : found[q]) hits += hit.score >= questions.best[q].back().score;
  }
  return static_cast<double>(hits) / static_cast<double>(found.size() * kDepth);
}

struct Built {
  std::unique_ptr<VectorIndex> index;
  uint64_t disk_bytes = 0;
  double seconds = 0;
};

void PrintLine(const std::string& what, const Built& built, const Questions& questions,
               size_t effort) {
  std::vector<std::vector<RowHit>> found(questions.rows.count);
  VectorQuery query{.queries = questions.rows.values,
                    .count = questions.rows.count,
                    .k = kDepth,
                    .effort = effort};
  built.index->Search(query, found);  // pages are in memory then
  double best[2] = {1e9, 1e9};
  for (int run = 0; run < 3; ++run) {
    for (int threads : {1, 2}) {
      query.threads = threads;
      const double seconds = Seconds([&] { built.index->Search(query, found); });
      best[threads - 1] = std::min(best[threads - 1], seconds);
    }
  }
  const double each = 1e3 / static_cast<double>(questions.rows.count);
  fmt::print("{}\t{}\t{:.4f}\t{:.4f}\t{:.4f}\t{}\t{}\t{:.1f}\n", what, effort,
             Recall(questions, found), best[0] * each, best[1] * each,
             built.index->resident_bytes(), built.disk_bytes, built.seconds);
  std::fflush(stdout);
}

// "hnsw:m=32,ef_construction=200"
config::Params ParseParams(const IndexKindInfo& kind, std::string_view text, double recall) {
  config::Params params(kind.params);
  params.Set("recall", recall);
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(item.size() + 1, text.size()));
    const std::string_view name = item.substr(0, item.find('=')),
                           value = item.substr(item.find('=') + 1);
    int64_t number = 0;
    const bool is_number =
        std::from_chars(value.data(), value.data() + value.size(), number).ec == std::errc();
    const std::string problem =
        is_number ? params.Set(name, number) : params.Set(name, std::string(value));
    if (!problem.empty()) throw UsageError(fmt::format("{} {}", name, problem));
  }
  return params;
}

using BuildKind = decltype(&BuildHnsw);
using OpenKind = decltype(&OpenHnsw);

int Run(int argc, char** argv) {
  if (argc < 4) throw UsageError("usage: ann_bench VECTORS.npy QUERIES.npy KIND[:...] [RECALL]");
  const embeddings::MappedRows vectors = embeddings::ReadNpy(argv[1]),
                               asked = embeddings::ReadNpy(argv[2]);
  const VectorRows rows{vectors.values.data(), vectors.rows, vectors.columns};
  const std::string_view what = argv[3];
  const std::string_view name = what.substr(0, what.find(':'));
  const IndexKindInfo& kind = FindIndexKind(name);
  const std::string_view settings =
      name.size() < what.size() ? what.substr(name.size() + 1) : std::string_view();
  const config::Params params = ParseParams(kind, settings, argc > 4 ? std::stod(argv[4]) : 0.95);
  const BuildKind build = name == "hnsw"       ? BuildHnsw
                          : name == "ivf_flat" ? BuildIvfFlat
                                               : BuildIvfPq;
  const OpenKind open = name == "hnsw" ? OpenHnsw : name == "ivf_flat" ? OpenIvfFlat : OpenIvfPq;

  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("ann_bench.{}", getpid());
  std::filesystem::create_directory(folder);
  Built built;
  built.seconds = Seconds([&] { build(rows, params, folder, {.threads = 2}); });
  built.index = open(rows, params, folder);
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    built.disk_bytes += file.file_size();
  }
  std::filesystem::remove_all(folder);  // what is mapped stays
  const Questions questions = Answered(rows, {asked.values.data(), asked.rows, asked.columns});
  for (size_t effort : {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}) {
    if (name == "hnsw" && effort < kDepth) continue;
    PrintLine(std::string(what), built, questions, effort);
  }
  const MeasuredRecall measured = built.index->measured().value();
  PrintLine(fmt::format("own ({}, measured {:.3f})", what, measured.recall), built, questions,
            measured.effort);
  return 0;
}

}  // namespace
}  // namespace tandem::index

int main(int argc, char** argv) {
  try {
    return tandem::index::Run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "ann_bench: {}\n", error.what());
    return 2;
  }
}
