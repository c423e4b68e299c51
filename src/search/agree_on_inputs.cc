#include "search/agree_on_inputs.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "base/hashes/text_hash.h"
#include "base/json/json.h"
#include "dist/gather_json.h"
#include "model/fingerprint.h"
#include "tensor/isa/isa.h"

namespace tandem::search {
namespace {

Json Described(model::DualEncoder& model, model::TextKind kind, size_t count, uint64_t texts,
               const EncodeOptions& options) {
  return {{"count", count},
          {"texts", texts},
          {"model", {model::Fingerprint(model), model.tokenizer(kind).fingerprint()}},
          // Prompts of their own are in the hash of the texts.
          {"prompt", options.prompt ? "" : model.prompt(kind)},
          {"length", fmt::format("{} tokens", model.max_tokens(kind))},
          {"precision", tensor::PrecisionName(options.precision)},
          {"instruction set", tensor::IsaName()}};
}

void Compare(const Json& other, const Json& first, size_t rank, const char* what) {
  if (other.at("count") != first.at("count")) {
    throw Error(
        ExitCode::kData,
        fmt::format("rank {} has {} {} to encode, and rank 0 {}: give all processes the "
                    "same data",
                    rank, other.at("count").get<size_t>(), what, first.at("count").get<size_t>()));
  }
  if (other.at("model") != first.at("model")) {
    throw Error(ExitCode::kModel,
                fmt::format("the weights, settings or tokenizer of rank {} are not those of rank "
                            "0: give all processes the same model",
                            rank));
  }
  for (const char* setting : {"prompt", "length", "precision", "instruction set"}) {
    if (other.at(setting) == first.at(setting)) continue;
    throw UsageError(fmt::format(
        "the {} of rank {} for {} is \"{}\", and that of rank 0 \"{}\": give all processes the same"
        "{}",
        setting, rank, what, other.at(setting).get<std::string>(),
        first.at(setting).get<std::string>(),
        setting == std::string("instruction set")
            ? " kind of processor, or set TANDEM_ISA to what all have"
            : " flags"));
  }
  if (other.at("texts") == first.at("texts")) return;
  throw Error(ExitCode::kData, fmt::format("the {} of rank {} are not those of rank 0: give all "
                                           "processes the same data",
                                           what, rank));
}

}  // namespace

void AgreeOnInputs(model::DualEncoder& model, model::TextKind kind, size_t count, uint64_t texts,
                   const EncodeOptions& options) {
  if (!dist::IsShared(options.group)) return;
  options.group->Agree([&] {
    const std::vector<Json> all =
        dist::AllGatherJson(*options.group, Described(model, kind, count, texts, options));
    const char* what = kind == model::TextKind::kQuery ? "queries" : "documents";
    for (size_t rank = 1; rank < all.size(); ++rank) Compare(all[rank], all.front(), rank, what);
  });
}

}  // namespace tandem::search
