#include "weights/modules/modules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "weights/settings/settings_file.h"

namespace tandem::weights {
namespace {

constexpr std::array<std::string_view, 8> kKinds = {"Transformer", "Pooling", "Dense",  "LayerNorm",
                                                    "Normalize",   "Dropout", "Router", "Asym"};
constexpr size_t kInOneEncoder = 6;  // the first ones

// Classes of sentence-transformers 6.2 that are not computed here, and what is to be done.
struct OtherClass {
  std::string_view name;
  std::string_view what;
};
constexpr std::string_view kNoEncoder =
    "a model of word vectors; take one that begins with a Transformer";
constexpr std::string_view kSparse = "of a sparse encoder; take a model of dense embeddings";
constexpr std::string_view kMultiVector =
    "of a model with a vector for each token; take one of one vector for each text";
constexpr OtherClass kOtherClasses[] = {
    {"StaticEmbedding", kNoEncoder},
    {"WordEmbeddings", kNoEncoder},
    {"WordWeights", kNoEncoder},
    {"BoW", kNoEncoder},
    {"CNN", kNoEncoder},
    {"LSTM", kNoEncoder},
    {"WeightedLayerPooling",
     "a mean of several layers' outputs; take a model that pools the last layer"},
    {"CLIPModel", "a model of images; take one of texts"},
    {"MLMTransformer", kSparse},
    {"SpladePooling", kSparse},
    {"SparseAutoEncoder", kSparse},
    {"SparseStaticEmbedding", kSparse},
    {"CSRSparsity", kSparse},
    {"IDF", kSparse},
    {"MultiVectorMask", kMultiVector},
    {"TokenPooling", kMultiVector},
    {"LogitScore", "a cross-encoder that reads a language model's next token"},
};

// "is of a sparse encoder; ...", or that the class is the folder's own code.
std::string WhyNot(const std::string& type) {
  const std::string_view name = std::string_view(type).substr(type.rfind('.') + 1);
  for (const OtherClass& other : kOtherClasses) {
    if (name == other.name) return fmt::format("is {}", other.what);
  }
  return type.starts_with("sentence_transformers.")
             ? "is unknown"
             : "is code that comes with the model, which is never run";
}

// The Python file of a class: "layer_norm" of "LayerNorm".
std::string FileOf(std::string_view kind) {
  std::string file;
  for (const char c : kind) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isupper(letter) != 0 && !file.empty()) file += '_';
    file += static_cast<char>(std::tolower(letter));
  }
  return file;
}

// Where sentence-transformers has kept its module classes, over its releases.
bool IsSpellingOf(std::string_view type, std::string_view kind) {
  const std::string file = FileOf(kind);
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
  throw ModelError(
      file, "",
      fmt::format("the module type '{}' is not supported: it {}. Supported: {}", type, WhyNot(type),
                  fmt::join(kKinds.begin(), kKinds.begin() + kInOneEncoder, ", ")));
}

void CheckInside(const std::string& relative, const std::string& file) {
  const std::filesystem::path path(relative);
  const bool leaves = std::find(path.begin(), path.end(), "..") != path.end();
  if (path.is_absolute() || leaves) {
    throw ModelError(file, "",
                     fmt::format("the module path '{}' leads out of the folder", relative));
  }
}

