#include "commands/model/model_calibration.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/log.h"
#include "weights/folders/tandem_file.h"

namespace tandem::app {

std::optional<weights::Calibration> CalibrationOf(const model::DualEncoder& model,
                                                  const ModelFlags& flags) {
  const std::optional<weights::Calibration>& calibration = model.calibration();
  if (!calibration) return std::nullopt;
  const std::string file = fmt::format("{}/{}", flags.model, weights::kTandemFile);
  if (calibration->similarity != model.similarity()) {
    Warn(fmt::format("{}: its probability is of {}, but the model compares by {}: it is not used",
                     file, calibration->similarity, model.similarity()));
    return std::nullopt;
  }
  if (flags.prompt || flags.max_query_tokens || flags.max_document_tokens) {
    Warn(
        fmt::format("{}: its probability was made for the model's own prompts and lengths; with "
                    "others it may be less right",
                    file));
  }
  return calibration;
}

void CheckIsProbability(std::optional<double> min_probability) {
  if (!min_probability || (*min_probability >= 0 && *min_probability <= 1)) return;
  throw UsageError(
      fmt::format("--min-probability is {}; expected a number from 0 to 1", *min_probability));
}

std::optional<double> LeastProbability(std::optional<double> asked,
                                       std::optional<double> of_index) {
  const std::optional<double> least = asked ? asked : of_index;
  return least && *least > 0 ? least : std::nullopt;
}

void CheckIndexProbability(const std::optional<weights::Calibration>& calibration,
                           std::optional<double> asked, std::optional<double> of_index,
                           const std::string& folder) {
  if (asked || calibration || !LeastProbability(asked, of_index)) return;
  throw UsageError(
      fmt::format("the index shows hits of a probability of at least {}, and scores of {} are not "
                  "known to be probabilities (tandem calibrate); --min-probability 0 shows all",
                  *of_index, folder));
}

void CheckProbabilities(const std::optional<weights::Calibration>& calibration,
                        std::optional<double> min_probability, const std::string& folder) {
  if (!min_probability || calibration) return;
  throw UsageError(fmt::format(
      "{0}: its scores are not known to be probabilities, which --min-probability needs; fit them "
      "to judgements: tandem calibrate {0} --dataset DATA --split dev",
      folder));
}

}  // namespace tandem::app
