#include "sampling/catalogue.h"

namespace tandem::sampling {
namespace {

const SamplerInfo* const kSamplers[] = {
    &kUniform,
};

}  // namespace

std::span<const SamplerInfo* const> Samplers() { return kSamplers; }

}  // namespace tandem::sampling
