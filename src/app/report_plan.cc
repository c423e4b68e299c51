#include "app/report_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <system_error>

#include "app/catalogues.h"
#include "app/evaluation_plan.h"
#include "base/error.h"
#include "base/files.h"
#include "config/recipe_parse.h"
#include "report/evaluation_file.h"
#include "report/report_input.h"

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

// None where the run has no recipe that can be read: the page says so.
std::optional<config::Recipe> RecipeOf(const fs::path& run) {
  const fs::path file = run / "recipe.resolved.toml";
  if (!fs::exists(file)) return std::nullopt;
  try {
    return config::ParseRecipe(ReadFile(file), file.native(), {}, AllCatalogues(),
                               config::IdleKeys::kAccept)
        .recipe;
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<size_t> Tokens(const std::optional<int64_t>& tokens) {
  return tokens ? std::optional(static_cast<size_t>(*tokens)) : std::nullopt;
}

class Planner {
 public:
  explicit Planner(const ReportOptions& options) : options_(options) {}

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
        plan_.inputs.push_back(input);  // ReadReportInput judges it
      }
    }
    AddModels(models);
    return std::move(plan_);
  }

 private:
  void AddRun(const fs::path& run) {
    const std::optional<config::Recipe> recipe = RecipeOf(run);
    std::string folder = options_.dataset;
    std::string split = options_.split.empty() ? "test" : options_.split;
    if (folder.empty()) {
      if (HasEvaluations(run) || !recipe || !recipe->validation.data) return;
      folder = *recipe->validation.data;
      if (options_.split.empty()) split = recipe->validation.split;
      if (!fs::is_directory(folder)) {
        Say("{}: not measured: its validation data {} is not there; --dataset says where", run,
            folder);
        return;
      }
    }
    if (recipe && recipe->model.document_base) {
      Say("{}: not measured before training: its base is two folders{}", run, "");
    } else if (recipe) {
      Add(run, "before", options_.base.empty() ? recipe->model.base : options_.base, folder, split);
      if (!plan_.models.empty() && plan_.models.back().name == "before") {
        plan_.models.back().flags.max_query_tokens = Tokens(recipe->model.max_query_tokens);
        plan_.models.back().flags.max_document_tokens = Tokens(recipe->model.max_document_tokens);
      }
    }
    Add(run, "after", run / "model", folder, split);
  }

  void Say(const char* format, const fs::path& run, const std::string& path) {
    plan_.notes.push_back(fmt::format(fmt::runtime(format), run.native(), path));
  }

  void Add(const fs::path& run, const std::string& name, const fs::path& model,
           const std::string& folder, const std::string& split) {
    if (!fs::is_directory(model)) {
      Say(name == "before" ? "{}: not measured before training: there is no folder {}; --base says "
                             "where the model is"
                           : "{}: not measured after training: there is no folder {}",
          run, model.native());
      return;
    }
    plan_.models.push_back(
        {.flags = {.model = model.native()},
         .name = name,
         .folder = folder,
         .split = split,
         .record = run / "report" / (name + std::string(report::kEvaluationSuffix))});
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
                              .folder = options_.dataset,
                              .split = options_.split.empty() ? "test" : options_.split,
                              .record = {}});
    }
  }

  const ReportOptions& options_;
  ReportPlan plan_;
};

}  // namespace

ReportPlan PlanReport(const ReportOptions& options) { return Planner(options).Plan(); }

}  // namespace tandem::app
