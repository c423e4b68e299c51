#include "tune/choice/retrain.h"

#include "base/log.h"
#include "train/run/training_run.h"
#include "tune/trials/quiet_sink.h"
#include "tune/trials/trial.h"
#include "weights/folders/average_models.h"

namespace tandem::tune {

std::filesystem::path Retrain(const SearchContext& search, const config::Assignment& values,
                              double weight) {
  const std::filesystem::path run = search.folder.retrained();
  const std::filesystem::path average = run.native() + "-average";
  const std::filesystem::path model = weight == 1 ? run / "model" : average;
  if (search.journal.Find("retrained") != nullptr) return model;
  Note("the choice is trained again, on the validation queries too");
  config::Assignment kept = values;
  {
    const QuietSink quiet(search.warned);
    train::RunTraining(config::MakeRetrainingRecipe(search.tune, "the recipe of the choice", &kept),
                       {.output = run,
                        .version = search.options.version,
                        .stop = search.options.stop,
                        .group = search.options.group,
                        .restarted = true,
                        .ignore_limits = search.options.ignore_limits});
  }
  search.journal.Append([&] {
    if (weight < 1 && !std::filesystem::exists(average)) {
      weights::AverageModels(search.base(), run / "model", weight, average);
    }
    return Json{{"event", "retrained"},
                {"model", model.lexically_relative(search.folder.path()).native()}};
  });
  return model;
}

}  // namespace tandem::tune
