// tandem.json: what a model folder holds beyond what sentence-transformers knows.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace tandem::weights {

inline constexpr const char* kTandemFile = "tandem.json";

// How queries and documents share encoders.
enum class Towers {
  kShared,                    // one encoder for both
  kSeparate,                  // one each
  kSeparateSharedProjection,  // one each, and one Dense module behind both
};

// As spelled in recipes and tandem.json: "shared", "separate", "separate_shared_projection".
std::string_view TowersName(Towers towers);
std::optional<Towers> TowersFromName(std::string_view name);

// What turns a score into a probability: 1 / (1 + exp(-(scale * score + bias))).
struct Calibration {
  std::string objective;  // that learned it
  double scale = 1;
  double bias = 0;
  std::string similarity = "cosine";  // of the scores: "cosine" or "dot"
};

struct TandemFile {
  // Other than shared: the folder holds a folder for each tower.
  Towers towers = Towers::kShared;
  std::optional<Calibration> calibration;

  // Whether it says more than a folder without the file.
  bool empty() const { return towers == Towers::kShared && !calibration; }
};

// Of the model folder `folder`; one without the file has the defaults. Throws ModelError for a
// broken one or one of a later format.
TandemFile ReadTandemFile(const std::filesystem::path& folder);

// The file's bytes.
std::string TandemFileText(const TandemFile& file);

}  // namespace tandem::weights
