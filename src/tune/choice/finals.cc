#include "tune/choice/finals.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "base/log.h"
#include "report/records/run_log.h"
#include "train/run/training_run.h"
#include "tune/choice/retrain.h"
#include "tune/choice/selection.h"
#include "tune/query_values.h"
#include "tune/schedule/halving.h"
#include "tune/trials/quiet_sink.h"
#include "tune/trials/trial.h"
#include "tune/trials/trials.h"
#include "weights/folders/average_models.h"

namespace tandem::tune {
namespace {

namespace fs = std::filesystem;

// A model that may be chosen, where its parts are.
struct ArmPlace {
  std::string name;  // "trial 7", "0.5 of trial 7"
  int64_t trial = 0;
  double weight = 1;  // of the tuned model
  fs::path model;
  fs::path values;  // of the validation's queries
};

std::string NameOf(int64_t trial, double weight) {
  return weight == 1 ? fmt::format("trial {}", trial)
                     : fmt::format("{} of trial {}", weight, trial);
}

const Json* LastRungOf(const Journal& journal, int64_t trial) {
  const Json* last = nullptr;
  for (const Json* row : journal.All("rung")) {
    if (row->at("trial").get<int64_t>() == trial) last = row;
  }
  return last;
}

std::vector<ArmPlace> FinalistArms(const SearchContext& search, const SearchPlan& plan) {
  std::vector<ArmPlace> arms;
  for (const int64_t trial : Finalists(plan.brackets, ResultsOf(search.journal))) {
    const auto best_step = LastRungOf(search.journal, trial)->at("best_step").get<int64_t>();
    arms.push_back({.name = NameOf(trial, 1),
                    .trial = trial,
                    .model = search.folder.TrialRun(trial) / "model",
                    .values = search.folder.TrialValues(trial, best_step)});
  }
  return arms;
}

std::vector<double> WeightsOf(const config::TuneRecipe& tune) {
  if (!tune.average.empty()) return tune.average;
  return tune.keep.empty() ? std::vector<double>() : std::vector<double>{0.25, 0.5, 0.75};
}

// Makes the average of the base and an arm, unless an earlier process did; rank 0 does. Returns why
// it cannot be made, else "", on all ranks.
std::string MakeAverage(const SearchContext& search, const ArmPlace& of, const ArmPlace& average) {
  std::string why;
  search.group().Agree([&] {
    if (!search.leads() || fs::exists(average.model)) return;
    try {
      MakeFolder(average.model.parent_path());
      weights::AverageModels(search.base(), of.model, average.weight, average.model);
    } catch (const ModelError& error) {
      why = error.what();
    }
  });
  return search.group().BroadcastBytes(why);
}

// All ranks measure a model together, before rank 0 writes the row of it.
const Json& AddAverageRow(const SearchContext& search, const ArmPlace& of,
                          const ArmPlace& average) {
  Json row = {{"event", "average"}, {"trial", of.trial}, {"weight", average.weight}};
  if (const std::string why = MakeAverage(search, of, average); !why.empty()) {
    row["why"] = why;
    return search.journal.Append([&] { return row; });
  }
  const train::Validated found =
      search.measurer.Measure(average.model, train::SettingsOf::kFolder, search.options.stop);
  return search.journal.Append([&] {
    WriteQueryValues(average.values, found.queries);
    row["value"] = found.value;
    return row;
  });
}

const Json* FindAverage(const Journal& journal, int64_t trial, double weight) {
  for (const Json* row : journal.All("average")) {
    if (row->at("trial").get<int64_t>() == trial && row->at("weight").get<double>() == weight) {
      return row;
    }
  }
  return nullptr;
}

// Adds the averages of the base and the best finalist.
void AddAverages(const SearchContext& search, std::vector<ArmPlace>* arms) {
  if (arms->empty()) return;
  const ArmPlace best = arms->front();
  for (const double weight : WeightsOf(search.tune.tune)) {
    const fs::path folder = search.folder.Average(best.trial, weight);
    const ArmPlace average{.name = NameOf(best.trial, weight),
                           .trial = best.trial,
                           .weight = weight,
                           .model = folder / "model",
                           .values = folder / "dev.jsonl"};
    const Json* row = FindAverage(search.journal, best.trial, weight);
    if (row == nullptr) {
      row = &AddAverageRow(search, best, average);
      if (row->contains("why")) {
        Warn(fmt::format("{} is left out: {}", average.name, row->at("why").text()));
      }
    }
    if (!row->contains("why")) arms->push_back(average);
  }
}

double KeptValue(const SearchContext& search, const std::string& name, const fs::path& model,
                 const std::string& folder) {
  for (const Json* row : search.journal.All("keep")) {
    if (row->at("model").text() == name && row->at("folder").text() == folder) {
      return row->at("value").get<double>();
    }
  }
  const bool base = name == "base";
  const train::Validated found = search.measurer.MeasureOn(
      {.folder = folder, .split = search.tune.tune.keep_split}, model,
      base ? train::SettingsOf::kRecipe : train::SettingsOf::kFolder, search.options.stop);
  const Json& row = search.journal.Append([&] {
    return Json{{"event", "keep"}, {"model", name}, {"folder", folder}, {"value", found.value}};
  });
  Note(fmt::format("{} on {}: {} {:.4f}", name, folder, search.measure(),
                   row.at("value").get<double>()));
  return row.at("value").get<double>();
}

// The largest loss of a model on a sentinel set; none without sets.
std::optional<double> LossOf(const SearchContext& search, const ArmPlace& arm) {
  std::optional<double> loss;
  for (const std::string& folder : search.tune.tune.keep) {
    const double base = KeptValue(search, "base", search.base(), folder);
    const double value = KeptValue(search, arm.name, arm.model, folder);
    loss = std::max(loss.value_or(0), base - value);
  }
  return loss;
}

Json ArmJson(const ArmTest& test, const ArmPlace& place, const SearchFolder& folder) {
  Json arm = {{"name", test.name},
              {"trial", place.trial},
              {"weight", place.weight},
              {"model", place.model.lexically_relative(folder.path()).native()},
              {"value", test.value},
              {"gain", test.gain},
              {"half_width", test.half_width},
              {"p", test.p},
              {"holm_p", test.holm_p}};
  if (test.loss) arm["loss"] = *test.loss;
  arm["on_border"] = test.on_border;
  arm["allowed"] = test.allowed;
  return arm;
}

Json ChoiceRow(const SearchContext& search, const std::vector<ArmPlace>& places,
               const std::vector<std::optional<double>>& losses) {
  std::vector<Arm> arms;
  for (size_t i = 0; i < places.size(); ++i) {
    arms.push_back({places[i].name, ReadQueryValues(places[i].values), losses[i]});
  }
  const Selection found = Select(ReadQueryValues(search.folder.base_values()), arms,
                                 {.seed = static_cast<uint64_t>(search.measurer.recipe().seed),
                                  .most_loss = search.tune.tune.most_loss});
  Json tests = Json::array();
  for (size_t i = 0; i < places.size(); ++i) {
    tests.push_back(ArmJson(found.arms[i], places[i], search.folder));
  }
  Json row = {{"event", "choice"}, {"base", found.base}, {"queries", found.queries}};
  row["arms"] = std::move(tests);
  if (found.chosen) row["chosen"] = *found.chosen;
  row["detectable"] = found.detectable;
  if (found.queries_needed) row["queries_needed"] = *found.queries_needed;
  row["verdict"] = VerdictText(found);
  return row;
}

const Json& Choose(const SearchContext& search, const std::vector<ArmPlace>& arms) {
  if (const Json* const row = search.journal.Find("choice")) return *row;
  std::vector<std::optional<double>> losses;
  for (const ArmPlace& arm : arms) losses.push_back(LossOf(search, arm));
  return search.journal.Append([&] { return ChoiceRow(search, arms, losses); });
}

QueryValues MeasureTest(const SearchContext& search, const fs::path& model,
                        train::SettingsOf settings) {
  return search.measurer
      .MeasureOn({.folder = *search.tune.tune.test,
                  .split = search.tune.tune.test_split,
                  .relevance_level = search.measurer.recipe().data.positive_grade},
                 model, settings, search.options.stop)
      .queries;
}

Json TestRow(const SearchContext& search, const QueryValues& base, const QueryValues& choice) {
  WriteQueryValues(search.folder.test_values("base"), base);
  WriteQueryValues(search.folder.test_values("choice"), choice);
  const Arm arm{"the choice", choice, {}};
  const Selection found =
      Select(base, {arm}, {.seed = static_cast<uint64_t>(search.measurer.recipe().seed)});
  const ArmTest& test = found.arms.front();
  return {{"event", "test"},     {"queries", found.queries}, {"base", found.base},
          {"value", test.value}, {"gain", test.gain},        {"half_width", test.half_width},
          {"p", test.p}};
}

}  // namespace

void Finish(const SearchContext& search, const SearchPlan& plan) {
  std::vector<ArmPlace> arms = FinalistArms(search, plan);
  AddAverages(search, &arms);
  const Json choice = Choose(search, arms);
  if (!choice.contains("chosen")) return;
  const Json& chosen = choice.at("arms").at(choice.at("chosen").get<size_t>());
  fs::path model = search.folder.path() / chosen.at("model").text();
  if (search.tune.tune.retrain) {
    const auto trial = static_cast<size_t>(chosen.at("trial").get<int64_t>());
    model = Retrain(search, plan.configurations[trial - 1], chosen.at("weight").get<double>());
  }
  if (!search.tune.tune.test || search.journal.Find("test") != nullptr) return;
  const QueryValues base = MeasureTest(search, search.base(), train::SettingsOf::kRecipe);
  const QueryValues of_choice = MeasureTest(search, model, train::SettingsOf::kFolder);
  search.journal.Append([&] { return TestRow(search, base, of_choice); });
}

}  // namespace tandem::tune
