// Qwen2 and Qwen2.5 (Yang et al. 2024), as transformers' Qwen2Model computes it: Llama with biases
// of queries, keys and values, and windows in the upper layers.
#include "weights/families/decoder.h"

namespace tandem::weights {
namespace {

constexpr DecoderVariant kQwen2Variant{.max_positions = 32'768,
                                       .key_value_heads = 32,
                                       .query_key_value_bias = true,
                                       .windows = WindowRule::kUpperLayers};

constexpr std::string_view kModelTypes[] = {"qwen2"};

}  // namespace

extern const Architecture kQwen2{
    .name = "qwen2",
    .summary = "Llama with biases of queries, keys and values: Qwen2, Qwen2.5, gte-Qwen2",
    .source = "Yang et al. 2024",
    .tokenizers = "byte-level BPE",
    .model_types = kModelTypes,
    .prefixes = kDecoderPrefixes,
    .keys = KeysOfDecoder<kQwen2Variant>,
    .read = ReadDecoderOf<kQwen2Variant>,
    .decoder = true,
};

}  // namespace tandem::weights
