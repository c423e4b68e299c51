#include "weights/folders/adapter_folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>
#include <vector>

#include "base/error.h"
#include "base/files/atomic_folder.h"
#include "base/files/files.h"
#include "base/json/json.h"
#include "base/log.h"
#include "weights/encoder_parts.h"

namespace tandem::weights {
namespace {

constexpr std::string_view kRoot = "base_model.model.";
// The linear map of the encoder that a module of the adapter is; "" for a module that it lacks.
std::string LinearOf(std::string_view module, const std::set<std::string, std::less<>>& linears,
                     std::span<const std::string_view> prefixes) {
  const auto known = [&](std::string_view name) {
    return linears.contains(name) ? std::string(name) : std::string();
  };
  if (std::string name = known(module); !name.empty()) return name;
  for (const std::string_view prefix : prefixes) {
    if (!module.starts_with(prefix)) continue;
    if (std::string name = known(module.substr(prefix.size())); !name.empty()) return name;
  }
  return "";
}

// The module and which of its two matrices a tensor is.
struct TensorPlace {
  std::string_view module;
  bool up = false;
};
std::optional<TensorPlace> PlaceOf(std::string_view name) {
  if (!name.starts_with(kRoot)) return std::nullopt;
  name.remove_prefix(kRoot.size());
  for (const bool up : {false, true}) {
    const std::string_view end = up ? kLoraUp : kLoraDown;
    if (name.ends_with(end)) return TensorPlace{name.substr(0, name.size() - end.size()), up};
  }
  return std::nullopt;
}

const Shape& WeightShape(const EncoderSpec& spec, const std::string& linear) {
  const auto found =
      std::find_if(spec.tensors.begin(), spec.tensors.end(),
                   [&](const EncoderTensor& tensor) { return tensor.name == linear + ".weight"; });
  return found->shape;
}

void CheckFinite(const AdapterFolder& folder, const TensorView& view) {
  const std::vector<float> values = ToFloat32(view);
  const auto broken =
      std::find_if(values.begin(), values.end(), [](float value) { return !std::isfinite(value); });
  if (broken == values.end()) return;
  throw ModelError((folder.path / kAdapterWeights).native(), view.name,
                   fmt::format("has {} as number {} of {}; finite numbers are expected: the "
                               "adapter is broken, take an earlier one",
                               *broken, broken - values.begin() + 1, values.size()));
}

// Throws where A and B agree on another rank than adapter_config.json says.
void CheckRank(const AdapterFolder& folder, const AdapterPair& pair) {
  const Shape &down = pair.down->shape, &up = pair.up->shape;
  if (down.size() != 2 || up.size() != 2 || down[0] != up[1] || down[0] == folder.settings.rank) {
    return;
  }
  throw ModelError((folder.path / kAdapterWeights).native(), pair.down->name,
                   fmt::format("is of shape {}, rank {}, but {} says r = {}; take the two files of "
                               "one adapter",
                               ShapeText(down), down[0], kAdapterConfig, folder.settings.rank));
}

void CheckPair(const AdapterFolder& folder, const EncoderSpec& spec, const std::string& linear,
               const AdapterPair& pair) {
  const std::string file = (folder.path / kAdapterWeights).native();
  if (pair.down == nullptr || pair.up == nullptr) {
    throw ModelError(file, linear,
                     fmt::format("has no {}", pair.down == nullptr ? "lora_A" : "lora_B"));
  }
  CheckRank(folder, pair);
  const Shape& weight = WeightShape(spec, linear);
  const Shape down = {folder.settings.rank, weight[1]}, up = {weight[0], folder.settings.rank};
  for (const auto& [view, shape] : {std::pair(pair.down, down), std::pair(pair.up, up)}) {
    if (!IsComputable(view->dtype)) {
      throw ModelError(file, view->name,
                       fmt::format("is {}; F32, F16 or BF16 is expected", DtypeName(view->dtype)));
    }
    if (view->shape != shape) {
      throw ModelError(file, view->name,
                       fmt::format("is of shape {}; {} is expected for rank {} and the base's "
                                   "weight {}: the adapter is of another base",
                                   ShapeText(view->shape), ShapeText(shape), folder.settings.rank,
                                   ShapeText(weight)));
    }
    CheckFinite(folder, *view);
  }
}

// Components of the names of modules that models have beside what the encoder computes: BERT's and
// MPNet's pooler, T5's decoder, and the heads of task models in transformers.
constexpr std::string_view kBesideEncoder[] = {
    "pooler",          "decoder", "cls",        "lm_head",        "head",       "vocab_transform",
    "vocab_projector", "score",   "classifier", "pre_classifier", "qa_outputs", "seq_relationship",
};

bool IsBesideEncoder(std::string_view module) {
  while (!module.empty()) {
    const size_t dot = std::min(module.find('.'), module.size());
    const std::string_view component = module.substr(0, dot);
    if (std::find(std::begin(kBesideEncoder), std::end(kBesideEncoder), component) !=
        std::end(kBesideEncoder)) {
      return true;
    }
    module.remove_prefix(std::min(dot + 1, module.size()));
  }
  return false;
}

// A folder while its tensors are sorted.
struct Sorting {
  AdapterFolder folder;
  const EncoderSpec& spec;
  std::span<const std::string_view> prefixes;
  std::set<std::string, std::less<>> linears;
  std::set<std::string> left_out;  // modules

