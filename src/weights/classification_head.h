// The heads of sequence classifiers, with which an encoder scores a pair of texts: a catalogue
// beside that of encoders. A head takes one row for each text, maps and activates it, and a linear
// map gives a number for each label.
//
// A new head is one file in weights/classification_heads and one line in CMakeLists.txt.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weights/encoder_spec.h"

namespace tandem::weights {

class Settings;

struct ClassificationSpec {
  std::string class_name;  // as config.json's "architectures" spells it
  bool mean = false;       // the mean of a text's rows; otherwise its first row
  LinearSpec dense;        // [H, H]
  std::string activation;  // of it: "tanh", "relu", "gelu", "gelu_tanh", "silu"
  NormSpec norm;           // LayerNorm after the activation; an empty name: none
  double norm_epsilon = 0;
  LinearSpec classifier;               // [labels, H]
  std::vector<std::string> labels;     // their names, in order
  std::vector<EncoderTensor> tensors;  // the tensors of all of the above
};

struct ClassificationHead {
  std::string_view name;     // in messages and docs, "roberta"
  std::string_view summary;  // says what it computes
  // The classes of transformers that it reads: "RobertaForSequenceClassification".
  std::span<const std::string_view> class_names;
  ClassificationSpec (*read)(const Settings& config, const EncoderSpec& encoder);
  // The architecture whose embeddings may have this head, without the last map, after their pooling
  // (weights/modules/prediction_head.h); empty: none.
  std::string_view pooler_of = {};
};

// All entries, in the order of the documentation.
std::span<const ClassificationHead* const> ClassificationHeads();

// The head of this class; null: none.
const ClassificationHead* FindClassificationHead(std::string_view class_name);

// The names of config.json's labels ("id2label"), by number; LABEL_0 and so on where they have
// none. Two where nothing says how many, as in transformers. Throws ModelError.
std::vector<std::string> LabelsOf(const Settings& config);

// dense NAME.weight [H, H], classifier NAME.weight [labels, H], both with bias, over the first row.
ClassificationSpec FirstTokenHead(const Settings& config, const EncoderSpec& encoder,
                                  const std::string& dense, const std::string& activation,
                                  const std::string& classifier);

}  // namespace tandem::weights
