// Mistral (Jiang et al. 2023), as transformers' MistralModel computes it: Llama with a window in
// all layers.
#include "weights/families/decoder.h"

namespace tandem::weights {
namespace {

constexpr DecoderVariant kMistralVariant{
    .max_positions = 131'072, .key_value_heads = 8, .windows = WindowRule::kAllLayers};

constexpr std::string_view kModelTypes[] = {"mistral"};

}  // namespace

extern const Architecture kMistral{
    .name = "mistral",
    .summary = "Llama with a window in all layers: Mistral, E5-mistral, SFR-Embedding-Mistral",
    .source = "Jiang et al. 2023",
    .tokenizers = "BPE with byte fallback, byte-level BPE",
    .model_types = kModelTypes,
    .prefixes = kDecoderPrefixes,
    .keys = KeysOfDecoder<kMistralVariant>,
    .read = ReadDecoderOf<kMistralVariant>,
    .decoder = true,
};

}  // namespace tandem::weights
