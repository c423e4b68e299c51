#include "tensor/packed_tokens.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "tensor/core/tensor.h"
#include "tensor/dropout.h"

namespace tandem::tensor {
namespace {

TEST(Pack, LaysTextsBehindEachOther) {
  const std::vector<int32_t> a = {5, 6, 7}, b = {8};
  const std::vector<std::span<const int32_t>> texts = {a, b};
  const PackedTokens packed = Pack(texts);
  EXPECT_EQ(packed.tokens(), 4);
  EXPECT_EQ(packed.texts(), 2);
  EXPECT_EQ(packed.longest, 3);
  const std::vector<int32_t> ids(packed.ids.data_ptr<int32_t>(),
                                 packed.ids.data_ptr<int32_t>() + 4);
  EXPECT_EQ(ids, (std::vector<int32_t>{5, 6, 7, 8}));
  const auto* positions = packed.positions.data_ptr<int32_t>();
  EXPECT_EQ(positions[2], 2);
  EXPECT_EQ(positions[3], 0);
  EXPECT_EQ(packed.sequence_starts.data_ptr<int32_t>()[1], 3);
}

TEST(Pack, RowKeysNameTextAndPositionNotTheRow) {
  const std::vector<int32_t> a = {5, 6, 7}, b = {8, 9};
  const std::vector<int64_t> keys = {40, 41};
  const std::vector<int64_t> swapped_keys = {41, 40};
  const PackedTokens forward = Pack(std::vector<std::span<const int32_t>>{a, b}, keys);
  const PackedTokens swapped = Pack(std::vector<std::span<const int32_t>>{b, a}, swapped_keys);
  EXPECT_EQ(forward.row_keys.data_ptr<int64_t>()[1], swapped.row_keys.data_ptr<int64_t>()[3]);
  EXPECT_EQ(forward.row_keys.data_ptr<int64_t>()[3], swapped.row_keys.data_ptr<int64_t>()[0]);
}

TEST(Pack, ATextWithoutTokensGetsAMarkedRow) {
  const std::vector<int32_t> a = {5, 6}, none;
  const std::vector<std::span<const int32_t>> texts = {a, none};
  const auto values = [](const Tensor& t) {
    return std::vector<int32_t>(t.data_ptr<int32_t>(), t.data_ptr<int32_t>() + t.numel());
  };
  const PackedTokens packed = Pack(texts);
  EXPECT_EQ(values(packed.ids), (std::vector<int32_t>{5, 6, 0}));
  EXPECT_EQ(values(packed.sequence_starts), (std::vector<int32_t>{0, 2, 3}));
  EXPECT_EQ(values(packed.stand_ins), (std::vector<int32_t>{0, 1}));
  EXPECT_FALSE(Pack(std::vector<std::span<const int32_t>>{a, a}).stand_ins.defined());
}

TEST(Pack, CopiesShareWhatABackEndKeeps) {
  const std::vector<int32_t> a = {5, 6}, b = {7};
  const PackedTokens packed = Pack(std::vector<std::span<const int32_t>>{a, b});
  const PackedTokens copy = packed;
  int made = 0;
  const auto value_of = [&made](const PackedTokens& tokens) {
    return *tokens.back_end_slot->Get<int>([&made] { return std::make_shared<const int>(++made); });
  };
  EXPECT_EQ(value_of(packed), 1);
  EXPECT_EQ(value_of(copy), 1);
  EXPECT_EQ(value_of(Pack(std::vector<std::span<const int32_t>>{a})), 2);
  EXPECT_TRUE(packed.To(kCpuDevice).ids.is_same(packed.ids));
}

TEST(Pack, HostStartsAndIdsAreThose) {
  const std::vector<int32_t> a = {5, 6}, b = {7};
  PackedTokens packed = Pack(std::vector<std::span<const int32_t>>{a, b});
  EXPECT_TRUE(packed.HostStarts().is_same(packed.sequence_starts));
  EXPECT_TRUE(packed.HostIds().is_same(packed.ids));
  packed.host_ids.reset();
  EXPECT_TRUE(packed.HostIds().is_same(packed.ids));
  packed.host_starts.reset();
  EXPECT_TRUE(packed.HostStarts().is_same(packed.sequence_starts));
}

}  // namespace
}  // namespace tandem::tensor
