#include "commands/model_calibration.h"

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

void CheckProbabilities(const std::optional<weights::Calibration>& calibration,
                        std::optional<double> min_probability, const std::string& folder) {
  if (!min_probability || calibration) return;
  throw UsageError(fmt::format(
      "{0}: its scores are not known to be probabilities, which --min-probability needs; fit them "
      "to judgements: tandem calibrate {0} --dataset DATA --split dev",
      folder));
}

}  // namespace tandem::app
