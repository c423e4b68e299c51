// Qwen3 (Yang et al. 2025), as transformers' Qwen3Model computes it: Llama with heads of their own
// width, whose queries and keys are normalised.
#include "weights/families/decoder.h"

namespace tandem::weights {
namespace {

constexpr DecoderVariant kQwen3Variant{.max_positions = 32'768,
                                       .key_value_heads = 32,
                                       .head_width = 128,
                                       .attention_bias_key = true,
                                       .head_norms = true,
                                       .windows = WindowRule::kUpperLayers};

constexpr std::string_view kModelTypes[] = {"qwen3"};

}  // namespace

extern const Architecture kQwen3{
    .name = "qwen3",
    .summary = "Llama with normalised queries and keys: Qwen3, Qwen3-Embedding",
    .source = "Yang et al. 2025; Zhang et al. 2025",
    .tokenizers = "byte-level BPE",
    .model_types = kModelTypes,
    .prefixes = kDecoderPrefixes,
    .keys = KeysOfDecoder<kQwen3Variant>,
    .read = ReadDecoderOf<kQwen3Variant>,
    .decoder = true,
};

}  // namespace tandem::weights
