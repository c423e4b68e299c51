#include "libtorch/kernels/attention.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <vector>

#include "libtorch/graph.h"
#include "libtorch/kernels/launch.h"
#include "tensor/profile/profile.h"

namespace tandem::libtorch::kernels {
namespace {

using portable::AttentionRule;
using portable::Dropout;
using portable::HeadShape;
using portable::Tokens;

// The rows of the tiles that a block reads, for heads of this shape.
int64_t OtherRows(const HeadShape& shape) { return OtherTile(static_cast<int>(shape.head_width)); }

// Attention with what its backward pass needs.
class KernelAttention {
 public:
  KernelAttention(const at::Tensor& qkv, const Tokens& tokens, const HeadShape& shape,
                  const AttentionRule& rule, const Dropout& dropout)
      : qkv_(qkv.detach().contiguous()),
        starts_(tokens.sequence_starts),
        row_keys_(tokens.row_keys),
        shape_(shape),
        texts_(tokens.texts()),
        tiles_((tokens.longest + kTile - 1) / kTile),
        rule_(rule),
        dropout_(dropout),
        out_(at::empty({qkv.size(0), shape.out_width()}, qkv_.options())),
        log_sums_(at::empty({shape.heads, qkv.size(0)}, qkv_.options().dtype(at::kFloat))) {
    if (texts_ > 0 && tiles_ == 0) throw std::logic_error("Attention: texts without a length");
  }

  at::Tensor Forward() const {
    Run(kAttentionForwardSource, "AttentionForward", shape_.heads, kTile + 2 * OtherRows(shape_),
        ForwardArguments());
    // The result gets a history whose node holds this object: a tensor of its own, or each would
    // hold the other.
    return out_.detach();
  }

  at::Tensor Backward(const at::Tensor& grad) const {
    const at::Tensor grad_qkv = at::empty_like(qkv_);
    const at::Tensor grad_dots = at::empty_like(log_sums_);
    AttentionArguments arguments = ForwardArguments();
    arguments.grad_out = grad.data_ptr();
    arguments.grad_dots = grad_dots.data_ptr<float>();
    arguments.grad_qkv = grad_qkv.data_ptr();
    const int64_t rows = 2 * (kTile + OtherRows(shape_));
    Run(kAttentionBackwardSource, "AttentionBackwardQueries", shape_.heads, rows, arguments);
    Run(kAttentionBackwardSource, "AttentionBackwardKeys", shape_.key_value_heads, rows, arguments);
    return grad_qkv;
  }

 private:
  AttentionArguments ForwardArguments() const {
    constexpr int64_t kFarthest = std::numeric_limits<int>::max() / 2;
    return {.qkv = qkv_.data_ptr(),
            .starts = starts_.data_ptr<int>(),
            .row_keys = static_cast<const long long*>(PointerOf(row_keys_)),
            .out = out_.data_ptr(),
            .log_sums = log_sums_.data_ptr<float>(),
            .grad_out = nullptr,
            .grad_dots = nullptr,
            .grad_qkv = nullptr,
            .rows = qkv_.size(0),
            .heads = static_cast<int>(shape_.heads),
            .key_heads = static_cast<int>(shape_.key_value_heads),
            .causal = rule_.causal,
            .window = static_cast<int>(std::min(rule_.window, kFarthest)),
            .scale = static_cast<float>(rule_.scale),
            .dropout = ArgumentsOf(dropout_)};
  }

  // `rows` rows of a head have room in a block's shared memory.
  void Run(const Source& source, const char* function, int64_t heads, int64_t rows,
           const AttentionArguments& arguments) const {
    const Grid grid{.x = texts_,
                    .y = heads,
                    .z = tiles_,
                    .threads = kAttentionThreads,
                    .shared_bytes = rows * RowStride(static_cast<int>(shape_.head_width)) *
                                    static_cast<int64_t>(qkv_.element_size())};
    const Kernel kernel{
        source,
        function,
        {Option("ACTIVATION", NumberOf(qkv_.scalar_type())),
         Option("HEAD_WIDTH", shape_.head_width), Option("DROPOUT", dropout_.active())}};
    Launch(kernel, grid, qkv_.device(), arguments);
  }

  at::Tensor qkv_;
  at::Tensor starts_, row_keys_;
  HeadShape shape_;
  int64_t texts_, tiles_;
  AttentionRule rule_;
  Dropout dropout_;
  at::Tensor out_;
  at::Tensor log_sums_;
};

}  // namespace

bool ServesAttention(const at::Tensor& qkv, const HeadShape& shape, const AttentionRule& rule,
                     const portable::RelativeBias& bias) {
  const bool narrow = qkv.scalar_type() == at::kBFloat16 || qkv.scalar_type() == at::kHalf;
  const bool width = shape.head_width % 16 == 0 && shape.head_width <= 128;
  return narrow && width && rule.soft_cap <= 0 && !bias.table.defined() && Serve(qkv.device());
}

at::Tensor Attention(const at::Tensor& qkv, const Tokens& tokens, const HeadShape& shape,
                     const AttentionRule& rule, const Dropout& dropout,
                     const portable::AttentionWork& backward_work) {
  const KernelAttention attention(qkv, tokens, shape, rule, dropout);
  const at::Tensor out = attention.Forward();
  if (!NeedsGradient({qkv})) return out;
  const auto backward = [attention, backward_work](const at::Tensor& grad) {
    const tensor::ProfileScope scope("Attention backward",
                                     backward_work ? backward_work(grad) : tensor::Work());
    return std::vector<at::Tensor>{attention.Backward(grad)};
  };
  return WithBackward("Attention", out, {qkv}, backward);
}

}  // namespace tandem::libtorch::kernels
