// The key of config.json that names a feed-forward layer's activation, in transformers' spellings.
#pragma once

#include <string_view>

#include "weights/encoder_spec.h"
#include "weights/settings/config_keys.h"

namespace tandem::weights {

// The names that HiddenActivationFrom accepts. "gelu_fast" and "gelu_accurate" are the tanh form
// too: in transformers they differ from it by less than 1e-10.
inline constexpr std::string_view kActivationSpellings[] = {"gelu",
                                                            "gelu_python",
                                                            "gelu_new",
                                                            "gelu_pytorch_tanh",
                                                            "gelu_python_tanh",
                                                            "gelu_fast",
                                                            "gelu_accurate",
                                                            "relu",
                                                            "silu",
                                                            "swish"};

// `spelling` must be one of these.
HiddenActivation HiddenActivationFrom(std::string_view spelling);

}  // namespace tandem::weights
