// The weighted average of a base model and a model that was trained from it.
#pragma once

#include <filesystem>
#include <optional>

#include "weights/folders/model_card.h"

namespace tandem::weights {

// Writes the model folder `output`, whose weights are (1 - weight) base + weight tuned, each number
// computed in double and rounded once to float32 (Wortsman et al. 2022, "Robust fine-tuning of
// zero-shot models", WiSE-FT). A tensor that is the same in both keeps its bytes, and with weight 0
// or 1 all tensors are those of the one model, in its types. Everything but the weights is that of
// `tuned`: tokenizer, prompts, lengths, similarity. Its probability
// (weights/settings/calibration.h) is left out with a Note, since the average makes other scores.
// Where `tuned` has two encoders and `base` one, both are averaged with that one.
//
// `card` is the model's; none: it names both folders. `weight` is in [0, 1]. Throws UsageError for
// another weight and where `output` exists; ModelError, which names file and tensor, where the two
// are of other architectures, or have other modules, names or shapes, or differ in a tensor that
// has no mean (whole numbers), or hold a number that is not finite.
void AverageModels(const std::filesystem::path& base, const std::filesystem::path& tuned,
                   double weight, const std::filesystem::path& output,
                   const std::optional<ModelCard>& card = {});

}  // namespace tandem::weights
