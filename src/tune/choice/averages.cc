#include "tune/choice/averages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/files/files.h"
#include "base/log.h"
#include "tune/query_values.h"
#include "weights/folders/average_models.h"

namespace tandem::tune {
namespace {

namespace fs = std::filesystem;

std::vector<double> WeightsOf(const config::TuneRecipe& tune) {
  if (!tune.average.empty()) return tune.average;
  return tune.keep.empty() ? std::vector<double>() : std::vector<double>{0.25, 0.5, 0.75};
}

bool IsSoup(const ArmPlace& arm) { return arm.trials.size() > 1; }

// "0.25 of trials 7, 15, and 0.75 of the base".
std::string NamesOf(const ArmPlace& average) {
  return fmt::format("{} of {}, and {:.4g} of the base", average.weight, TrialNames(average.trials),
                     1 - average.weight);
}

// All ranks measure a model together, before rank 0 writes the row of it.
const Json& AddAverageRow(const SearchContext& search, const ArmPlace& of,
                          const ArmPlace& average) {
  Json row = {{"event", "average"}, {"trial", of.trials.front()}, {"weight", average.weight}};
  if (IsSoup(of)) row["soup"] = true;
  const std::string why = MakeAverage(search, {.base = search.base(),
                                               .tuned = of.model,
                                               .weight = average.weight,
                                               .output = average.model,
                                               .of = NamesOf(average)});
  if (!why.empty()) {
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

const Json* FindAverage(const Journal& journal, const ArmPlace& of, double weight) {
  for (const Json* row : journal.All("average")) {
    if (row->at("trial").get<int64_t>() == of.trials.front() &&
        row->at("weight").get<double>() == weight && row->contains("soup") == IsSoup(of)) {
      return row;
    }
  }
  return nullptr;
}

}  // namespace

std::string TrialNames(const std::vector<int64_t>& trials) {
  return fmt::format("{} {}", trials.size() == 1 ? "trial" : "trials", fmt::join(trials, ", "));
}

std::string MakeAverage(const SearchContext& search, const AverageOfTwo& average) {
  std::string why;
  search.group().Agree([&] {
    if (!search.leads() || fs::exists(average.output)) return;
    for (const fs::path& model : {average.base, average.tuned}) {
      if (fs::exists(model)) continue;
      throw ModelError(model.native(), "",
                       "is not there any more, and the search needs it; put it back, or begin "
                       "another search");
    }
    const weights::ModelCard card{.base_model = search.base().native(),
                                  .objective = {},
                                  .steps = {},
                                  .facts = {{"mean of the weights of", average.of}}};
    try {
      MakeFolder(average.output.parent_path());
      weights::AverageModels(average.base, average.tuned, average.weight, average.output, card);
    } catch (const ModelError& error) {
      why = error.what();
    }
  });
  return search.group().BroadcastBytes(why);
}

void AddAverages(const SearchContext& search, std::vector<ArmPlace>* arms) {
  if (arms->empty()) return;
  const ArmPlace best = IsSoup(arms->back()) ? arms->back() : arms->front();
  const std::string name =
      IsSoup(best) ? "soup" : fmt::format("{:03}", best.trials.front());  // of the folder
  for (const double weight : WeightsOf(search.tune.tune)) {
    const fs::path folder = search.folder.Average(name, weight);
    const ArmPlace average{
        .name = fmt::format("{} of {}", weight, IsSoup(best) ? "the soup" : best.name),
        .trials = best.trials,
        .weight = weight,
        .model = folder / "model",
        .values = folder / "dev.jsonl"};
    const Json* row = FindAverage(search.journal, best, weight);
    if (row == nullptr) {
      row = &AddAverageRow(search, best, average);
      if (row->contains("why")) {
        Warn(fmt::format("{} is left out: {}", average.name, row->at("why").text()));
      }
    }
    if (!row->contains("why")) arms->push_back(average);
  }
}

}  // namespace tandem::tune
