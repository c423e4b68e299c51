// Llama (Touvron et al. 2023; Llama 3: Grattafiori et al. 2024), as transformers' LlamaModel
// computes it.
#include "weights/families/decoder.h"

namespace tandem::weights {
namespace {

constexpr DecoderVariant kLlamaVariant{
    .max_positions = 2048, .attention_bias_key = true, .feed_forward_bias_key = true};

constexpr std::string_view kModelTypes[] = {"llama"};

}  // namespace

extern const Architecture kLlama{
    .name = "llama",
    .summary = "decoder with RMS norms, rotary positions and gated SiLU: Llama 2 and 3, TinyLlama",
    .source = "Touvron et al. 2023; Grattafiori et al. 2024",
    .tokenizers = "BPE with byte fallback (Llama 2), byte-level BPE (Llama 3)",
    .model_types = kModelTypes,
    .prefixes = kDecoderPrefixes,
    .keys = KeysOfDecoder<kLlamaVariant>,
    .read = ReadDecoderOf<kLlamaVariant>,
    .decoder = true,
};

}  // namespace tandem::weights
