#include "dist/process_group.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "dist/c10d_versions.h"
#include "dist/ranks.h"

namespace tandem::dist {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(ProcessGroupTest, OneProcessExchangesNothing) {
  const auto group = ProcessGroup::Join(Launch());
  EXPECT_TRUE(group->alone());
  EXPECT_TRUE(group->leads());
  const at::Tensor rows = at::arange(6, at::kFloat).view({2, 3});
  EXPECT_TRUE(group->AllGather(rows).equal(rows.unsqueeze(0)));
  EXPECT_TRUE(group->AllToAll(rows.unsqueeze(0)).equal(rows.unsqueeze(0)));
  const at::Tensor sum = rows.clone();
  group->AddUp(sum)->Wait();
  EXPECT_TRUE(sum.equal(rows));
  EXPECT_THAT(group->AllGatherBytes("a"), ElementsAre("a"));
  EXPECT_EQ(group->Largest(-3), -3);
}

TEST(ProcessGroupTest, Gathers) {
  const auto errors = RunRanks(3, [](ProcessGroup& group) {
    const at::Tensor all = group.AllGather(at::full({2, 2}, group.rank(), at::kFloat));
    ASSERT_EQ(all.sizes(), (std::vector<int64_t>{3, 2, 2}));
    for (int rank = 0; rank < 3; ++rank) {
      EXPECT_TRUE(all[rank].equal(at::full({2, 2}, rank, at::kFloat)));
    }
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

TEST(ProcessGroupTest, ExchangesRows) {
  const auto errors = RunRanks(3, [](ProcessGroup& group) {
    const at::Tensor own = at::arange(3, at::kLong).add(10 * group.rank()).unsqueeze(1);
    const at::Tensor all = group.AllToAll(own);
    for (int rank = 0; rank < 3; ++rank) {
      EXPECT_EQ(all[rank].item<int64_t>(), 10 * rank + group.rank());
    }
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

TEST(ProcessGroupTest, AddsUpAndBroadcasts) {
  const auto errors = RunRanks(4, [](ProcessGroup& group) {
    const at::Tensor first = at::full({1000}, group.rank() + 1, at::kFloat);
    const at::Tensor second = at::full({3}, 10 * group.rank(), at::kFloat);
    const auto one = group.AddUp(first), two = group.AddUp(second);
    one->Wait();
    two->Wait();
    EXPECT_TRUE(first.equal(at::full({1000}, 10, at::kFloat)));
    EXPECT_TRUE(second.equal(at::full({3}, 60, at::kFloat)));
    const at::Tensor number = at::full({2}, group.rank() + 5, at::kFloat);
    group.Broadcast(number);
    EXPECT_TRUE(number.equal(at::full({2}, 5, at::kFloat)));
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

TEST(ProcessGroupTest, SaysWhichRankEndedWithAnError) {
  const auto errors = RunRanks(3, [](ProcessGroup& group) {
    if (group.rank() == 2) throw DataError("corpus.jsonl", 0, "", "is gone");
    group.AllGather(at::zeros({1}));
  });
  EXPECT_EQ(errors[2], "corpus.jsonl: is gone");
  for (const int rank : {0, 1}) {
    EXPECT_THAT(errors[static_cast<size_t>(rank)], HasSubstr("rank 2 ("));
    EXPECT_THAT(errors[static_cast<size_t>(rank)],
                HasSubstr("ended with an error: corpus.jsonl: is gone"));
  }
}

// A process that computes for long need not wait to see it.
TEST(ProcessGroupTest, ALookAtThePeersSaysWhichRankEnded) {
  const auto errors = RunRanks(2, [](ProcessGroup& group) {
    group.CheckPeers();
    if (group.rank() == 1) throw Error(ExitCode::kData, "a line is wrong");
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (std::chrono::steady_clock::now() < end) {
      group.CheckPeers();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
  EXPECT_THAT(errors[0], HasSubstr("rank 1"));
  EXPECT_THAT(errors[0], HasSubstr("a line is wrong"));
}

TEST(ProcessGroupTest, RefusesTensorsThatAreNowhere) {
  const auto errors = RunRanks(2, [](ProcessGroup& group) {
    group.AddUp(at::zeros({2}, at::TensorOptions(at::kFloat).device(at::kMeta)))->Wait();
  });
  EXPECT_THAT(errors, Each("a group of processes cannot exchange tensors of meta"));
}

TEST(ProcessGroupTest, SaysWhoDidNotCome) {
  const int port = FreePort();
  const auto errors =
      RunLaunches({LaunchOf(0, 4, port), LaunchOf(2, 4, port)},
                  {.timeout = std::chrono::milliseconds(4000)}, [](ProcessGroup&) {});
  EXPECT_THAT(errors, Each(HasSubstr("of 4 processes, ranks 1, 3 did not come to 127.0.0.1:")));
}

// Waits end at any moment around the look at the peers, which comes after half a second.
TEST(ProcessGroupTest, AWaitThatEndsAtALookIsNoError) {
  constexpr int kGroups = 8;
  std::vector<std::vector<std::string>> errors(kGroups);
  std::vector<std::thread> groups;
  for (int i = 0; i < kGroups; ++i) {
    groups.emplace_back([&errors, i] {
      errors[static_cast<size_t>(i)] = RunRanks(2, [i](ProcessGroup& group) {
        for (int round = 0; round < 12; ++round) {
          if (!group.leads()) {
            std::this_thread::sleep_for(std::chrono::microseconds(499'500 + 125 * round + 15 * i));
          }
          group.AllGather(at::zeros({1}));
        }
      });
    });
  }
  for (std::thread& group : groups) group.join();
  EXPECT_THAT(errors, Each(Each(IsEmpty())));
}

TEST(ProcessGroupTest, AProcessThatIsLateIsNotLost) {
  const auto errors = RunRanks(
      2,
      [](ProcessGroup& group) {
        if (group.leads()) std::this_thread::sleep_for(std::chrono::milliseconds(7500));
        group.AllGather(at::zeros({1}));
      },
      std::chrono::milliseconds(3000));  // in which the two find each other on a busy machine, too
  EXPECT_THAT(errors, Each(IsEmpty()));
}

// torchrun counts the restarts of each machine.
TEST(ProcessGroupTest, ProcessesMeetWhateverTheirRestarts) {
  const int port = FreePort();
  std::vector<Launch> launches = {LaunchOf(0, 2, port), LaunchOf(1, 2, port)};
  launches[0].restarts = 1;
  const auto errors = RunLaunches(launches, {.timeout = std::chrono::seconds(60)}, [](auto&) {});
  EXPECT_THAT(errors, Each(IsEmpty()));
}

// A process that has come and is lost before the connections are made.
TEST(ProcessGroupTest, SaysWhoWasLostWhileConnecting) {
  using std::chrono::milliseconds;
  const int port = FreePort();
  std::thread lost([port] {
    c10d::TCPStoreOptions options;
    options.port = static_cast<uint16_t>(port);
    options.timeout = milliseconds(20'000);
    ServeWithoutLibuv(options);
    const auto store = c10::make_intrusive<c10d::TCPStore>("127.0.0.1", options);
    c10d::PrefixStore("tandem/", store).set("beat/1", std::vector<uint8_t>{'0', ' ', 'h'});
  });
  const auto errors =
      RunLaunches({LaunchOf(0, 2, port)}, {.timeout = milliseconds(3000)}, [](ProcessGroup&) {});
  lost.join();
  EXPECT_THAT(errors[0], HasSubstr("this is rank 0: rank 1 (h) has not answered for"));
}

TEST(ProcessGroupTest, RefusesAPortThatIsTaken) {
  const int listening = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  ASSERT_EQ(bind(listening, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(listening, 1), 0);
  socklen_t size = sizeof address;
  getsockname(listening, reinterpret_cast<sockaddr*>(&address), &size);
  EXPECT_THROW(ProcessGroup::Join(LaunchOf(0, 2, ntohs(address.sin_port))), UsageError);
  close(listening);
}

TEST(ProcessGroupTest, RefusesARankThatIsThereTwice) {
  const int port = FreePort();
  const auto errors =
      RunLaunches({LaunchOf(0, 3, port), LaunchOf(1, 3, port), LaunchOf(1, 3, port)},
                  {.timeout = std::chrono::seconds(20)}, [](ProcessGroup&) {});
  for (const std::string& error : errors) {
    EXPECT_THAT(error, HasSubstr("two processes of this job have rank 1"));
  }
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

}  // namespace
}  // namespace tandem::dist
