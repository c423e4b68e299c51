#include "dist/gather.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dist/ranks.h"
#include "support/tensors.h"
#include "tensor/core/functions/functions.h"

namespace tandem::dist {
namespace {

using tensor::kFloat;
using tensor::Tensor;
using ::testing::Each;
using ::testing::IsEmpty;

const std::vector<std::vector<int64_t>> kRows = {{0, 1, 5}, {2}, {}, {3, 4}};

TEST(RowExchangeTest, BringsRowsTogetherInTheirOrder) {
  const Tensor all = tensor::Arange(18, kFloat).view({6, 3});
  const auto errors = RunRanks(4, [&](ProcessGroup& group) {
    const RowExchange exchange(group, kRows);
    const Tensor own = exchange.Own(all);
    EXPECT_EQ(own.size(0), std::ssize(kRows[static_cast<size_t>(group.rank())]));
    EXPECT_TRUE(AreEqual(exchange.Gather(own), all));
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

TEST(RowExchangeTest, EvenSharesAreConsecutive) {
  const Tensor all = tensor::Arange(15, kFloat).view({5, 3});
  const auto errors = RunRanks(4, [&](ProcessGroup& group) {
    const Share share = ShareOf(5, group.rank(), 4);
    const auto exchange = RowExchange::OfEvenShares(group, 5);
    EXPECT_TRUE(AreEqual(exchange.Own(all), all.narrow(0, share.begin, share.size())));
    EXPECT_TRUE(AreEqual(exchange.Gather(exchange.Own(all)), all));
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

TEST(RowExchangeTest, AddsUpGradientsOfOwnRows) {
  const auto errors = RunRanks(4, [&](ProcessGroup& group) {
    const RowExchange exchange(group, kRows);
    const Tensor numbers = tensor::Arange(18, kFloat).view({6, 3});
    const Tensor part = tensor::Mul(numbers, group.rank() + 1);
    const Tensor whole = tensor::Mul(numbers, 10);
    EXPECT_TRUE(AreEqual(exchange.AddUpOwn(part), exchange.Own(whole)));
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

}  // namespace
}  // namespace tandem::dist
