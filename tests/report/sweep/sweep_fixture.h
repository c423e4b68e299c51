// What the tests of the page of many runs share: made runs, and files of the page.
#pragma once

#include <string>
#include <vector>

#include "report/page/page_fixture.h"
#include "report/sweep/sweep.h"

namespace tandem::report {

struct MadeRun {
  std::string name;
  std::string objective = "infonce";
  double rate = 1e-4;
  int64_t seed = 1;
  double value = 0.5;  // of the best validation, at step 20 of 40
  bool finished = true;
  double base = 0.4;
};

inline RunRecord RunOf(const MadeRun& made) {
  const std::string rate = made.rate == 1e-5 ? "1e-05" : made.rate == 1e-4 ? "0.0001" : "0.001";
  RunRecord run{.name = made.name,
                .recipe_text = "seed = 1",
                .keys = {{"seed", {std::to_string(made.seed), static_cast<double>(made.seed)}},
                         {"objective.name", {made.objective, std::nullopt}},
                         {"optimizer.learning_rate", {rate, made.rate}},
                         {"train.batch", {"32", 32}}},
                .validation = ValidationFacts{.data = "packages", .split = "dev"}};
  const auto row = [](int64_t step, double value, bool best) {
    return ValidationRow{
        .step = step, .measures = {{"ndcg@10", value}, {"mrr@10", value / 2}}, .best = best};
  };
  run.log.validations = {row(0, made.base, true), row(20, made.value, made.value > made.base),
                         row(40, made.value - 0.1, false)};
  run.log.step = 40;
  run.seconds_to_best = 2;
  run.seconds_to_validations = {1, 2, 3};
  if (made.finished) run.log.finished = FinishedRow{.step = 40, .model_step = 20};
  return run;
}

inline ReportInput InputOf(const std::vector<MadeRun>& made) {
  ReportInput input{.title = "Report"};
  for (const MadeRun& one : made) input.runs.push_back(RunOf(one));
  return input;
}

// A group of three seeds, one of two, one of one seed.
inline std::vector<MadeRun> Three() {
  return {{.name = "a1", .seed = 1, .value = 0.50},
          {.name = "a2", .seed = 2, .value = 0.52},
          {.name = "a3", .seed = 3, .value = 0.54},
          {.name = "b1", .rate = 1e-5, .seed = 1, .value = 0.42},
          {.name = "b2", .rate = 1e-5, .seed = 2, .value = 0.60},
          {.name = "c1", .objective = "mann_whitney", .seed = 1, .value = 0.41}};
}

inline std::string FileOf(const Sweep& sweep, const std::string& path) {
  for (const ReportFile& file : MakeSweepReport(sweep)) {
    if (file.path == path) return file.bytes;
  }
  return "";
}

}  // namespace tandem::report
