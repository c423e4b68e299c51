// `tandem merge`: makes a whole model of an adapter and its base model.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/example.h"
#include "cli/flags.h"
#include "weights/architecture.h"
#include "weights/folders/adapter_folder.h"
#include "weights/folders/model_folder_writer.h"
#include "weights/folders/tandem_file.h"
#include "weights/folders/tower_folders.h"

namespace tandem::app {
namespace {

struct MergeOptions {
  std::string adapter;
  std::string base;
  std::string output;
};

// The adapter's values, and the merged weights as they will be written.
struct Merge {
  std::vector<std::vector<float>> values;
  weights::FolderChanges changes;
};

Merge MergeInto(const weights::ModelFolder& base, const weights::AdapterFolder& adapter) {
  Merge merge;
  for (const auto& [linear, pair] : adapter.pairs) {
    const weights::TensorView& view = *base.tensor(linear + ".weight").view;
    merge.values.push_back(weights::ToFloat32(*pair.down));
    const float* down = merge.values.back().data();
    merge.values.push_back(weights::ToFloat32(*pair.up));
    const weights::MergedWeight merged{.weight = view,
                                       .down = down,
                                       .up = merge.values.back().data(),
                                       .rank = adapter.settings.rank,
                                       .scale = adapter.settings.scale()};
    merge.changes.tensors.push_back({.name = view.name,
                                     .dtype = weights::Dtype::kF32,
                                     .shape = view.shape,
                                     .bytes = {},
                                     .make = [merged] { return merged.Bytes(); }});
  }
  return merge;
}

// Throws if the output exists, even as a link that points nowhere.
void CheckMergeOutput(const std::filesystem::path& output) {
  std::error_code error;
  if (!std::filesystem::exists(std::filesystem::symlink_status(output, error))) return;
  throw UsageError(
      fmt::format("{}: exists already; give another folder, or remove it", output.native()));
}

void RunMerge(const MergeOptions& options) {
  CheckMergeOutput(options.output);
  weights::TowerFolders folders = weights::ReadTowerFolders(options.base);
  if (folders.document) {
    throw UsageError(fmt::format(
        "{}: is a model of two encoders; merge into the folder of each, {} and {}", options.base,
        folders.query.encoder_path.native(), folders.document->encoder_path.native()));
  }
  weights::ModelFolder& base = folders.query;
  const weights::AdapterFolder adapter = weights::ReadAdapterFolder(
      options.adapter, base.encoder, weights::FindArchitecture(base.encoder.model_type)->prefixes);
  weights::WarnOfOtherBase(adapter, options.base);
  weights::TandemFile file = folders.file;
  file.stopped.reset();  // the merged model is not the base's
  if (file.calibration) {
    Note(fmt::format("{}: its probability is left out, since the merged model makes other scores",
                     (std::filesystem::path(options.base) / weights::kTandemFile).native()));
    file.calibration.reset();
  }
  const weights::ModelFiles adapter_files(options.adapter);
  weights::TakeModules(adapter_files, &base);
  weights::TakeSettings(adapter_files, &base, &file);
  Merge merge = MergeInto(base, adapter);
  merge.changes.further_files[weights::kTandemFile] = weights::TandemFileText(file);
  weights::WriteModelFolder(
      base, merge.changes,
      {.base_model = options.base,
       .objective = {},
       .steps = {},
       .facts = {{"merged adapter", std::filesystem::path(options.adapter).filename().native()}}},
      options.output);
  Note(fmt::format("wrote {}: {} with the adapters of {} linear maps, rank {}", options.output,
                   options.base, adapter.pairs.size(), adapter.settings.rank));
}

CommandBody ConfigureMerge(Flags& flags) {
  const auto options = std::make_shared<MergeOptions>();
  flags
      .Add("adapter", options->adapter,
           "PEFT adapter folder (adapter_config.json, adapter_model.safetensors)")
      .Required();
  flags.Add("--base", options->base, "Model folder that it is an adapter of").Required();
  flags
      .Add("--output", options->output,
           "Model folder to write, which must not exist; merged weights are float32, others keep "
           "their type")
      .Required();
  return [options](const Globals&) { RunMerge(*options); };
}

constexpr Example kMergeExamples[] = {
    {"tandem merge runs/mine/adapter --base models/base --output models/mine",
     "Make a whole model of an adapter"},
    {"tandem merge runs/two/adapter/query --base models/base --output models/two/query",
     "Merge the adapter of one of two encoders"},
};

}  // namespace

extern const Command kMergeCommand{
    {.name = "merge", .summary = "Make a whole model of an adapter and its base"},
    ConfigureMerge,
    kMergeExamples};

}  // namespace tandem::app
