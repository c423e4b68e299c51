// Times mining by embeddings in one run with the machine's rate of matrix products: which share of
// that rate the whole search reaches, its selection of the best hits included.
//
//   mine_bench [--queries 20000] [--documents 100000] [--width 384] [--threads N] [--memory-mib N]
//
// Embeddings are random clusters. Each figure is the best of three calls. `top` are the five best
// of the ranks 10 to 199, `random` are five drawn from them: it needs the whole range of every
// query.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "base/random.h"
#include "data/training_set.h"
#include "search/mining_by_embeddings/mine.h"
#include "tensor/core/make.h"
#include "tensor/core/parallel.h"
#include "tensor/core/tensor.h"
#include "tensor/isa/isa.h"
#include "tensor/machine/machine_rates.h"
#include "tensor/machine/process.h"

namespace tandem {
namespace {

using search::Mined;
using search::MiningRules;
using tensor::Precision;

struct Options {
  int64_t queries = 20000;
  int64_t documents = 100000;
  int64_t width = 384;
  int threads = 0;
  size_t memory_mib = 2048;
};

tensor::Tensor ClusteredRows(int64_t rows, int64_t width, uint64_t seed) {
  constexpr uint64_t kClusters = 1000;
  tensor::Tensor values = tensor::Empty({rows, width}, tensor::kFloat);
  tensor::ParallelFor(0, rows, 64, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      RandomStream own({.seed = seed, .purpose = "row", .epoch = static_cast<uint64_t>(row)});
      RandomStream centre({.seed = 0, .purpose = "centre", .epoch = own.Below(kClusters)});
      float* to = values.data_ptr<float>() + row * width;
      for (int64_t i = 0; i < width; ++i) {
        to[i] = static_cast<float>(centre.Uniform() + own.Uniform() - 1);
      }
    }
  });
  return values;
}

// Query q has document q as its positive.
data::TrainingSet MakeSet(const Options& options) {
  data::Dataset dataset;
  for (int64_t d = 0; d < options.documents; ++d) {
    dataset.documents.Add(fmt::format("d{}", d), fmt::format("{}", d));
  }
  for (int64_t q = 0; q < options.queries; ++q) {
    dataset.queries.Add(fmt::format("q{}", q), fmt::format("{}", q));
    dataset.judged.push_back(
        {.query = static_cast<uint32_t>(q),
         .judgements = {{.document = static_cast<uint32_t>(q % options.documents), .grade = 1}}});
  }
  return data::BuildTrainingSet(std::move(dataset), 1);
}

struct Result {
  double seconds = 1e30;
  Mined mined;
};

double ShareOfSame(const Mined& a, const Mined& b) {
  size_t same = 0, all = 0;
  for (size_t q = 0; q < a.queries.size(); ++q) {
    for (const search::Hit& hit : a.queries[q].negatives) {
      ++all;
      for (const search::Hit& other : b.queries[q].negatives)
        same += other.document == hit.document;
    }
  }
  return static_cast<double>(same) / static_cast<double>(std::max<size_t>(all, 1));
}

void Run(const Options& options) {
  tensor::SetUpProcess(options.threads);
  const data::TrainingSet set = MakeSet(options);
  const search::MiningTask task = search::MakeMiningTask(set);
  const tensor::Tensor query_rows = ClusteredRows(options.queries, options.width, 1);
  const tensor::Tensor document_rows = ClusteredRows(options.documents, options.width, 2);
  const search::SimilarityRows queries(query_rows, "cosine"), documents(document_rows, "cosine");
  const auto mine = [&](const MiningRules& rules, Precision precision) {
    Result best;
    for (int attempt = 0; attempt < 3; ++attempt) {
      const auto start = std::chrono::steady_clock::now();
      Mined mined =
          search::MineByEmbeddings(set, task, rules, queries, documents,
                                   {.precision = precision, .memory = options.memory_mib << 20});
      const double seconds =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      if (seconds < best.seconds) best = {seconds, std::move(mined)};
    }
    return best;
  };
  const double flops = 2.0 * static_cast<double>(options.queries) *
                       static_cast<double>(options.documents) * static_cast<double>(options.width);
  const tensor::ProductShape shape{.depth = options.width, .columns = options.width};
  fmt::print("{} queries x {} documents, width {}, {} threads, {}\n", options.queries,
             options.documents, options.width, tensor::ThreadCount(),
             tensor::NameOf(tensor::CurrentIsa()));
  fmt::print("{:6} {:8} {:>9} {:>9} {:>9} {:>7} {:>6}\n", "", "", "seconds", "GFLOP/s", "products",
             "share", "same");
  Mined exact[2];
  for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
    if (precision == Precision::kBf16 && tensor::CurrentIsa() < tensor::Isa::kAvx512Bf16) continue;
    const double rate = tensor::ProductRate({&shape, 1}, precision);
    for (const bool random : {false, true}) {
      Result result = mine({.random = random}, precision);
      Mined& reference = exact[random];
      if (precision == Precision::kFp32) reference = std::move(result.mined);
      const Mined& mined = precision == Precision::kFp32 ? reference : result.mined;
      const double reached = flops / result.seconds;
      fmt::print("{:6} {:8} {:9.2f} {:9.0f} {:9.0f} {:6.1f}% {:5.2f}%\n",
                 tensor::PrecisionName(precision), random ? "random" : "top", result.seconds,
                 reached / 1e9, rate / 1e9, 100 * reached / rate,
                 100 * ShareOfSame(reference, mined));
      std::fflush(stdout);
    }
  }
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  tandem::Options options;
  CLI::App app("Times mining against the machine's rate of products");
  app.add_option("--queries", options.queries);
  app.add_option("--documents", options.documents);
  app.add_option("--width", options.width);
  app.add_option("--threads", options.threads);
  app.add_option("--memory-mib", options.memory_mib);
  CLI11_PARSE(app, argc, argv);
  tandem::Run(options);
  return 0;
}
