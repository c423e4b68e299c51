#include "commands/report/report_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "commands/evaluate/evaluation_plan.h"
#include "commands/run_recipe.h"
#include "report/records/evaluation_file.h"

namespace tandem::app {
namespace {

namespace fs = std::filesystem;

bool HasEvaluations(const fs::path& run) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(run / "report", error)) {
    if (entry.path().filename().native().ends_with(report::kEvaluationSuffix)) return true;
  }
  return false;
}

// Returns the first of these paths that is a folder.
std::optional<std::string> FirstFolder(const std::vector<std::string>& places) {
  const auto found = std::find_if(places.begin(), places.end(),
                                  [](const std::string& place) { return fs::is_directory(place); });
  return found == places.end() ? std::nullopt : std::optional(*found);
}

class ReportPlanner {
 public:
  explicit ReportPlanner(const ReportOptions& options) : options_(options) {}

  ReportPlan Plan() {
    std::vector<std::string> models;
    for (const std::string& input : options_.inputs) {
      if (report::IsRunFolder(input)) {
        plan_.inputs.push_back(input);
        AddRun(input);
      } else if (fs::exists(fs::path(input) / "config.json") ||
                 fs::exists(fs::path(input) / "modules.json")) {
        models.push_back(input);
      } else {
        plan_.inputs.push_back(input);  // ReadReportInput decides whether it is one
      }
    }
    AddModels(models);
    return std::move(plan_);
  }

 private:
  void AddRun(const std::string& run) {
    const std::optional<RunRecipe> recipe = ReadRunRecipe(run);
    const std::optional<ReportedData> data = DataOf(run, recipe);
    if (!data) return;
    if (recipe && recipe->resolved.model.document_base) {
      Say(run, "before", "not measured before training: its base is two folders");
    } else if (recipe) {
      AddBefore(run, *recipe, *data);
    }
    const fs::path model = fs::path(run) / "model";
    if (fs::is_directory(model)) {
      Add(run, "after", model.native(), *data);
    } else {
      Say(run, "after", "not measured after training: the run has no folder model");
    }
  }

  // Returns the data on which a run's models are measured; none if they are not measured.
  std::optional<ReportedData> DataOf(const std::string& run,
                                     const std::optional<RunRecipe>& recipe) {
    ReportedData data{.folder = options_.dataset,
                      .split = options_.split.empty() ? "test" : options_.split};
    if (!data.folder.empty()) return data;
    if (options_.many_runs) return std::nullopt;
    if (HasEvaluations(run) || !recipe || !recipe->resolved.validation.data) return std::nullopt;
    const std::vector<std::string> places = recipe->ValidationPlaces();
    const std::optional<std::string> folder = FirstFolder(places);
    if (!folder) {
      Say(run, "",
          fmt::format("no model was evaluated: the validation data of its recipe is not there; "
                      "looked for {}; --dataset says where it is",
                      fmt::join(places, " and ")));
      return std::nullopt;
    }
    data.folder = *folder;
    if (options_.split.empty()) data.split = recipe->resolved.validation.split;
    return data;
  }

  void AddBefore(const std::string& run, const RunRecipe& recipe, const ReportedData& data) {
    const std::vector<std::string> places =
        options_.base.empty() ? recipe.BasePlaces() : std::vector{options_.base};
    const std::optional<std::string> base = FirstFolder(places);
    if (!base) {
      Say(run, "before",
          fmt::format("not measured before training: there is no folder {}; --base says where the "
                      "model is",
                      fmt::join(places, " and none ")));
      return;
    }
    // As the base stands in its folder: what `evaluate` and `compare` measure, and what is in the
    // cache after them. The recipe's lengths are those of the model that it trains.
    Add(run, "before", *base, data);
  }

  void Say(const std::string& run, std::string evaluation, std::string sentence) {
    plan_.notes.push_back({run, std::move(evaluation), std::move(sentence)});
  }

  void Add(const std::string& run, const std::string& name, const std::string& model,
           const ReportedData& data) {
    const std::string file = name + std::string(report::kEvaluationSuffix);
    plan_.models.push_back({.flags = {.model = model},
                            .name = name,
                            .data = data,
                            .record = fs::path(run) / "report" / file});
  }

  void AddModels(const std::vector<std::string>& models) {
    if (models.empty()) return;
    if (options_.dataset.empty()) {
      throw UsageError(fmt::format("{} is a model folder: --dataset says what it is measured on",
                                   models.front()));
    }
    const std::vector<std::string> names = NamesOfPaths(models, "model");
    for (size_t i = 0; i < models.size(); ++i) {
      plan_.models.push_back({.flags = {.model = models[i]},
                              .name = names[i],
                              .data = {.folder = options_.dataset,
                                       .split = options_.split.empty() ? "test" : options_.split},
                              .record = {}});
    }
  }

  const ReportOptions& options_;
  ReportPlan plan_;
};

}  // namespace

ReportPlan PlanReport(const ReportOptions& options) { return ReportPlanner(options).Plan(); }

}  // namespace tandem::app
