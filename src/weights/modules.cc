#include "weights/modules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

#include "base/error.h"
#include "weights/settings_file.h"

namespace tandem::weights {
namespace {

constexpr std::array<std::string_view, 4> kKinds = {"Transformer", "Pooling", "Dense", "Normalize"};

struct ListedModule {
  std::string_view kind;  // one of kKinds
  std::string type;       // as listed
  std::string folder;     // relative; may be ""
};

// Where sentence-transformers has kept its module classes, over its releases.
bool IsSpellingOf(std::string_view type, std::string_view kind) {
  std::string file(kind);
  std::transform(file.begin(), file.end(), file.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const std::string& place :
       {std::string("models"), fmt::format("models.{}", kind), std::string("base.modules"),
        "base.modules." + file, std::string("sentence_transformer.modules"),
        "sentence_transformer.modules." + file}) {
    if (type == fmt::format("sentence_transformers.{}.{}", place, kind)) return true;
  }
  return false;
}

std::string_view KindOf(const std::string& type, const std::string& file) {
  for (const std::string_view kind : kKinds) {
    if (IsSpellingOf(type, kind)) return kind;
  }
  throw ModelError(file, "",
                   fmt::format("the module type '{}' is not supported; supported: {}", type,
                               fmt::join(kKinds, ", ")));
}

void CheckInside(const std::string& relative, const std::string& file) {
  const std::filesystem::path path(relative);
  const bool leaves = std::find(path.begin(), path.end(), "..") != path.end();
  if (path.is_absolute() || leaves) {
    throw ModelError(file, "",
                     fmt::format("the module path '{}' leads out of the folder", relative));
  }
}

std::vector<ListedModule> ReadList(const std::filesystem::path& path) {
  const nlohmann::json list = ParseSettings(ReadModelFile(path, kMaxSettingsBytes), path.native());
  if (!list.is_array() || list.empty()) {
    throw ModelError(path.native(), "", "is not a list of modules");
  }
  std::vector<ListedModule> modules;
  for (const nlohmann::json& item : list) {
    const Settings entry(path.native(), item);
    ListedModule module;
    module.type = entry.RequiredString("type");
    module.kind = KindOf(module.type, path.native());
    module.folder = entry.String("path").value_or("");
    CheckInside(module.folder, path.native());
    modules.push_back(std::move(module));
  }
  if (modules.front().kind != "Transformer") {
    throw ModelError(
        path.native(), "",
        fmt::format("the first module is {}; Transformer expected", modules.front().type));
  }
  return modules;
}

Settings ConfigOf(const std::filesystem::path& folder, const ListedModule& module) {
  return Settings::ReadIfThere(folder / module.folder / "config.json");
}

// Modules may be wired to other values than the text's embedding; none of the supported models is.
void CheckWiring(const Settings& config) {
  for (const char* key : {"module_input_name", "module_output_name"}) {
    if (config.String(key).value_or("sentence_embedding") != "sentence_embedding") {
      config.Fail(key, "\"sentence_embedding\" (the only supported one)");
    }
  }
}

struct PoolingSpelling {
  const char* boolean;  // before release 5.4
  const char* mode;     // from then on
};
constexpr PoolingSpelling kPoolingModes[] = {
    {"pooling_mode_cls_token", "cls"},
    {"pooling_mode_max_tokens", "max"},
    {"pooling_mode_mean_tokens", "mean"},
    {"pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len_tokens"},
    {"pooling_mode_weightedmean_tokens", "weightedmean"},
    {"pooling_mode_lasttoken", "lasttoken"},
};

std::vector<std::string> ActiveModes(const Settings& config) {
  std::vector<std::string> modes;
  if (const nlohmann::json* mode = config.Find("pooling_mode")) {
    const nlohmann::json listed = mode->is_array() ? *mode : nlohmann::json::array({*mode});
    for (const nlohmann::json& item : listed) {
      if (!item.is_string()) config.Fail("pooling_mode", "a name or a list of names");
      modes.push_back(item.get<std::string>());
    }
  } else {
    for (const PoolingSpelling& spelling : kPoolingModes) {
      if (config.Boolean(spelling.boolean).value_or(false)) modes.push_back(spelling.mode);
    }
  }
  if (modes.empty()) modes.push_back("mean");  // as sentence-transformers
  return modes;
}

Pooling ReadPooling(const Settings& config, int64_t width) {
  const std::vector<std::string> modes = ActiveModes(config);
  if (modes.size() != 1 || (modes[0] != "mean" && modes[0] != "cls")) {
    throw ModelError(config.file(), "",
                     fmt::format("the pooling mode '{}' is not supported; supported: mean, cls",
                                 fmt::join(modes, " + ")));
  }
  if (!config.Boolean("include_prompt").value_or(true)) {
    config.Fail("include_prompt", "true (pooling without the prompt's tokens is not supported)");
  }
  for (const char* key : {"embedding_dimension", "word_embedding_dimension"}) {
    const std::optional<int64_t> stated = config.Integer(key, 1, int64_t{1} << 24);
    if (stated.value_or(width) != width) {
      config.Fail(key, fmt::format("{}, the encoder's hidden_size,", width));
    }
  }
  return {.mode = modes[0] == "mean" ? PoolingMode::kMean : PoolingMode::kCls};
}

struct ActivationSpelling {
  Activation activation;
  std::string_view class_name;
  std::string_view full_name;
};
constexpr ActivationSpelling kActivations[] = {
    {Activation::kIdentity, "Identity", "torch.nn.modules.linear.Identity"},
    {Activation::kTanh, "Tanh", "torch.nn.modules.activation.Tanh"},
    {Activation::kRelu, "ReLU", "torch.nn.modules.activation.ReLU"},
    {Activation::kGelu, "GELU", "torch.nn.modules.activation.GELU"},
    {Activation::kSigmoid, "Sigmoid", "torch.nn.modules.activation.Sigmoid"},
};

Activation ReadActivation(const Settings& config) {
  const std::optional<std::string> name = config.String("activation_function");
  if (!name) return Activation::kTanh;  // sentence-transformers' default
  std::vector<std::string_view> known;
  for (const ActivationSpelling& spelling : kActivations) {
    known.push_back(spelling.full_name);
    if (*name == spelling.full_name || *name == fmt::format("torch.nn.{}", spelling.class_name)) {
      return spelling.activation;
    }
  }
  throw ModelError(config.file(), "",
                   fmt::format("the activation '{}' is not supported; supported: {}", *name,
                               fmt::join(known, ", ")));
}

void CheckDenseTensor(const Dense& dense, std::string_view name, const Shape& shape) {
  const TensorView* tensor = dense.weights->Find(name);
  const std::string& file = dense.weights->FileOf(name).native();
  if (tensor == nullptr) throw ModelError(file, name, "the Dense module's weights lack it");
  if (tensor->shape != shape || !IsComputable(tensor->dtype)) {
    throw ModelError(
        file, name,
        fmt::format("is {} of shape {}; F32, F16 or BF16 of shape {} expected",
                    DtypeName(tensor->dtype), ShapeText(tensor->shape), ShapeText(shape)));
  }
}

Dense ReadDense(const std::filesystem::path& folder, const ListedModule& module, int64_t width) {
  const Settings config = Settings::Read(folder / module.folder / "config.json");
  CheckWiring(config);
  if (config.Boolean("use_residual").value_or(false)) {
    config.Fail("use_residual", "false (a residual Dense is not supported)");
  }
  Dense dense;
  dense.folder = module.folder;
  dense.in_features = config.RequiredInteger("in_features", 1, int64_t{1} << 24);
  dense.out_features = config.RequiredInteger("out_features", 1, int64_t{1} << 24);
  dense.bias = config.Boolean("bias").value_or(true);
  dense.activation = ReadActivation(config);
  if (dense.in_features != width) {
    config.Fail("in_features", fmt::format("{}, what the module before it gives,", width));
  }
  dense.weights = std::make_shared<const WeightFiles>(folder / module.folder);
  CheckDenseTensor(dense, "linear.weight", {dense.out_features, dense.in_features});
  if (dense.bias) CheckDenseTensor(dense, "linear.bias", {dense.out_features});
  return dense;
}

HeadModule ReadHeadModule(const std::filesystem::path& folder, const ListedModule& module,
                          int64_t width) {
  if (module.kind == "Pooling") return ReadPooling(ConfigOf(folder, module), width);
  if (module.kind == "Dense") return ReadDense(folder, module, width);
  CheckWiring(ConfigOf(folder, module));
  return Normalize{};
}

// Transformer, Pooling, then any number of Dense and Normalize.
void CheckOrder(const std::vector<ListedModule>& modules, const std::string& file) {
  for (size_t i = 1; i < modules.size(); ++i) {
    if ((i == 1) == (modules[i].kind == "Pooling") && modules[i].kind != "Transformer") continue;
    throw ModelError(file, "",
                     fmt::format("module {} is {}; supported: Transformer, Pooling, then Dense and "
                                 "Normalize modules",
                                 i, modules[i].type));
  }
  if (modules.size() == 1) {
    throw ModelError(file, "", "lists no Pooling module behind the Transformer");
  }
}

}  // namespace

std::string_view PoolingModeName(PoolingMode mode) {
  return mode == PoolingMode::kMean ? "mean" : "cls";
}

std::string_view ActivationName(Activation activation) {
  return kActivations[static_cast<size_t>(activation)].full_name;
}

std::string EncoderFolderOf(const std::filesystem::path& folder) {
  return ReadList(folder / "modules.json").front().folder;
}

ModuleList ReadModules(const std::filesystem::path& folder, int64_t hidden_size) {
  const std::filesystem::path path = folder / "modules.json";
  const std::vector<ListedModule> modules = ReadList(path);
  CheckOrder(modules, path.native());
  ModuleList list{.embedding_width = hidden_size};
  for (size_t i = 1; i < modules.size(); ++i) {
    list.head.push_back(ReadHeadModule(folder, modules[i], list.embedding_width));
    const auto* dense = std::get_if<Dense>(&list.head.back());
    if (dense != nullptr) list.embedding_width = dense->out_features;
  }
  return list;
}

}  // namespace tandem::weights
