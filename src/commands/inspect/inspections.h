// One function for each kind of thing that `tandem inspect` shows; inspection.cc chooses.
#pragma once

#include <filesystem>

#include "base/json/json.h"
#include "data/lines/line_rules.h"

namespace tandem::app {

// inspect_model.cc. A model folder, of one encoder or of two; its tokenizer is read as well, so
// that a missing or broken one is an error. Throws ModelError.
Json InspectModel(const std::filesystem::path& path);
Json InspectSafetensors(const std::filesystem::path& path);

// inspect_adapter.cc. A PEFT adapter, and the two of a model of two encoders. Throws ModelError for
// what ReadAdapterConfig refuses, and where the weights are missing or broken.
Json InspectAdapter(const std::filesystem::path& path);
Json InspectTowerAdapters(const std::filesystem::path& path);

// inspect_run.cc. A run folder of `tandem train`, and a checkpoint in it. Throws ModelError for
// logs and states that are broken.
Json InspectTrainingRun(const std::filesystem::path& path);
Json InspectCheckpoint(const std::filesystem::path& path);

// inspect_data.cc. They throw DataError. Texts or training lines, told apart by the first line:
Json InspectJsonLines(const std::filesystem::path& path, const data::LineRules& rules);
Json InspectBeir(const std::filesystem::path& path);
Json InspectJudgements(const std::filesystem::path& path);
Json InspectTrecRun(const std::filesystem::path& path, int threads);
Json InspectNpy(const std::filesystem::path& path);
// The folder that `tandem encode` writes.
Json InspectEmbeddings(const std::filesystem::path& path);

// inspect_parts.cc. A folder of parts (embeddings/layouts/parts.h). Throws what its
// constructor throws: where one is missing or of another model, say.
Json InspectParts(const std::filesystem::path& path);
// Reads all of them: throws DataError also where one is not as it was written, and where an id
// comes twice; UsageError where the folder holds no parts.
void VerifyParts(const std::filesystem::path& path, int threads);

}  // namespace tandem::app
