#include "commands/evaluate/evaluation_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>

#include "base/error.h"
#include "commands/evaluate/evaluate_command.h"
#include "config/suite.h"
#include "data/formats/beir.h"
#include "eval/measure.h"
#include "weights/folders/folder_check.h"

namespace tandem::app {
namespace {

namespace fs = std::filesystem;

// Returns the last `parts` parts of a path: "a/model" for "runs/a/model/" and 2.
std::string EndOf(const fs::path& path, size_t parts) {
  std::vector<std::string> all;
  for (const fs::path& part : path) {
    if (part.has_filename() && part != "/") all.push_back(part.native());
  }
  const size_t first = all.size() - std::min(parts, all.size());
  return fmt::format("{}",
                     fmt::join(all.begin() + static_cast<std::ptrdiff_t>(first), all.end(), "/"));
}

fs::path Normal(const std::string& path) {
  fs::path normal = fs::absolute(path).lexically_normal();
  return normal.has_filename() ? normal : normal.parent_path();
}

// Returns the BEIR folders in a folder, by name.
std::vector<std::string> FoldersIn(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const bool has_corpus = fs::exists(entry.path() / "corpus.jsonl", ignored) ||
                            fs::exists(entry.path() / "corpus.jsonl.gz", ignored);
    if (has_corpus) found.push_back(entry.path().native());
  }
  std::sort(found.begin(), found.end());
  if (found.empty()) {
    throw DataError(folder, 0, "",
                    "holds no BEIR folder; a suite is a folder of folders with corpus.jsonl, "
                    "queries.jsonl and qrels/SPLIT.tsv, or a TOML file");
  }
  return found;
}

// A planned model or set with the name that the user gave it, if any.
template <typename T>
struct Named {
  T item;
  std::optional<std::string> name;
};

class Planner {
 public:
  explicit Planner(const EvaluateOptions& options) : options_(options) {}

  EvaluationPlan Make() {
    for (const std::string& path : options_.models) AddModel(path);
    for (const std::string& path : options_.datasets) AddSet(path);
    std::error_code error;
    if (fs::is_directory(options_.suite, error)) {
      for (const std::string& path : FoldersIn(options_.suite)) AddSet(path);
    } else if (!options_.suite.empty()) {
      AddSuite(config::LoadSuite(options_.suite));
    }
    if (models_.empty()) throw UsageError("a suite needs models: give --model, or [[model]] in it");
    if (!options_.candidates.empty() && sets_.size() > 1) {
      throw UsageError(
          "--candidates is of one data set; for several give a suite file with `candidates` in "
          "[[set]]");
    }
    NameModels();
    NameSets();
    return std::move(plan_);
  }

 private:
  void AddModel(const std::string& path) {
    ModelFlags flags = options_.model;
    flags.model = path;
    models_.push_back({{.flags = std::move(flags)}, {}});
  }

  void AddSet(const std::string& path) {
    sets_.push_back({{.folder = path,
                      .split = options_.split.empty() ? "test" : options_.split,
                      .candidates = options_.candidates,
                      .pool = options_.candidates.empty() ? options_.pool.value_or(0) : 0},
                     {}});
  }

  void AddSuite(const config::LoadedSuite& loaded) {
    const config::Suite& suite = loaded.suite;
    for (const std::string& measure : suite.measures) {
      const std::string problem = eval::MeasureProblem(measure);
      if (!problem.empty()) {
        throw loaded.ErrorAt("measures", fmt::format("names no measure: {}", problem));
      }
    }
    plan_.measures = fmt::format("{}", fmt::join(suite.measures, ","));
    for (const config::SuiteModel& model : suite.models) {
      AddModel(model.path);
      models_.back().name = model.name;
      if (!options_.model.prompt) models_.back().item.flags.prompt = model.query_prompt;
    }
    for (size_t i = 0; i < suite.sets.size(); ++i) {
      const config::SuiteSet& set = suite.sets[i];
      AddSet(set.path);
      EvaluatedSet& added = sets_.back().item;
      sets_.back().name = set.name;
      if (set.name == "all") {
        throw loaded.ErrorAt(fmt::format("set.{}.name", i + 1),
                             "is \"all\", as the mean over all sets is called; give another");
      }
      if (options_.split.empty() && set.split) added.split = *set.split;
      if (set.candidates) added.candidates = *set.candidates;
      if (!options_.pool && set.pool) added.pool = static_cast<size_t>(*set.pool);
      if (!added.candidates.empty()) added.pool = 0;
      AddPrompts(loaded, i, added);
      if (options_.by_document && (!added.candidates.empty() || added.pool > 0)) {
        throw loaded.ErrorAt(
            fmt::format("set.{}.{}", i + 1, added.pool > 0 ? "pool" : "candidates"),
            "is for the texts of a corpus, which are passages here; it excludes --by-document");
      }
    }
  }

