// Times the Mann-Whitney loss with its gradients over P positives and as many negatives, in one
// run: the fast form, the tiled form and the same loss as a dense libtorch formula.
//
//   mann_whitney_bench [--temperature 0.01] [--threads N] [--largest 1000000] [--seconds 60]
//
// Each figure is the best of three calls (of one, where a call takes more than a second). A form is
// skipped at a size where it would not fit in memory or would take longer than --seconds, as the
// size before suggests; the table says so. The program also compares the forms' results.
#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/softplus.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "base/process/threads.h"
#include "base/random.h"
#include "objective/catalogue.h"

namespace tandem {
namespace {

using Clock = std::chrono::steady_clock;
using objective::Batch;
using objective::Gradient;

struct Options {
  double temperature = 0.01;
  int threads = 0;
  int64_t largest = 1000000;
  double seconds = 60;
};

// P queries with two documents each, a positive and a negative. Their scores are like those of a
// trained encoder: positives around 0.6, negatives around 0.2.
struct Pairs {
  explicit Pairs(int64_t count)
      : scores(static_cast<size_t>(2 * count)),
        gradient(scores.size()),
        positive(static_cast<size_t>(count)),
        negative(std::make_unique<bool[]>(scores.size())) {
    RandomStream random({.seed = 1, .purpose = "mann_whitney_bench"});
    const auto bell = [&random] {
      return (random.Uniform() + random.Uniform() + random.Uniform() - 1.5) / 1.5;
    };
    for (size_t i = 0; i < positive.size(); ++i) {
      scores[2 * i] = 0.6 + 0.4 * bell();
      scores[2 * i + 1] = 0.2 + 0.6 * bell();
      negative[2 * i + 1] = true;
    }
  }

  Batch View(int threads) const {
    return {.queries = static_cast<int64_t>(positive.size()),
            .documents = 2,
            .query_document = scores.data(),
            .positive = positive.data(),
            .negative = negative.get(),
            .threads = threads};
  }

