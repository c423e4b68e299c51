// What BERT and RoBERTa share: post-norm layers, and tables of words, positions and token types.
#pragma once

#include "weights/architecture.h"

namespace tandem::weights {

struct BertVariant {
  int64_t position_offset = 0;  // row of position 0 in the position table
};

// The keys that ReadBertFamily reads.
std::span<const ConfigKey> BertFamilyKeys();

EncoderSpec ReadBertFamily(const Settings& config, const BertVariant& variant);

}  // namespace tandem::weights
