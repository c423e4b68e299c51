#include "dist/gather.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/zeros_like.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dist/ranks.h"

namespace tandem::dist {
namespace {

using ::testing::Each;
using ::testing::IsEmpty;

const std::vector<std::vector<int64_t>> kRows = {{0, 1, 5}, {2}, {}, {3, 4}};

TEST(RowExchangeTest, BringsRowsTogetherInTheirOrder) {
  const at::Tensor all = at::arange(18, at::kFloat).view({6, 3});
  const auto errors = RunRanks(4, [&](ProcessGroup& group) {
    const RowExchange exchange(group, kRows);
    const at::Tensor own = exchange.Own(all);
    EXPECT_EQ(own.size(0), std::ssize(kRows[static_cast<size_t>(group.rank())]));
    EXPECT_TRUE(exchange.Gather(own).equal(all));
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

TEST(RowExchangeTest, EvenSharesAreConsecutive) {
  const at::Tensor all = at::arange(15, at::kFloat).view({5, 3});
  const auto errors = RunRanks(4, [&](ProcessGroup& group) {
    const Share share = ShareOf(5, group.rank(), 4);
    const auto exchange = RowExchange::OfEvenShares(group, 5);
    EXPECT_TRUE(exchange.Own(all).equal(all.narrow(0, share.begin, share.size())));
    EXPECT_TRUE(exchange.Gather(exchange.Own(all)).equal(all));
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

TEST(RowExchangeTest, AddsUpGradientsOfOwnRows) {
  const auto errors = RunRanks(4, [&](ProcessGroup& group) {
    const RowExchange exchange(group, kRows);
    const at::Tensor part = at::arange(18, at::kFloat).view({6, 3}).mul(group.rank() + 1);
    const at::Tensor whole = at::arange(18, at::kFloat).view({6, 3}).mul(10);
    EXPECT_TRUE(exchange.AddUpOwn(part).equal(exchange.Own(whole)));
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

}  // namespace
}  // namespace tandem::dist
