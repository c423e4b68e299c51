#include "weights/folders/average_models.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "weights/folders/model_folder.h"
#include "weights/folders/model_folder_writer.h"
#include "weights/folders/tandem_file.h"
#include "weights/folders/tower_folders.h"

namespace tandem::weights {
namespace {

// Two files of weights that are averaged tensor by tensor.
struct WeightPair {
  const WeightFiles& base;
  const WeightFiles& tuned;
  double weight;
};

// Throws an error about a tensor of the tuned model.
[[noreturn]] void RefuseTensor(const WeightPair& pair, const std::string& name,
                               const std::string& problem) {
  throw ModelError(pair.tuned.FileOf(name).native(), name,
                   fmt::format("{}; give a model and the one that it was trained from", problem));
}

// The mean of two tensors of one shape, as float32 bytes.
std::string MeanBytes(const TensorView& base, const TensorView& tuned, double weight,
                      const std::string& base_file) {
  const std::vector<float> from = ToFloat32(base);
  std::vector<float> values = ToFloat32(tuned);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>((1 - weight) * static_cast<double>(from[i]) +
                                   weight * static_cast<double>(values[i]));
    if (std::isfinite(values[i])) continue;
    throw ModelError(base_file, base.name,
                     fmt::format("has {} as number {} of the average with {}; finite numbers are "
                                 "expected: one of the two models is broken",
                                 values[i], i + 1, tuned.name));
  }
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

void CheckSameTensor(const WeightPair& pair, const TensorView& tuned) {
  const TensorView* const base = pair.base.Find(tuned.name);
  if (base == nullptr) {
    RefuseTensor(pair, tuned.name, fmt::format("is not in {}", pair.base.folder().native()));
  }
  if (base->shape != tuned.shape) {
    RefuseTensor(pair, tuned.name,
                 fmt::format("is of shape {}, but of shape {} in {}", ShapeText(tuned.shape),
                             ShapeText(base->shape), pair.base.FileOf(tuned.name).native()));
  }
  const bool computable = IsComputable(base->dtype) && IsComputable(tuned.dtype);
  if (computable || (base->dtype == tuned.dtype && base->bytes == tuned.bytes)) return;
  RefuseTensor(pair, tuned.name,
               fmt::format("is {} and differs from {} in {}, and only floating-point numbers of "
                           "16 or 32 bits have an average",
                           DtypeName(tuned.dtype), DtypeName(base->dtype),
                           pair.base.FileOf(tuned.name).native()));
}

// Adds the tensors that are not the tuned model's as they are, under `prefix` + name.
void AddAverages(const WeightPair& pair, const std::string& prefix, FolderChanges* changes) {
  for (const TensorView* base : pair.base.tensors()) {
    if (pair.tuned.Find(base->name) != nullptr) continue;
    throw ModelError(pair.base.FileOf(base->name).native(), base->name,
                     fmt::format("is not in {}; give a model and the one that it was trained from",
                                 pair.tuned.folder().native()));
  }
  for (const TensorView* tuned : pair.tuned.tensors()) {
    CheckSameTensor(pair, *tuned);
    const TensorView& base = *pair.base.Find(tuned->name);
    const bool same = base.dtype == tuned->dtype && base.bytes == tuned->bytes;
    if (same || pair.weight == 1) continue;
    TensorToWrite tensor = Unchanged(base);
    tensor.name = prefix + tuned->name;
    if (pair.weight > 0) {
      tensor.dtype = Dtype::kF32;
      tensor.bytes = {};
      tensor.make = [base, tuned = *tuned, weight = pair.weight,
                     file = pair.base.FileOf(tuned->name).native()] {
        return MeanBytes(base, tuned, weight, file);
      };
    }
    changes->tensors.push_back(std::move(tensor));
  }
}

// "Pooling, Dense, Normalize".
std::string ModuleNames(const ModelFolder& folder) {
  constexpr const char* kNames[] = {"Pooling", "Dense", "LayerNorm", "Normalize"};
  std::string names;
  for (const HeadModule& module : folder.head) {
    names += (names.empty() ? "" : ", ") + std::string(kNames[module.index()]);
  }
  return names;
}

void CheckSameKind(const ModelFolder& base, const ModelFolder& tuned) {
  const auto refuse = [&](const char* what, const std::string& found, const std::string& expected) {
    throw ModelError(tuned.path.native(), "",
                     fmt::format("{} {}, but {} {} {}; give a model and the one that it was "
                                 "trained from",
                                 what, found, base.path.native(), what, expected));
  };
  if (base.encoder.model_type != tuned.encoder.model_type) {
    refuse("has the architecture", tuned.encoder.model_type, base.encoder.model_type);
  }
  const size_t layers = tuned.encoder.layers.size(), of_base = base.encoder.layers.size();
  if (layers != of_base) {
    throw ModelError(tuned.path.native(), "",
                     fmt::format("layers of its encoder: {}, but {} in {}, and only models of as "
                                 "many have an average; where `model.layers` left some out, train "
                                 "from a model without them (a run of one step with the learning "
                                 "rate 0 writes one), and give that as the base",
                                 layers, of_base, base.path.native()));
  }
  if (ModuleNames(base) != ModuleNames(tuned)) {
    refuse("has the modules", ModuleNames(tuned), ModuleNames(base));
  }
}

// The changes that make of the tuned folder the average. Views of both folders are in it.
FolderChanges AverageOf(const ModelFolder& base, const ModelFolder& tuned, double weight) {
  CheckSameKind(base, tuned);
  FolderChanges changes;
  AddAverages({*base.weights, *tuned.weights, weight}, "", &changes);
  for (size_t i = 0; i < tuned.head.size(); ++i) {
    const ModuleSource* const from = SourceOf(base.head[i]);
    const ModuleSource* const to = SourceOf(tuned.head[i]);
    if (to == nullptr) continue;
    if (from->weights == nullptr || to->weights == nullptr) {
      throw ModelError((from->weights == nullptr ? base : tuned).path.native(), to->folder,
                       "is a module without a file of its own, which has no average");
    }
    AddAverages({*from->weights, *to->weights, weight}, to->folder + "/", &changes);
  }
  return changes;
}

TandemFile FileWithoutCalibration(const std::filesystem::path& folder, TandemFile file) {
  file.stopped.reset();  // the average is the model of no run
  if (!file.calibration) return file;
  Note(fmt::format("{}: its probability is left out, since the average makes other scores",
                   (folder / kTandemFile).native()));
  file.calibration.reset();
  return file;
}

void CheckAverage(double weight, const std::filesystem::path& output) {
  if (!(weight >= 0 && weight <= 1)) {
    throw UsageError(fmt::format(
        "the weight of the tuned model is {}; a number from 0 (the base) to 1 is expected",
        weight));
  }
  std::error_code error;
  if (!std::filesystem::exists(std::filesystem::symlink_status(output, error))) return;
  throw UsageError(
      fmt::format("{}: exists already; give another folder, or remove it", output.native()));
}

}  // namespace

void AverageModels(const std::filesystem::path& base, const std::filesystem::path& tuned,
                   double weight, const std::filesystem::path& output,
                   const std::optional<ModelCard>& given) {
  CheckAverage(weight, output);
  const TowerFolders from = ReadTowerFolders(base);
  const TowerFolders to = ReadTowerFolders(tuned);
  if (from.document && !to.document) {
    throw ModelError(tuned.native(), "",
                     fmt::format("has one encoder, but {} has two; give a model and the one that "
                                 "it was trained from",
                                 base.native()));
  }
  const TandemFile file = FileWithoutCalibration(tuned, to.file);
  const ModelCard named{.base_model = base.native(),
                        .objective = {},
                        .steps = {},
                        .facts = {{"average with", tuned.filename().native()},
                                  {"weight of it", fmt::format("{}", weight)}}};
  const ModelCard& card = given ? *given : named;
  FolderChanges query = AverageOf(from.query, to.query, weight);
  if (!to.document) {
    query.further_files[kTandemFile] = TandemFileText(file);
    return WriteModelFolder(to.query, query, card, output);
  }
  FolderChanges document =
      AverageOf(from.document ? *from.document : from.query, *to.document, weight);
  WriteTowerFolders(file, {to.query, std::move(query)}, {*to.document, std::move(document)}, card,
                    output);
}

}  // namespace tandem::weights
