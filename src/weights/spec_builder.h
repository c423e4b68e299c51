// Puts an EncoderSpec together: every part that is named also adds its tensors.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weights/encoder_spec.h"

namespace tandem::weights {

class Settings;

class SpecBuilder {
 public:
  explicit SpecBuilder(EncoderSpec* spec) : spec_(spec) {}

  // NAME [rows, columns]; returns the name.
  std::string Table(std::string name, int64_t rows, int64_t columns,
                    std::vector<std::string> aliases = {});
  // NAME.weight and, with a bias, NAME.bias.
  NormSpec Norm(std::string name, int64_t width, bool bias);
  LinearSpec Linear(std::string name, int64_t out, int64_t in, bool bias);
  // Several maps of one input, stacked.
  struct Part {
    std::string name;
    int64_t out;
  };
  LinearSpec Stacked(const std::vector<Part>& parts, int64_t in, bool bias);

 private:
  EncoderSpec* spec_;
};

// spec.hidden_size / spec.heads; throws ModelError, naming both keys, where that is no integer.
int64_t HeadWidth(const Settings& config, std::string_view heads_key, std::string_view hidden_key,
                  const EncoderSpec& spec);

}  // namespace tandem::weights
