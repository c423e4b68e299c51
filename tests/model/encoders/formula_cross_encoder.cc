#include "model/encoders/formula_cross_encoder.h"

#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "base/json/json_reader.h"
#include "model/encoders/formula_weights.h"
#include "weights/architecture.h"
#include "weights/classification_head.h"
#include "weights/safetensors/safetensors_writer.h"
#include "weights/settings/settings_file.h"

namespace tandem {

using nlohmann::json;

const json& CrossEncoderGolden() {
  static const json golden = json::parse(
      ReadFile(std::string(TANDEM_SOURCE_DIR) + "/tests/model/golden/cross_encoders.json"));
  return golden;
}

const json& CrossEncoderCase(const std::string& name) {
  for (const json& one : CrossEncoderGolden()["cases"]) {
    if (one["name"] == name) return one;
  }
  throw std::out_of_range("no case " + name + " of tools/golden/make_cross_encoder_golden.py");
}

void WriteCrossEncoder(const std::filesystem::path& folder, const json& one,
                       const std::string& prefix) {
  MakeFolder(folder);
  json tokenizer = CrossEncoderGolden()["tokenizer"];
  tokenizer["post_processor"] = one["post_processor"];
  WriteFileAtomically(folder / "config.json", one["config"].dump());
  WriteFileAtomically(folder / "tokenizer.json", tokenizer.dump());
  WriteFileAtomically(folder / "tokenizer_config.json", one["tokenizer_config"].dump());
  const weights::EncoderSpec encoder = weights::ReadEncoderSpec(folder / "config.json");
  const weights::ClassificationSpec head =
      weights::FindClassificationHead(one["config"]["architectures"][0].get<std::string>())
          ->read(weights::Settings("config.json", ParseJson(one["config"].dump())), encoder);
  std::vector<std::vector<float>> values;
  values.reserve(encoder.tensors.size() + head.tensors.size());
  std::vector<weights::TensorToWrite> tensors;
  for (const auto* list : {&encoder.tensors, &head.tensors}) {
    for (const weights::EncoderTensor& tensor : *list) {
      values.push_back(FormulaValues(tensor.name, tensor.shape));
      const bool of_encoder = list == &encoder.tensors || tensor.name.starts_with("pooler");
      tensors.push_back(weights::Float32Tensor((of_encoder ? prefix : "") + tensor.name,
                                               tensor.shape, values.back()));
    }
  }
  weights::WriteSafetensors(folder / "model.safetensors", tensors);
}

}  // namespace tandem
