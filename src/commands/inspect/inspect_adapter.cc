// Inspects adapter folders for `tandem inspect`.

#include <fmt/format.h>

#include <map>
#include <string>

#include "base/json/json.h"
#include "commands/inspect/inspections.h"
#include "weights/folders/adapter_folder.h"
#include "weights/safetensors/safetensors.h"

namespace tandem::app {
namespace {

namespace fs = std::filesystem;

// Counts of an adapter's tensors, without its base model.
struct TensorCounts {
  size_t maps = 0;  // tensors A
  size_t parameters = 0;
  std::map<std::string, size_t> types;
};

TensorCounts CountsOf(const weights::SafetensorsFile& file) {
  TensorCounts counts;
  for (const weights::TensorView& tensor : file.tensors()) {
    counts.maps += tensor.name.ends_with(weights::kLoraDown);
    counts.parameters += tensor.elements();
    ++counts.types[std::string(weights::DtypeName(tensor.dtype))];
  }
  return counts;
}

Json AdapterRow(const fs::path& path) {
  const weights::AdapterSettings settings = weights::ReadAdapterConfig(path);
  weights::CheckAdapterFiles(path);
  const weights::SafetensorsFile file(path / weights::kAdapterWeights);
  const TensorCounts counts = CountsOf(file);
  return {{"base", settings.base},
          {"rank", settings.rank},
          {"alpha", settings.alpha},
          {"rslora", settings.rank_stabilized},
          {"scale", settings.scale()},
          {"dropout", settings.dropout},
          {"linear_maps", counts.maps},
          {"parameters", counts.parameters},
          {"tensors", counts.types},
          {"has_modules", fs::exists(path / "modules.json")},
          {"target_modules", settings.targets}};
}

// Returns the command that makes a model of the adapter.
std::string MergeLine(const fs::path& path) {
  return fmt::format("tandem merge {} --base BASE --output OUTPUT", path.native());
}

}  // namespace

Json InspectAdapter(const fs::path& path) {
  Json found = {{"kind", "adapter"}};
  found.Update(AdapterRow(path));
  found["whole_model"] = MergeLine(path);
  return found;
}

Json InspectTowerAdapters(const fs::path& path) {
  Json found = {{"kind", "adapters"}, {"towers", Json::array()}};
  for (const char* tower : {"query", "document"}) {
    Json row = {{"folder", tower}};
    row.Update(AdapterRow(path / tower));
    row.erase("target_modules");
    row.erase("tensors");
    found["towers"].push_back(std::move(row));
  }
  found["whole_model"] = MergeLine(path / "query");
  return found;
}

}  // namespace tandem::app
