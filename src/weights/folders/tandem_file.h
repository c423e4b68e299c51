// tandem.json: what sentence-transformers' files of a model folder have no place for.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "weights/folders/model_card.h"
#include "weights/folders/model_files.h"
#include "weights/settings/calibration.h"
#include "weights/settings/guarantee.h"

namespace tandem::weights {

inline constexpr const char* kTandemFile = "tandem.json";

// Says how queries and documents share encoders.
enum class Towers {
  kShared,                    // one encoder for both
  kSeparate,                  // one each
  kSeparateSharedProjection,  // one each, and one Dense module after both
};

// Gives the name in recipes and tandem.json: "shared", "separate", "separate_shared_projection".
std::string_view TowersName(Towers towers);
std::optional<Towers> TowersFromName(std::string_view name);

struct TandemFile {
  // Other than shared: the folder holds a folder for each tower.
  Towers towers = Towers::kShared;
  // Longer texts of the kind are cut at so many tokens, special tokens counted. Where there is
  // none, the folder's other files decide (TokenizerSettings).
  std::optional<size_t> max_query_tokens;
  std::optional<size_t> max_document_tokens;
  // Where there is none, scores are not known to be probabilities.
  std::optional<Calibration> calibration;
  // Where there is none, the model is not of a run, or of one that came to its end.
  std::optional<StoppedRun> stopped;
};

// Reads tandem.json; a folder without it has the defaults. Throws ModelError for a broken file or
// one of a later format.
TandemFile ReadTandemFile(const ModelFiles& files);

// The file's bytes.
std::string TandemFileText(const TandemFile& file);

// Replaces the calibration in `folder`/tandem.json, or removes it; the file is made where it is
// missing, its other keys stay as they are, and nothing else in the folder changes. The file is
// complete or the old one at any time. Throws ModelError as ReadTandemFile, OutputError.
void WriteCalibration(const std::filesystem::path& folder,
                      const std::optional<Calibration>& calibration);

// The guarantees of the file; none where there are none. They are of the folder's own scores and no
// part of TandemFile, so that a model that is trained or merged from it, and saved, has none.
// Throws ModelError as ReadTandemFile.
std::optional<Guarantees> ReadGuarantees(const ModelFiles& files);

// Replaces the guarantees in `folder`/tandem.json, or removes them, as WriteCalibration does.
void WriteGuarantees(const std::filesystem::path& folder,
                     const std::optional<Guarantees>& guarantees);

}  // namespace tandem::weights
