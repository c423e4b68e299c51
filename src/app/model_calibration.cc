#include "app/model_calibration.h"

#include <fmt/format.h>

#include "base/log.h"
#include "weights/tandem_file.h"

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

}  // namespace tandem::app
