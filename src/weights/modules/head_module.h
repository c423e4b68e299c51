// The modules after an encoder, as a sentence-transformers folder lists them in modules.json.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "weights/modules/pooling.h"
#include "weights/safetensors/safetensors.h"
#include "weights/safetensors/weight_files.h"

namespace tandem::weights {

enum class Activation { kIdentity, kTanh, kRelu, kGelu, kSigmoid, kSilu };

std::string_view ActivationName(Activation activation);  // "torch.nn.modules.activation.Tanh", ...

// Says where the parameters of a module are.
struct ModuleSource {
  std::string folder;                          // "2_Dense"; parameters are named FOLDER/NAME
  std::shared_ptr<const WeightFiles> weights;  // of the module alone; null: it has no files yet
  // Where `weights` is null, these tensors of the encoder's files start the parameters, by NAME.
  std::map<std::string, const TensorView*, std::less<>> start;

  // Returns the tensor that a file has for the parameter NAME; null: none, the parameter starts
  // new.
  const TensorView* Find(std::string_view name) const;
  bool is_new() const { return weights == nullptr && start.empty(); }
};

// y = activation(x W^T + b). Parameters linear.weight [out, in] and linear.bias [out].
struct Dense : ModuleSource {
  int64_t in_features = 0;
  int64_t out_features = 0;
  bool bias = true;
  Activation activation = Activation::kTanh;
};

// y = (x - mean) / sqrt(variance + 1e-5) w + b, by row. Parameters norm.weight [dimension] and
// norm.bias [dimension]; where no file has them they start at 1 and 0.
struct LayerNorm : ModuleSource {
  int64_t dimension = 0;
};
// torch.nn.LayerNorm's, which sentence-transformers' module always has.
inline constexpr double kLayerNormEpsilon = 1e-5;

// Rows to unit length: x / max(|x|, 1e-12).
struct Normalize {};

using HeadModule = std::variant<Pooling, Dense, LayerNorm, Normalize>;

// Returns null for a module without parameters.
const ModuleSource* SourceOf(const HeadModule& module);
ModuleSource* SourceOf(HeadModule& module);

struct ModuleParameter {
  std::string name;  // in the module's file
  Shape shape;
};
// Lists the parameters in the order in which they are written.
std::vector<ModuleParameter> ParametersOf(const HeadModule& module);

// The width of rows that the module takes, or `width`, where it takes any; and of those that it
// makes of them.
int64_t WidthBefore(const HeadModule& module, int64_t width);
int64_t WidthBehind(const HeadModule& module, int64_t width);

}  // namespace tandem::weights
