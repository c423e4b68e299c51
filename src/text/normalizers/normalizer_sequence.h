// `Sequence` of normalizers: each rewrites what the one before it wrote.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/normalizers/normalizer.h"

namespace tandem::text {

class NormalizerSequence final : public Normalizer {
 public:
  explicit NormalizerSequence(std::vector<std::unique_ptr<const Normalizer>> stages)
      : stages_(std::move(stages)) {}

  void Normalize(std::string_view text, std::string* out) const override {
    std::string form(text);
    std::string next;
    for (const auto& stage : stages_) {
      next.clear();
      stage->Normalize(form, &next);
      std::swap(form, next);
    }
    out->append(form);
  }
  Cuts cuts() const override {
    Cuts cuts = Cuts::kAtSpaces;
    for (const auto& stage : stages_) cuts = Both(cuts, stage->cuts());
    return cuts;
  }

 private:
  std::vector<std::unique_ptr<const Normalizer>> stages_;
};

}  // namespace tandem::text