  std::vector<double> scores;    // [P, 2]
  std::vector<double> gradient;  // [P, 2]
  std::vector<int64_t> positive;
  std::unique_ptr<bool[]> negative;
};

struct Result {
  double seconds = 0;
  double loss = 0;
  std::vector<double> gradient;  // [P, 2]
};

Result Time(const std::function<Result()>& body) {
  Result best{.seconds = std::numeric_limits<double>::infinity()};
  for (int repeat = 0; repeat < 3; ++repeat) {
    const Clock::time_point start = Clock::now();
    Result result = body();
    result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (result.seconds < best.seconds) best = std::move(result);
    if (best.seconds > 1) break;
  }
  return best;
}

Result RunForm(const char* form, Pairs& pairs, const Options& options) {
  config::Params params(objective::kMannWhitney.params);
  params.Set("temperature", options.temperature);
  params.Set("form", std::string(form));
  const auto formula = objective::kMannWhitney.make(params);
  return Time([&] {
    std::fill(pairs.gradient.begin(), pairs.gradient.end(), 0.0);
    Gradient gradient{.query_document = pairs.gradient.data()};
    const double loss = formula->Evaluate(pairs.View(options.threads), &gradient).loss;
    return Result{.loss = loss, .gradient = pairs.gradient};
  });
}

Result RunDense(Pairs& pairs, const Options& options) {
  const auto count = static_cast<int64_t>(pairs.positive.size());
  return Time([&] {
    const at::Tensor scores =
        at::from_blob(pairs.scores.data(), {count, 2}, at::kDouble).clone().set_requires_grad(true);
    const at::Tensor difference =
        scores.select(1, 1).unsqueeze(0).sub(scores.select(1, 0).unsqueeze(1));
    const at::Tensor loss = at::softplus(difference.div(options.temperature)).mean();
    loss.backward();
    const at::Tensor gradient = scores.grad().contiguous();
    const auto* values = gradient.data_ptr<double>();
    return Result{.loss = loss.item<double>(),
                  .gradient = std::vector<double>(values, values + 2 * count)};
  });
}

// The larger of two relative differences: of the losses, and of the gradients relative to the
// largest one.
double Difference(const Result& a, const Result& b) {
  double largest = 0, worst = 0;
  for (size_t i = 0; i < a.gradient.size(); ++i) {
    largest = std::max(largest, std::fabs(b.gradient[i]));
    worst = std::max(worst, std::fabs(a.gradient[i] - b.gradient[i]));
  }
  return std::max(worst / largest, std::fabs(a.loss - b.loss) / b.loss);
}

// Bytes that the dense formula holds at a time: differences, their quotients, losses, two
// gradients.
double DenseBytes(double count) { return 5 * 8 * count * count; }

double FreeBytes() {
  return static_cast<double>(sysconf(_SC_AVPHYS_PAGES)) *
         static_cast<double>(sysconf(_SC_PAGESIZE));
}

// Guesses the time of a form whose cost is O(P N) from the time of the size before.
struct Quadratic {
  double last_seconds = 0;
  double last_count = 0;
  double Guess(double count) const {
    if (last_count == 0) return 0;
    const double ratio = count / last_count;
    return last_seconds * ratio * ratio;
  }
  void Took(double seconds, double count) {
    last_seconds = seconds;
    last_count = count;
  }
};

std::string Cell(const std::optional<Result>& result, const std::string& why_not, double fast) {
  if (!result) return why_not;
  return fmt::format("{:.6f} s ({:.1f}x)", result->seconds, result->seconds / fast);
}

void Row(int64_t size, const Options& options, Quadratic& tiled_cost, Quadratic& dense_cost) {
  Pairs pairs(size);
  const auto count = static_cast<double>(size);
  const Result fast = RunForm("fast", pairs, options);
  std::optional<Result> tiled, dense;
  std::string tiled_why = "about " + fmt::format("{:.0f} s: left out", tiled_cost.Guess(count));
  std::string dense_why = fmt::format("{:.0f} GiB: does not fit", DenseBytes(count) / 0x1p30);
  if (tiled_cost.Guess(count) <= options.seconds) {
    tiled = RunForm("tiled", pairs, options);
    tiled_cost.Took(tiled->seconds, count);
  }
  if (DenseBytes(count) < 0.8 * FreeBytes()) {
    dense_why = "too slow: left out";
    if (dense_cost.Guess(count) <= options.seconds) {
      dense = RunDense(pairs, options);
      dense_cost.Took(dense->seconds, count);
    }
  }
  const auto difference = [&](const std::optional<Result>& other) {
    return other ? fmt::format("{:.1e}", Difference(fast, *other)) : std::string("-");
  };
  fmt::print("{:>9}  {:>10.6f} s  {:>24}  {:>24}  {:>10}  {:>10}\n", size, fast.seconds,
             Cell(tiled, tiled_why, fast.seconds), Cell(dense, dense_why, fast.seconds),
             difference(tiled), difference(dense));
  std::fflush(stdout);
}

void Run(Options options) {
  if (options.threads == 0) options.threads = UsableThreads();
  at::set_num_threads(options.threads);
  fmt::print(
      "Mann-Whitney loss and gradients, temperature {}, {} threads; (x): times the fast form\n"
      "{:>9}  {:>12}  {:>24}  {:>24}  {:>10}  {:>10}\n",
      options.temperature, options.threads, "P = N", "fast", "tiled", "dense libtorch", "to tiled",
      "to dense");
  Quadratic tiled, dense;
  for (int64_t size = 100; size <= options.largest; size *= 10) Row(size, options, tiled, dense);
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  tandem::Options options;
  CLI::App app("Times the forms of the Mann-Whitney loss against each other and a dense formula");
  app.add_option("--temperature", options.temperature, "As in recipes")
      ->check(CLI::Range(1e-4, 10.0));
  app.add_option("--threads", options.threads, "0: all that the machine gives");
  app.add_option("--largest", options.largest, "The largest P");
  app.add_option("--seconds", options.seconds, "The longest that one figure may take");
  CLI11_PARSE(app, argc, argv);
  tandem::Run(options);
  return 0;
}
