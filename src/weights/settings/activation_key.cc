#include "weights/settings/activation_key.h"

namespace tandem::weights {

HiddenActivation HiddenActivationFrom(std::string_view spelling) {
  if (spelling == "gelu" || spelling == "gelu_python") return HiddenActivation::kGelu;
  if (spelling == "relu") return HiddenActivation::kRelu;
  if (spelling == "silu" || spelling == "swish") return HiddenActivation::kSilu;
  return HiddenActivation::kGeluTanh;
}

}  // namespace tandem::weights