  // --prompt wins. Kept embeddings are those of the model's own prompt.
  void AddPrompts(const config::LoadedSuite& loaded, size_t place, EvaluatedSet& added) const {
    const config::SuiteSet& set = loaded.suite.sets[place];
    if (!options_.model.prompt) added.query_prompt = set.query_prompt;
    added.document_prompt = set.document_prompt;
    if (!added.document_prompt || options_.embeddings.empty()) return;
    throw loaded.ErrorAt(fmt::format("set.{}.document_prompt", place + 1),
                         "excludes --embeddings, which keeps those of the model's own prompt");
  }

  // Throws if a name occurs twice.
  static void CheckNames(const std::vector<std::string>& names, const char* what) {
    std::set<std::string_view> seen;
    for (const std::string& name : names) {
      if (seen.insert(name).second) continue;
      throw UsageError(
          fmt::format("two {}s have the name {}; take one away, or give them names of their own in "
                      "a suite file",
                      what, name));
    }
  }

  void NameModels() {
    std::vector<std::string> unnamed;
    for (const auto& model : models_) {
      weights::CheckIsFolder(model.item.flags.model);
      if (!model.name) unnamed.push_back(model.item.flags.model);
    }
    std::vector<std::string> of_paths = NamesOfPaths(unnamed, "model"), names;
    size_t next = 0;
    for (auto& model : models_) {
      names.push_back(model.name ? *model.name : of_paths[next++]);
      plan_.models.push_back(std::move(model.item));
      plan_.models.back().name = names.back();
    }
    CheckNames(names, "model");
  }

  // Names the sets. If several splits of a folder are sets, the split's name is added to the
  // folder's.
  void NameSets() {
    std::map<fs::path, std::set<std::string>> splits;  // splits of sets without a name, by folder
    for (const auto& set : sets_) {
      CheckThere(set.item);
      if (!set.name) splits[Normal(set.item.folder)].insert(set.item.split);
    }
    std::vector<std::string> folders, names;
    for (const auto& [folder, of_folder] : splits) folders.push_back(folder.native());
    const std::vector<std::string> of_paths = NamesOfPaths(folders, "set");
    for (auto& set : sets_) {
      std::string name = set.name.value_or("");
      if (!set.name) {
        const auto found = splits.find(Normal(set.item.folder));
        name = of_paths[static_cast<size_t>(std::distance(splits.begin(), found))];
        if (found->second.size() > 1) name += "/" + set.item.split;
      }
      names.push_back(name);
      plan_.sets.push_back(std::move(set.item));
      plan_.sets.back().name = name;
    }
    CheckNames(names, "set");
  }

  static void CheckThere(const EvaluatedSet& set) {
    const data::BeirFiles files = data::FindBeirFiles(set.folder);
    const bool has_split =
        std::any_of(files.splits.begin(), files.splits.end(),
                    [&set](const data::BeirSplit& split) { return split.name == set.split; });
    if (!has_split) data::LoadBeirQrels(set.folder, set.split);  // throws, and lists the splits
    if (!set.candidates.empty() && set.candidates != "-" && !fs::exists(set.candidates)) {
      throw DataError(set.candidates, 0, "", "there is no such file; expected a TREC run");
    }
  }

  const EvaluateOptions& options_;
  std::vector<Named<EvaluatedModel>> models_;
  std::vector<Named<EvaluatedSet>> sets_;
  EvaluationPlan plan_;
};

}  // namespace

std::vector<std::string> NamesOfPaths(const std::vector<std::string>& paths, const char* what) {
  std::vector<fs::path> normal;
  for (const std::string& path : paths) normal.push_back(Normal(path));
  std::vector<std::string> names;
  for (size_t i = 0; i < normal.size(); ++i) {
    const auto others_end_so = [&](size_t parts) {
      const std::string end = EndOf(normal[i], parts);
      for (size_t j = 0; j < normal.size(); ++j) {
        if (j != i && EndOf(normal[j], parts) == end) return true;
      }
      return false;
    };
    if (std::count(normal.begin(), normal.end(), normal[i]) > 1) {
      throw UsageError(fmt::format("{} {} is given twice", what, paths[i]));
    }
    size_t parts = 1;
    while (others_end_so(parts)) ++parts;
    names.push_back(EndOf(normal[i], parts));
  }
  return names;
}

EvaluationPlan PlanEvaluation(const EvaluateOptions& options) {
  EvaluationPlan plan = Planner(options).Make();
  if (!options.measures.empty()) plan.measures = options.measures;
  if (plan.measures.empty()) plan.measures = kSuiteMeasures;
  eval::ParseMeasures(plan.measures);
  return plan;
}

}  // namespace tandem::app
