#include "tensor/packed_tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "tensor/core/device_memory.h"
#include "tensor/core/make.h"
#include "tensor/dropout.h"

namespace tandem::tensor {
namespace {

constexpr int32_t kStandIn = 0;  // every vocabulary has it

}  // namespace

Tensor PackedTokens::HostStarts() const {
  return host_starts.defined() ? host_starts : OnCpu(sequence_starts);
}

Tensor PackedTokens::HostIds() const { return host_ids.defined() ? host_ids : OnCpu(ids); }

PackedTokens PackedTokens::To(Device device) const {
  if (ids.device() == device) return *this;
  PackedTokens moved = *this;
  for (Tensor PackedTokens::*part :
       {&PackedTokens::ids, &PackedTokens::positions, &PackedTokens::types,
        &PackedTokens::sequence_starts, &PackedTokens::text_keys, &PackedTokens::row_keys,
        &PackedTokens::prompt_tokens, &PackedTokens::stand_ins}) {
    moved.*part = MovedTo(this->*part, device);
  }
  moved.host_starts = HostStarts();
  moved.host_ids = HostIds();
  moved.back_end_slot = std::make_shared<LazySlot>();
  return moved;
}

PackedTokens Pack(std::span<const std::span<const int32_t>> texts,
                  std::span<const int64_t> text_keys, std::span<const int32_t> prompt_tokens) {
  size_t tokens = 0, without = 0;
  for (const std::span<const int32_t> text : texts) {
    tokens += std::max<size_t>(1, text.size());
    without += text.empty() ? 1 : 0;
  }
  if (tokens > static_cast<size_t>(std::numeric_limits<int32_t>::max())) {
    throw UsageError(
        fmt::format("a batch of {} tokens is too large; take smaller batches", tokens));
  }
  PackedTokens packed;
  packed.back_end_slot = std::make_shared<LazySlot>();
  const auto total = static_cast<int64_t>(tokens), count = static_cast<int64_t>(texts.size());
  packed.ids = Empty({total}, kInt);
  packed.positions = Empty({total}, kInt);
  packed.sequence_starts = Empty({count + 1}, kInt);
  packed.host_starts = packed.sequence_starts;
  packed.host_ids = packed.ids;
  packed.text_keys = Empty({count}, kLong);
  packed.row_keys = Empty({total}, kLong);
  auto* ids = packed.ids.data_ptr<int32_t>();
  auto* positions = packed.positions.data_ptr<int32_t>();
  auto* starts = packed.sequence_starts.data_ptr<int32_t>();
  auto* keys = packed.text_keys.data_ptr<int64_t>();
  auto* row_keys = packed.row_keys.data_ptr<int64_t>();
  int32_t row = 0;
  for (size_t b = 0; b < texts.size(); ++b) {
    starts[b] = row;
    keys[b] = text_keys.empty() ? static_cast<int64_t>(b) : text_keys[b];
    const std::span<const int32_t> text = texts[b].empty() ? std::span(&kStandIn, 1) : texts[b];
    for (size_t p = 0; p < text.size(); ++p, ++row) {
      ids[row] = text[p];
      positions[row] = static_cast<int32_t>(p);
      row_keys[row] = static_cast<int64_t>(PositionKey(static_cast<uint64_t>(keys[b]), p));
    }
    packed.longest = std::max(packed.longest, static_cast<int64_t>(text.size()));
  }
  starts[texts.size()] = row;
  if (without > 0) {
    packed.stand_ins = Empty({count}, kInt);
    std::transform(texts.begin(), texts.end(), packed.stand_ins.data_ptr<int32_t>(),
                   [](std::span<const int32_t> text) { return text.empty() ? 1 : 0; });
  }
  if (!prompt_tokens.empty()) {
    packed.prompt_tokens = Empty({count}, kInt);
    std::copy_n(prompt_tokens.begin(), texts.size(), packed.prompt_tokens.data_ptr<int32_t>());
  }
  return packed;
}

}  // namespace tandem::tensor
