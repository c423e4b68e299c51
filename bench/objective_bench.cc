// Times objectives with their gradients over batches of N queries against the same N documents, in
// one run: what a mean over cells (pointwise: bixse), a softmax of each row (infonce) and means
// over pairs (mann_whitney, pairwise_bce, lambda_loss) cost.
//
//   objective_bench [--smallest 256] [--largest 8192] [--labelled 4] [--threads N]
//
// Every query has its own document and --labelled further ones, of grades below 1; all other
// documents are negatives. Each figure is the best of three calls (of one, where a call takes more
// than two seconds). (x) is the ratio to `bixse` of the same row. The column `memory` is a limit:
// the time of reading N x N scores once and of reading and writing as many numbers of a gradient.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/process/threads.h"
#include "base/random.h"
#include "objective/catalogue.h"

namespace tandem {
namespace {

using Clock = std::chrono::steady_clock;
using objective::Batch;
using objective::Gradient;
using objective::LabelledCell;

struct Options {
  int64_t smallest = 256;
  int64_t largest = 8192;
  int64_t labelled = 4;
  int threads = 0;
};

constexpr std::array kObjectives = {&objective::kBixse, &objective::kInfoNce,
                                    &objective::kMannWhitney, &objective::kPairwiseBce,
                                    &objective::kLambdaLoss};

// Cosines like those of a trained encoder: own documents around 0.6, others around 0.1.
struct Cells {
  Cells(int64_t count, int64_t labelled)
      : queries(count),
        scores(static_cast<size_t>(count * count)),
        gradient(scores.size()),
        negative(std::make_unique<bool[]>(scores.size())),
        own_grades(static_cast<size_t>(count), 1.0),
        row_starts({0}) {
    RandomStream random({.seed = 1, .purpose = "objective_bench"});
    for (double& score : scores) score = 0.1 + 0.4 * (random.Uniform() - 0.5);
    std::fill_n(negative.get(), scores.size(), true);
    for (int64_t i = 0; i < count; ++i) {
      positive.push_back(i);
      std::vector<LabelledCell> of_row;
      for (int64_t j = 0; j <= std::min(labelled, count - 1); ++j) {
        const int64_t column = (i + j) % count;
        scores[static_cast<size_t>(i * count + column)] += 0.5 / static_cast<double>(1 + j);
        negative[static_cast<size_t>(i * count + column)] = false;
        const double grade = j == 0 ? 1.0 : 0.8 / static_cast<double>(j);
        of_row.push_back({.column = column, .grade = grade});
      }
      std::sort(of_row.begin(), of_row.end(),
                [](const auto& a, const auto& b) { return a.column < b.column; });
      cells.insert(cells.end(), of_row.begin(), of_row.end());
      row_starts.push_back(static_cast<int64_t>(cells.size()));
    }
  }

  Batch View(int threads) const {
    return {.queries = queries,
            .documents = queries,
            .query_document = scores.data(),
            .positive = positive.data(),
            .own_grades = own_grades.data(),
            .negative = negative.get(),
            .labelled = cells.data(),
            .labelled_begin = row_starts.data(),
            .threads = threads};
  }

  int64_t queries;
  std::vector<double> scores;    // [N, N]
  std::vector<double> gradient;  // [N, N]
  std::unique_ptr<bool[]> negative;
  std::vector<double> own_grades;
  std::vector<int64_t> positive;
  std::vector<LabelledCell> cells;
  std::vector<int64_t> row_starts;
};

double BestSeconds(const std::function<void()>& body) {
  double best = std::numeric_limits<double>::infinity();
  for (int repeat = 0; repeat < 3; ++repeat) {
    const Clock::time_point start = Clock::now();
    body();
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    best = std::min(best, seconds);
    if (seconds > 2) break;
  }
  return best;
}

double MemorySeconds(Cells& cells, int threads) {
  return BestSeconds([&] {
    const auto size = static_cast<int64_t>(cells.scores.size());
#pragma omp parallel for num_threads(threads)
    for (int64_t i = 0; i < size; ++i) {
      cells.gradient[static_cast<size_t>(i)] += cells.scores[static_cast<size_t>(i)];
    }
  });
}

double ObjectiveSeconds(const objective::ObjectiveInfo& info, Cells& cells, int threads) {
  const auto formula = info.make(config::Params(info.params));
  return BestSeconds([&] {
    std::fill(cells.gradient.begin(), cells.gradient.end(), 0.0);
    Gradient gradient{.query_document = cells.gradient.data()};
    formula->Evaluate(cells.View(threads), &gradient);
  });
}

void Run(const Options& options) {
  const int threads = options.threads == 0 ? UsableThreads() : options.threads;
  fmt::print(
      "Objectives with gradients, N queries against N documents, {} graded documents a query "
      "beside "
      "its own, {} threads\n(x): times bixse\n{:>6}  {:>18}",
      options.labelled, threads, "N", "memory");
  for (const auto* info : kObjectives) fmt::print("  {:>20}", info->name);
  fmt::print("\n");
  for (int64_t count = options.smallest; count <= options.largest; count *= 2) {
    Cells cells(count, options.labelled);
    const double memory = MemorySeconds(cells, threads);
    std::vector<double> seconds;
    for (const auto* info : kObjectives) {
      seconds.push_back(ObjectiveSeconds(*info, cells, threads));
    }
    const auto cell = [&](double one) {
      return fmt::format("{:.4f} s ({:.2f}x)", one, one / seconds.front());
    };
    fmt::print("{:>6}  {:>18}", count, cell(memory));
    for (const double one : seconds) fmt::print("  {:>20}", cell(one));
    fmt::print("\n");
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  tandem::Options options;
  CLI::App app("Times pointwise and pairwise objectives beside each other");
  app.add_option("--smallest", options.smallest, "The smallest batch")->check(CLI::Range(2, 65536));
  app.add_option("--largest", options.largest, "The largest batch; each is twice the one before")
      ->check(CLI::Range(2, 65536));
  app.add_option("--labelled", options.labelled, "Graded documents of a query beside its own")
      ->check(CLI::Range(0, 1024));
  app.add_option("--threads", options.threads, "0: all that the machine gives");
  CLI11_PARSE(app, argc, argv);
  tandem::Run(options);
  return 0;
}