  std::string file() const { return (folder.path / kAdapterWeights).native(); }
};

// Says whether a tensor that is no adapter is a copy of the base's word table, as PEFT saves beside
// adapters of a language model's head.
bool IsCopyOfWordTable(const Sorting& sorting, const TensorView& view) {
  std::string_view name = view.name;
  constexpr std::string_view kWeight = ".weight";
  if (!name.starts_with(kRoot) || !name.ends_with(kWeight)) return false;
  name.remove_prefix(kRoot.size());
  const auto is_named = [&](std::string_view known) {
    return name == known ||
           std::any_of(sorting.prefixes.begin(), sorting.prefixes.end(),
                       [&](std::string_view prefix) {
                         return name.starts_with(prefix) && name.substr(prefix.size()) == known;
                       });
  };
  for (const EncoderTensor& tensor : sorting.spec.tensors) {
    if (tensor.name != sorting.spec.embedding.word || tensor.view == nullptr) continue;
    return (is_named(tensor.name) || name == tensor.view->name) &&
           view.shape == tensor.view->shape && IsComputable(view.dtype) &&
           (view.dtype == tensor.view->dtype ? view.bytes == tensor.view->bytes
                                             : ToFloat32(view) == ToFloat32(*tensor.view));
  }
  return false;
}

void AddToMap(Sorting& sorting, const std::string& linear, const TensorView& view, bool up) {
  AdapterPair& pair = sorting.folder.pairs[linear];
  const TensorView*& place = up ? pair.up : pair.down;
  if (place != nullptr) {
    throw ModelError(sorting.file(), view.name,
                     fmt::format("is a second {} of {}, beside {}", up ? "lora_B" : "lora_A",
                                 linear, place->name));
  }
  place = &view;
}

void AddTensor(Sorting& sorting, const TensorView& view) {
  const std::optional<TensorPlace> place = PlaceOf(view.name);
  const std::string_view module = place ? place->module : std::string_view(view.name);
  if (place) {
    const std::string linear = LinearOf(module, sorting.linears, sorting.prefixes);
    if (!linear.empty()) return AddToMap(sorting, linear, view, place->up);
  }
  if (IsBesideEncoder(module) || (!place && IsCopyOfWordTable(sorting, view))) {
    sorting.left_out.emplace(module);
    return;
  }
  if (place) {
    throw ModelError(
        sorting.file(), view.name,
        fmt::format("adapts {}, which the base has not; the adapter is of another base", module));
  }
  throw ModelError(sorting.file(), view.name,
                   "is no lora_A or lora_B of a linear map; adapters of other modules and trained "
                   "weights beside adapters are not supported: in Python, merge_and_unload() makes "
                   "a whole model of them, which Tandem reads");
}

}  // namespace

void CheckAdapterFiles(const std::filesystem::path& path) {
  if (std::filesystem::exists(path / kAdapterWeights)) return;
  const bool pickled = std::filesystem::exists(path / "adapter_model.bin");
  throw ModelError(
      path.native(), "",
      fmt::format("has no {}{}", kAdapterWeights,
                  pickled ? ", and its adapter_model.bin is not read, because it may hold any "
                            "program; in Python, load it and save it again by "
                            "save_pretrained(FOLDER, safe_serialization=True)"
                          : ""));
}

AdapterFolder ReadAdapterFolder(const std::filesystem::path& path, const EncoderSpec& spec,
                                std::span<const std::string_view> prefixes) {
  const AdapterSettings settings = ReadAdapterConfig(path);
  CheckAdapterFiles(path);
  const std::vector<std::string> names = LinearNames(spec);
  Sorting sorting{.folder = {path, settings, {}, nullptr},
                  .spec = spec,
                  .prefixes = prefixes,
                  .linears = {names.begin(), names.end()},
                  .left_out = {}};
  AdapterFolder& folder = sorting.folder;
  folder.weights = std::make_shared<const SafetensorsFile>(path / kAdapterWeights);
  for (const TensorView& view : folder.weights->tensors()) AddTensor(sorting, view);
  for (const auto& [linear, pair] : folder.pairs) CheckPair(folder, spec, linear, pair);
  if (folder.pairs.empty()) {
    throw ModelError(sorting.file(), "", "adapts nothing of the encoder");
  }
  if (!sorting.left_out.empty()) {
    Note(fmt::format("{}: left out, because embeddings do not depend on it: {}", path.native(),
                     fmt::join(sorting.left_out, ", ")));
  }
  return std::move(sorting.folder);
}

void WarnOfOtherBase(const AdapterFolder& adapter, const std::filesystem::path& base) {
  const auto last = [](const std::filesystem::path& path) {
    const std::filesystem::path plain = path.lexically_normal();
    return (plain.has_filename() ? plain : plain.parent_path()).filename();
  };
  const std::string& named = adapter.settings.base;
  if (named.empty() || last(named) == last(base)) return;
  Warn(fmt::format("{} says that it is an adapter of {}; it is used with {}", adapter.path.native(),
                   named, base.native()));
}

std::string DownName(const std::string& linear) {
  return fmt::format("{}{}{}", kRoot, linear, kLoraDown);
}
std::string UpName(const std::string& linear) {
  return fmt::format("{}{}{}", kRoot, linear, kLoraUp);
}

namespace {

// The place where the name goes on after all but its `components` last components.
size_t SuffixStart(std::string_view name, int components) {
  size_t at = name.size();
  for (int i = 0; i < components; ++i) {
    const size_t dot = at == 0 ? std::string_view::npos : name.rfind('.', at - 1);
    if (dot == std::string_view::npos) return 0;
    at = dot;
  }
  return at + 1;
}

bool EndsWith(std::string_view name, std::string_view suffix) {
  return name == suffix || (name.size() > suffix.size() && name.ends_with(suffix) &&
                            name[name.size() - suffix.size() - 1] == '.');
}

}  // namespace

std::vector<std::string> TargetModules(const EncoderSpec& spec,
                                       const std::vector<std::string>& linears,
                                       const std::vector<std::string>& others) {
  const std::set<std::string> wanted(linears.begin(), linears.end());
  std::vector<std::string> unwanted = others;
  for (const std::string& name : LinearNames(spec)) {
    if (!wanted.contains(name)) unwanted.push_back(name);
  }
  std::set<std::string> targets;
  for (const std::string& name : linears) {
    std::string suffix;
    for (int components = 1; suffix != name; ++components) {
      suffix = name.substr(SuffixStart(name, components));
      const bool too_short = std::any_of(unwanted.begin(), unwanted.end(), [&](const auto& other) {
        return EndsWith(other, suffix);
      });
      if (!too_short) break;
    }
    targets.insert(suffix);
  }
  return {targets.begin(), targets.end()};
}

void WriteAdapterFolder(const std::filesystem::path& path, const AdapterSettings& settings,
                        std::span<const TensorToWrite> tensors,
                        const std::function<void(const std::filesystem::path&)>& write_more) {
  if (std::filesystem::exists(path) && !std::filesystem::exists(path / kAdapterConfig) &&
      !(std::filesystem::is_directory(path) && std::filesystem::is_empty(path))) {
    throw UsageError(
        fmt::format("{}: exists and is no adapter folder; it is not replaced", path.native()));
  }
  const Json config = {{"peft_type", "LORA"},
                       {"task_type", "FEATURE_EXTRACTION"},
                       {"base_model_name_or_path", settings.base},
                       {"r", settings.rank},
                       {"lora_alpha", settings.alpha},
                       {"lora_dropout", settings.dropout},
                       {"use_rslora", settings.rank_stabilized},
                       {"bias", "none"},
                       {"fan_in_fan_out", false},
                       {"inference_mode", true},
                       {"target_modules", settings.targets}};
  AtomicFolder target(path);
  WriteSafetensors(target.staging() / kAdapterWeights, tensors);
  WriteFileAtomically(target.staging() / kAdapterConfig, config.Dump(2) + "\n");
  if (write_more) write_more(target.staging());
  target.Commit();
}

std::string MergedWeight::Bytes() const {
  const auto rows = static_cast<size_t>(weight.shape[0]),
             width = static_cast<size_t>(weight.shape[1]);
  std::vector<float> base(rows * width);
  CopyAsFloat32(weight, base);
  std::vector<double> change(width);
  for (size_t n = 0; n < rows; ++n) {
    std::fill(change.begin(), change.end(), 0.0);
    for (int64_t r = 0; r < rank; ++r) {
      const double factor =
          scale * static_cast<double>(up[n * static_cast<size_t>(rank) + static_cast<size_t>(r)]);
      const float* a = down + static_cast<size_t>(r) * width;
      for (size_t k = 0; k < width; ++k) change[k] += factor * static_cast<double>(a[k]);
    }
    float* to = base.data() + n * width;
    for (size_t k = 0; k < width; ++k) to[k] = static_cast<float>(to[k] + change[k]);
  }
  return {reinterpret_cast<const char*>(base.data()), base.size() * sizeof(float)};
}

}  // namespace tandem::weights