// Modules may be wired to other values than the text's embedding; none of the supported models is.
void CheckWiring(const Settings& config) {
  for (const char* key : {"module_input_name", "module_output_name"}) {
    if (config.String(key).value_or("sentence_embedding") != "sentence_embedding") {
      config.Fail(key, "\"sentence_embedding\" (the only supported one)");
    }
  }
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
    {Activation::kSilu, "SiLU", "torch.nn.modules.activation.SiLU"},
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

// Opens the module's weights and checks that they are what its settings ask for.
void ReadWeights(const ModelFiles& files, HeadModule* module) {
  ModuleSource* source = SourceOf(*module);
  source->weights = std::make_shared<const WeightFiles>(files.path() / source->folder);
  for (const auto& [name, shape] : ParametersOf(*module)) {
    const TensorView* tensor = source->weights->Find(name);
    const std::string& file = source->weights->FileOf(name).native();
    if (tensor == nullptr) throw ModelError(file, name, "the module's weights lack it");
    if (tensor->shape == shape && IsComputable(tensor->dtype)) continue;
    throw ModelError(
        file, name,
        fmt::format("is {} of shape {}; F32, F16 or BF16 of shape {} expected",
                    DtypeName(tensor->dtype), ShapeText(tensor->shape), ShapeText(shape)));
  }
}

// Throws unless the module's `key`, which is `stated`, is the width of the rows before it.
void CheckTakes(const Settings& config, std::string_view key, int64_t stated, int64_t width) {
  if (stated == width) return;
  config.Fail(key, fmt::format("{}, what the module before it gives,", width));
}

HeadModule ReadDense(const Settings& config, const ListedModule& module, int64_t width) {
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
  CheckTakes(config, "in_features", dense.in_features, width);
  return dense;
}

HeadModule ReadLayerNorm(const Settings& config, const ListedModule& module, int64_t width) {
  LayerNorm norm;
  norm.folder = module.folder;
  norm.dimension = config.RequiredInteger("dimension", 1, int64_t{1} << 24);
  CheckTakes(config, "dimension", norm.dimension, width);
  return norm;
}

HeadModule ReadHeadModule(const ModelFiles& files, const ListedModule& module, int64_t width) {
  const ModelFiles own = files.Below(module.folder);
  if (module.kind == "Normalize") {
    CheckWiring(own.ReadIfThere("config.json"));
    return Normalize{};
  }
  const Settings& config = own.Read("config.json");
  if (module.kind == "Pooling") return ReadPooling(config, width);
  HeadModule read = module.kind == "Dense" ? ReadDense(config, module, width)
                                           : ReadLayerNorm(config, module, width);
  ReadWeights(files, &read);
  return read;
}

// Transformer, Pooling, then any number of the others.
void CheckOrder(const std::vector<ListedModule>& modules, const std::string& file) {
  for (size_t i = 1; i < modules.size(); ++i) {
    const bool behind = modules[i].kind != "Transformer" && !modules[i].is_router();
    if ((i == 1) == (modules[i].kind == "Pooling") && behind) continue;
    throw ModelError(file, "",
                     fmt::format("module {} is {}; supported: Transformer, Pooling, then Dense, "
                                 "LayerNorm and Normalize modules",
                                 i, modules[i].type));
  }
  if (modules.size() == 1) {
    throw ModelError(file, "", "lists no Pooling module behind the Transformer");
  }
}

// Dropout does nothing to embeddings; only training in sentence-transformers has it.
std::vector<ListedModule> WithoutDropout(std::vector<ListedModule> modules,
                                         const std::string& file) {
  const auto count =
      std::erase_if(modules, [](const ListedModule& module) { return module.kind == "Dropout"; });
  if (count > 0) {
    Note(
        fmt::format("{}: the Dropout module changes no embedding; it is left out, in training and "
                    "in what is written too",
                    file));
  }
  return modules;
}

}  // namespace

std::string_view ActivationName(Activation activation) {
  return kActivations[static_cast<size_t>(activation)].full_name;
}

ListedModule ModuleOf(std::string type, std::string folder, const std::string& file) {
  ListedModule module{.kind = KindOf(type, file), .type = std::move(type)};
  CheckInside(folder, file);
  module.folder = std::move(folder);
  return module;
}

std::vector<ListedModule> ParseModules(std::string_view bytes, const std::filesystem::path& path) {
  const Json list = ParseSettings(bytes, path.native());
  if (!list.is_array() || list.empty()) {
    throw ModelError(path.native(), "", "is not a list of modules");
  }
  std::vector<ListedModule> modules;
  for (const Json& item : list) {
    const Settings entry(path.native(), item);
    modules.push_back(
        ModuleOf(entry.RequiredString("type"), entry.String("path").value_or(""), path.native()));
  }
  const ListedModule& first = modules.front();
  if (first.kind != "Transformer" && !first.is_router()) {
    throw ModelError(path.native(), "",
                     fmt::format("the first module is {}; Transformer expected", first.type));
  }
  return modules;
}

std::string EncoderFolderOf(const ModelFiles& files) {
  if (!files.Has(kModulesFile)) return "";
  const ListedModule& first = files.Modules().front();
  if (!first.is_router()) return first.folder;
  throw ModelError(files.PathOf(kModulesFile).native(), "",
                   fmt::format("lists a {}: the folder is a model of two encoders, where one of "
                               "one encoder is expected",
                               first.kind));
}

ModuleList ReadModules(const ModelFiles& files, const std::vector<ListedModule>& listed,
                       const std::string& file, int64_t hidden_size) {
  const std::vector<ListedModule> modules = WithoutDropout(listed, file);
  CheckOrder(modules, file);
  ModuleList list{.embedding_width = hidden_size};
  for (size_t i = 1; i < modules.size(); ++i) {
    list.head.push_back(ReadHeadModule(files, modules[i], list.embedding_width));
    list.embedding_width = WidthBehind(list.head.back(), list.embedding_width);
  }
  return list;
}

}  // namespace tandem::weights
