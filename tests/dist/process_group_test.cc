#include "dist/process_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "dist/ranks.h"
#include "support/tensors.h"

namespace tandem::dist {
namespace {

using tensor::Arange;
using tensor::Full;
using tensor::kFloat;
using tensor::kLong;
using tensor::Tensor;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(ProcessGroupTest, OneProcessExchangesNothing) {
  const auto group = ProcessGroup::Join(Launch());
  EXPECT_TRUE(group->alone());
  EXPECT_TRUE(group->leads());
  const Tensor rows = Arange(6, kFloat).view({2, 3});
  EXPECT_TRUE(AreEqual(group->AllGather(rows), rows.view({1, 2, 3})));
  EXPECT_TRUE(AreEqual(group->AllToAll(rows.view({1, 2, 3})), rows.view({1, 2, 3})));
  const Tensor sum = rows.clone();
  group->AddUp(sum)->Wait();
  EXPECT_TRUE(AreEqual(sum, rows));
  EXPECT_THAT(group->AllGatherBytes("a"), ElementsAre("a"));
  EXPECT_EQ(group->Largest(-3), -3);
}

TEST(ProcessGroupTest, Gathers) {
  const auto errors = RunRanks(3, [](ProcessGroup& group) {
    const Tensor all = group.AllGather(Full({2, 2}, group.rank(), kFloat));
    ASSERT_EQ(all.sizes(), tensor::Shape({3, 2, 2}));
    for (int rank = 0; rank < 3; ++rank) {
      EXPECT_TRUE(AreEqual(all[rank], Full({2, 2}, rank, kFloat)));
    }
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

TEST(ProcessGroupTest, ExchangesRows) {
  const auto errors = RunRanks(3, [](ProcessGroup& group) {
    const double first = 10.0 * group.rank();
    const Tensor own = MakeTensor({3, 1}, {first, first + 1, first + 2}, kLong);
    const Tensor all = group.AllToAll(own);
    for (int rank = 0; rank < 3; ++rank) {
      EXPECT_EQ(all[rank].item<int64_t>(), 10 * rank + group.rank());
    }
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

TEST(ProcessGroupTest, AddsUpAndBroadcasts) {
  const auto errors = RunRanks(4, [](ProcessGroup& group) {
    const Tensor first = Full({1000}, group.rank() + 1, kFloat);
    const Tensor second = Full({3}, 10 * group.rank(), kFloat);
    const auto one = group.AddUp(first), two = group.AddUp(second);
    one->Wait();
    two->Wait();
    EXPECT_TRUE(AreEqual(first, Full({1000}, 10, kFloat)));
    EXPECT_TRUE(AreEqual(second, Full({3}, 60, kFloat)));
    const Tensor number = Full({2}, group.rank() + 5, kFloat);
    group.Broadcast(number);
    EXPECT_TRUE(AreEqual(number, Full({2}, 5, kFloat)));
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

TEST(ProcessGroupTest, GathersBytesOfDifferentLengths) {
  const auto errors = RunRanks(3, [](ProcessGroup& group) {
    EXPECT_THAT(group.AllGatherBytes(std::string(static_cast<size_t>(group.rank()), 'x')),
                ElementsAre("", "x", "xx"));
    EXPECT_THAT(group.AllGatherBytes(""), ElementsAre("", "", ""));
    EXPECT_EQ(group.BroadcastBytes(group.leads() ? "from the first" : "not this"),
              "from the first");
    EXPECT_EQ(group.Largest(group.rank() == 1 ? 7 : -7), 7);
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

TEST(ProcessGroupTest, AllThrowWhereOneFails) {
  const auto errors = RunRanks(3, [](ProcessGroup& group) {
    try {
      group.Agree([&group] {
        if (group.rank() == 1) throw DataError("corpus.jsonl", 7, "d1", "is broken");
      });
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), ExitCode::kData);
      throw;
    }
  });
  EXPECT_EQ(errors[1], "corpus.jsonl:7: is broken (id d1)");
  EXPECT_EQ(errors[0],
            "this is rank 0: rank 1 ended with an error: corpus.jsonl:7: is broken (id d1)");
  EXPECT_THAT(errors[2], HasSubstr("this is rank 2: rank 1 ended with an error"));
}

TEST(ShareOfTest, CoversEverythingOnce) {
  for (const int64_t count : {0, 1, 5, 12}) {
    int64_t end = 0;
    for (int rank = 0; rank < 5; ++rank) {
      const Share share = ShareOf(count, rank, 5);
      EXPECT_EQ(share.begin, end);
      EXPECT_LE(share.size(), (count + 4) / 5);
      end = share.end;
    }
    EXPECT_EQ(end, count);
  }
}

// What the sums of gradients in bf16 need of a group.
TEST(ProcessGroupTest, MovesBf16) {
  const auto errors = RunRanks(2, [](ProcessGroup& group) {
    const Tensor own = Full({2, 3}, group.rank() + 0.5, tensor::kBFloat16);
    const Tensor all = group.AllGather(own);
    EXPECT_TRUE(AreEqual(all[1], Full({2, 3}, 1.5, tensor::kBFloat16)));
    const Tensor exchanged = group.AllToAll(own);
    EXPECT_TRUE(AreEqual(exchanged[0], Full({3}, 0.5, tensor::kBFloat16)));
    group.Broadcast(own);
    EXPECT_TRUE(AreEqual(own, Full({2, 3}, 0.5, tensor::kBFloat16)));
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

// Packed weights are made again where a version has changed.
TEST(ProcessGroupTest, WhatIsWrittenHasAnotherVersion) {
  const auto errors = RunRanks(2, [](ProcessGroup& group) {
    const Tensor own = Full({2}, 1, kFloat);
    uint64_t version = own.version();
    group.AddUp(own)->Wait();
    EXPECT_GT(own.version(), version);
    version = own.version();
    group.Broadcast(own);
    EXPECT_GT(own.version(), version);
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

}  // namespace
}  // namespace tandem::dist
