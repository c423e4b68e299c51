// Times exact kinds of index in one run with the limits of the machine: reading memory for one
// query, products of matrices for a batch.
//
//   index_bench --vectors V.npy --queries Q.npy --folder WORK [--threads N] [--batch 256] [--k 10]
//
// Prints one JSON object a line: the limits, then each kind. bench/index.py makes the vectors, runs
// this and the peers on them, and prints the ratios.
#include <fmt/format.h>
#include <omp.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/process/threads.h"
#include "embeddings/layouts/npy.h"
#include "index/vector_index.h"
#include "tensor/isa/isa.h"
#include "tensor/machine/machine_rates.h"
#include "tensor/machine/process.h"

namespace tandem {
namespace {

struct Options {
  std::filesystem::path vectors, queries, folder;
  int threads = 0;
  size_t batch = 256;
  size_t k = 10;
};

using Found = std::vector<std::vector<index::RowHit>>;

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Bytes/s of all threads that look for a byte which is not there, in memory far larger than the
// caches: the C library's memchr only loads and compares. Best of several attempts.
double ReadRate(int threads) {
  constexpr size_t kPart = size_t{512} << 20;
  std::vector<std::unique_ptr<char[]>> parts(static_cast<size_t>(threads));
  double best = 0;
  for (int attempt = 0; attempt < 5; ++attempt) {
    double start = 0;
#pragma omp parallel num_threads(threads)
    {
      auto& part = parts[static_cast<size_t>(omp_get_thread_num())];
      if (!part) {
        part = std::make_unique_for_overwrite<char[]>(kPart);
        std::memset(part.get(), 1, kPart);
      }
#pragma omp barrier
#pragma omp single
      start = Now();
      if (std::memchr(part.get(), 2, kPart) != nullptr) std::abort();
    }
    best = std::max(best, static_cast<double>(kPart) * threads / (Now() - start));
  }
  return best;
}

// The shortest time of a search for `count` queries, over all of them, a few times.
double SecondsOf(const index::VectorIndex& kind, const embeddings::MappedRows& queries,
                 size_t count, const Options& options, Found& found) {
  constexpr double kLeastSeconds = 1;
  found.assign(queries.rows, {});
  double best = 1e30;
  const double start = Now();
  for (size_t turn = 0; turn < 2 || Now() - start < kLeastSeconds; ++turn) {
    for (size_t q = 0; q + count <= queries.rows; q += count) {
      const double before = Now();
      kind.Search({.queries = queries.values.data() + q * queries.columns,
                   .count = count,
                   .k = options.k,
                   .threads = options.threads},
                  std::span(found).subspan(q, count));
      best = std::min(best, Now() - before);
      if (count == 1 && q >= 19) break;
    }
  }
  return best;
}

// The share of the hits of the first `count` queries that are in both.
double Recall(const Found& found, const Found& wanted, size_t count) {
  size_t same = 0, all = 0;
  for (size_t q = 0; q < count; ++q) {
    for (const index::RowHit& hit : wanted[q]) {
      ++all;
      same += static_cast<size_t>(std::ranges::count(found[q], hit.row, &index::RowHit::row));
    }
  }
  return all == 0 ? 1 : static_cast<double>(same) / static_cast<double>(all);
}

void Measure(const Options& options) {
  const embeddings::MappedRows vectors = embeddings::ReadNpy(options.vectors),
                               queries = embeddings::ReadNpy(options.queries);
  const index::VectorRows rows{vectors.values.data(), vectors.rows, vectors.columns};
  const tensor::ProductShape shape{static_cast<int64_t>(rows.width),
                                   static_cast<int64_t>(options.batch)};
  fmt::print("{{\"isa\": \"{}\", \"threads\": {}, \"read_rate\": {}, \"product_rate\": {}}}\n",
             tensor::NameOf(tensor::CurrentIsa()), options.threads, ReadRate(options.threads),
             tensor::ProductRate({{shape}}, tensor::Precision::kFp32));
  Found of_fp32;
  for (const index::IndexKindMaker* maker : index::IndexKindMakers()) {
    if (!maker->info->exact) continue;
    const config::Params params(maker->info->params);
    const double before = Now();
    if (maker->build) {
      maker->build(rows, params, options.folder, {.threads = options.threads});
    }
    const double build_seconds = Now() - before;
    const std::unique_ptr<index::VectorIndex> kind = maker->open(rows, params, options.folder);
    Found one, batch;
    const double one_seconds = SecondsOf(*kind, queries, 1, options, one);
    const double batch_seconds = SecondsOf(*kind, queries, options.batch, options, batch);
    const size_t whole = queries.rows / options.batch * options.batch;
    if (maker->info->name == "fp32") of_fp32 = batch;
    fmt::print(
        "{{\"kind\": \"{}\", \"build_seconds\": {}, \"one_seconds\": {}, \"batch_seconds\": {}, "
        "\"resident_bytes\": {}, \"recall\": {}}}\n",
        maker->info->name, build_seconds, one_seconds, batch_seconds, kind->resident_bytes(),
        Recall(batch, of_fp32, whole));
    std::fflush(stdout);
  }
}

int Main(int argc, char** argv) {
  CLI::App app("times exact kinds of index");
  Options options;
  app.add_option("--vectors", options.vectors)->required();
  app.add_option("--queries", options.queries)->required();
  app.add_option("--folder", options.folder)->required();
  app.add_option("--threads", options.threads);
  app.add_option("--batch", options.batch);
  app.add_option("--k", options.k);
  CLI11_PARSE(app, argc, argv);
  if (options.threads <= 0) options.threads = UsableThreads();
  tensor::SetUpProcess(options.threads);
  std::filesystem::create_directories(options.folder);
  Measure(options);
  return 0;
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) { return tandem::Main(argc, argv); }
