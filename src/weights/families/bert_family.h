// The parts that BERT and RoBERTa share: post-norm layers, and tables of words, positions and token
// types; and the layer that DistilBERT and MPNet have with other names.
#pragma once

#include <string>

#include "weights/architecture.h"
#include "weights/spec_builder.h"

namespace tandem::weights {

struct BertVariant {
  int64_t position_offset = 0;  // row of position 0 in the position table
};

// The keys that ReadBertFamily reads.
std::span<const ConfigKey> BertFamilyKeys();

EncoderSpec ReadBertFamily(const Settings& config, const BertVariant& variant);

// The names of a layer's parts, after the layer's own name.
struct PostNormNames {
  std::string query, key, value, output, output_norm, up, down, norm;
};

// Adds so many layers to a spec that has its sizes and `layer_prefix`: heads as wide as the spec's,
// scores by 1 / sqrt(head width), biases everywhere.
void AddPostNormLayers(SpecBuilder* build, int64_t layers, const PostNormNames& names,
                       EncoderSpec* spec);

}  // namespace tandem::weights
