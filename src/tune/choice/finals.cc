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
#include "tune/choice/averages.h"
#include "tune/choice/retrain.h"
#include "tune/choice/selection.h"
#include "tune/choice/soup.h"
#include "tune/query_values.h"
#include "tune/schedule/halving.h"
#include "tune/trials/quiet_sink.h"
#include "tune/trials/trial.h"
#include "tune/trials/trials.h"

namespace tandem::tune {
namespace {

namespace fs = std::filesystem;

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
    arms.push_back({.name = fmt::format("trial {}", trial),
                    .trials = {trial},
                    .model = search.folder.TrialRun(trial) / "model",
                    .values = search.folder.TrialValues(trial, best_step)});
  }
  return arms;
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
              {"trial", place.trials.front()},
              {"weight", place.weight},
              {"model", place.model.lexically_relative(folder.path()).native()},
              {"value", test.value},
              {"gain", test.gain},
              {"half_width", test.half_width},
              {"p", test.p},
              {"holm_p", test.holm_p}};
  if (place.trials.size() > 1) {
    Json trials = Json::array();
    for (const int64_t trial : place.trials) trials.push_back(trial);
    arm["trials"] = std::move(trials);
  }
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
    if (places[i].trials.size() > 1) arms.back().after = 0;  // the best trial
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

const Json& Choose(const SearchContext& search, const SearchPlan& plan) {
  if (const Json* const row = search.journal.Find("choice")) return *row;
  std::vector<ArmPlace> arms = FinalistArms(search, plan);
  AddSoup(search, &arms);
  AddAverages(search, &arms);
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
  const Json choice = Choose(search, plan);
  if (!choice.contains("chosen")) return;
  const Json& chosen = choice.at("arms").at(choice.at("chosen").get<size_t>());
  fs::path model = search.folder.path() / chosen.at("model").text();
  RestoreSoup(search, chosen);
  if (search.tune.tune.retrain) {
    const auto trial = static_cast<size_t>(chosen.at("trial").get<int64_t>());
    model = Retrain(search, plan.configurations[trial - 1], chosen.at("weight").get<double>());
  }
  if (search.leads() && !fs::exists(model)) {
    Warn(fmt::format("{}: the model of the choice is not there any more; train its recipe, {}",
                     model.native(), search.folder.recipe().native()));
  }
  if (!search.tune.tune.test || search.journal.Find("test") != nullptr) return;
  const QueryValues base = MeasureTest(search, search.base(), train::SettingsOf::kRecipe);
  const QueryValues of_choice = MeasureTest(search, model, train::SettingsOf::kFolder);
  search.journal.Append([&] { return TestRow(search, base, of_choice); });
}

}  // namespace tandem::tune
