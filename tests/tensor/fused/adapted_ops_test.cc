// Layers whose adapters are computed beside their weights, because of dropout or of activations in
// bf16, against the reference form.
#include "tensor/fused/adapted_ops.h"

#include <gtest/gtest.h>

#include <vector>

#include "tensor/compare_forms.h"

namespace tandem::tensor {
namespace {

// A map with an adapter, from four inputs that begin at `first`: weight, bias, A and B.
Linear AdaptedMap(const std::vector<Tensor>& in, size_t first, uint32_t site) {
  Linear map({in[first]}, {in[first + 1]});
  map.Adapt({.down = {in[first + 2]},
             .up = {in[first + 3]},
             .scale = 0.5,
             .dropout = 0.25,
             .site = site});
  map.Prepare(KernelType(in[0]), Passes::kBoth);
  return map;
}

void AddMap(Inputs* make, int64_t out, int64_t in, std::vector<Tensor>* inputs) {
  for (const Shape& sizes : {Shape{out, in}, Shape{out}, Shape{4, in}, Shape{out, 4}}) {
    inputs->push_back(make->Make(sizes, 0.3));
  }
}

// x [T, 64], the two maps of a feed-forward layer, and gamma and beta of a norm.
std::vector<Tensor> LayerInputs(Inputs* make, int64_t tokens, bool gated) {
  constexpr int64_t kHidden = 64, kInner = 96;
  std::vector<Tensor> inputs = {make->Make({tokens, kHidden}, 1)};
  AddMap(make, (gated ? 2 : 1) * kInner, kHidden, &inputs);
  AddMap(make, kHidden, kInner, &inputs);
  inputs.push_back(make->Make({kHidden}, 1));
  inputs.push_back(make->Make({kHidden}, 1));
  return inputs;
}

constexpr Dropout kInnerDropout = {.rate = 0.1, .seed = 4, .step = 1, .site = 1};
constexpr Dropout kDropout = {.rate = 0.1, .seed = 4, .step = 1, .site = 2};

TEST(AdaptedOps, FeedForwardAdd) {
  for (const bool gated : {false, true}) {
    Inputs make(3);
    const PackedTokens tokens = make.Tokens({5, 1, 37}, 9);
    ExpectFormsEqualReference(
        [&](const std::vector<Tensor>& in) {
          const FeedForward layer{.norm = {.gamma = in[9], .beta = in[10]},
                                  .up = AdaptedMap(in, 1, 5),
                                  .down = AdaptedMap(in, 5, 6),
                                  .activation = Activation::kSilu,
                                  .gated = gated,
                                  .out_norm = {}};
          const AdapterDropout dropout(tokens, 42, 7);
          return FeedForwardAdd(in[0], layer, tokens, kInnerDropout, kDropout);
        },
        LayerInputs(&make, tokens.tokens(), gated), 1);
  }
}

TEST(AdaptedOps, FeedForwardNorm) {
  Inputs make(4);
  const PackedTokens tokens = make.Tokens({5, 1, 37}, 9);
  ExpectFormsEqualReference(
      [&](const std::vector<Tensor>& in) {
        const AdapterDropout dropout(tokens, 42, 7);
        return FeedForwardNorm(in[0], AdaptedMap(in, 1, 5), AdaptedMap(in, 5, 6), Activation::kGelu,
                               {in[9], in[10], 1e-6}, tokens, kDropout);
      },
      LayerInputs(&make, tokens.tokens(), /*gated=*/false), 1);
}

}  // namespace
}  // namespace tandem::tensor
