// Declares one function for each kind of object that `tandem inspect` shows; inspection.cc chooses
// among them.
#pragma once

#include <filesystem>

#include "base/json/json.h"
#include "data/lines/line_rules.h"

namespace tandem::app {

// In inspect_model.cc: a model folder with one encoder or with two. Its tokenizer is read as well,
// so that a missing or broken one is an error. Throws ModelError.
Json InspectModel(const std::filesystem::path& path);
Json InspectSafetensors(const std::filesystem::path& path);

// In inspect_adapter.cc: a PEFT adapter, and the two adapters of a model with two encoders. Throws
// ModelError if ReadAdapterConfig refuses the configuration, or if the weights are missing or
// broken.
Json InspectAdapter(const std::filesystem::path& path);
Json InspectTowerAdapters(const std::filesystem::path& path);

// In inspect_run.cc: a run folder of `tandem train`, and a checkpoint in it. Throws ModelError for
// broken logs and states.
Json InspectTrainingRun(const std::filesystem::path& path);
// A folder of runs that differ in their seeds (`tandem train --seeds`), and whether one is that.
Json InspectSeedRuns(const std::filesystem::path& path);
bool HoldsSeedRuns(const std::filesystem::path& path);
Json InspectCheckpoint(const std::filesystem::path& path);

// In inspect_index.cc: a folder of `tandem index`, by its index.json and what building measured.
// Throws the errors of index::ReadManifest.
Json InspectIndex(const std::filesystem::path& path);

// In inspect_data.cc; all throw DataError. InspectJsonLines reads texts or training lines, which
// the first line tells apart.
Json InspectJsonLines(const std::filesystem::path& path, const data::LineRules& rules);
// A table of training data: a file called .csv, or one called .tsv whose first line names a query
// and a positive as training lines do (other ones hold judgements).
bool HoldsTrainingTable(const std::filesystem::path& path);
Json InspectTrainingTable(const std::filesystem::path& path, const data::LineRules& rules);
Json InspectBeir(const std::filesystem::path& path);
Json InspectJudgements(const std::filesystem::path& path);
Json InspectTrecRun(const std::filesystem::path& path, int threads);
Json InspectNpy(const std::filesystem::path& path);
// A folder that `tandem encode` has written.
Json InspectEmbeddings(const std::filesystem::path& path);

// In inspect_cache.cc: the cache (base/files/cache_folder.h), or a folder of its files, and one of
// them. Throws DataError for a file that is none of the cache.
Json InspectCache(const std::filesystem::path& path);
Json InspectCachedFile(const std::filesystem::path& path);
// Whether the folder is the cache, or holds files of it.
bool IsCache(const std::filesystem::path& path);

// In inspect_parts.cc: a folder of parts (embeddings/layouts/parts.h). Throws the errors of its
// constructor, such as for a part that is missing or of another model.
Json InspectParts(const std::filesystem::path& path);
// Reads all parts. Throws DataError also if a part is not as it was written, or if an id occurs
// twice; UsageError if the folder holds no parts.
void VerifyParts(const std::filesystem::path& path, int threads);

}  // namespace tandem::app
