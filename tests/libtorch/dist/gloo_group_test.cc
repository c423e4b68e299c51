#include "libtorch/dist/gloo_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "libtorch/dist/c10d_versions.h"
#include "libtorch/dist/launches.h"
#include "tensor/core/make.h"

// Its tests run in these groups (use_launches.cc).
namespace tandem::dist {
namespace {

using tensor::kFloat;
using tensor::Tensor;
using tensor::Zeros;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(GlooGroupTest, SaysWhichRankEndedWithAnError) {
  const auto errors = RunRanks(3, [](ProcessGroup& group) {
    if (group.rank() == 2) throw DataError("corpus.jsonl", 0, "", "is gone");
    group.AllGather(Zeros({1}, kFloat));
  });
  EXPECT_EQ(errors[2], "corpus.jsonl: is gone");
  for (const int rank : {0, 1}) {
    EXPECT_THAT(errors[static_cast<size_t>(rank)], HasSubstr("rank 2 ("));
    EXPECT_THAT(errors[static_cast<size_t>(rank)],
                HasSubstr("ended with an error: corpus.jsonl: is gone"));
  }
}

// A process that computes for long need not wait to see it.
TEST(GlooGroupTest, ALookAtThePeersSaysWhichRankEnded) {
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

TEST(GlooGroupTest, RefusesTensorsOfDevicesWithoutNccl) {
#if TANDEM_WITH_CUDA
  GTEST_SKIP() << "this build has NCCL";
#endif
  const auto errors = RunRanks(2, [](ProcessGroup& group) {
    const Tensor there =
        tensor::FromDevice(nullptr, {2}, kFloat, {.kind = tensor::Device::Kind::kCuda}, nullptr);
    EXPECT_FALSE(group.Takes(there.device()));
    group.AddUp(there)->Wait();
  });
  EXPECT_THAT(errors, Each("a group of processes cannot exchange tensors of cuda:0"));
}

TEST(GlooGroupTest, SaysWhoDidNotCome) {
  const int port = FreePort();
  const auto errors =
      RunLaunches({LaunchOf(0, 4, port), LaunchOf(2, 4, port)},
                  {.timeout = std::chrono::milliseconds(4000)}, [](ProcessGroup&) {});
  EXPECT_THAT(errors, Each(HasSubstr("of 4 processes, ranks 1, 3 did not come to 127.0.0.1:")));
}

// Waits end at any moment around the look at the peers, which comes after half a second.
TEST(GlooGroupTest, AWaitThatEndsAtALookIsNoError) {
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
          group.AllGather(Zeros({1}, kFloat));
        }
      });
    });
  }
  for (std::thread& group : groups) group.join();
  EXPECT_THAT(errors, Each(Each(IsEmpty())));
}

TEST(GlooGroupTest, AProcessThatIsLateIsNotLost) {
  const auto errors = RunRanks(
      2,
      [](ProcessGroup& group) {
        if (group.leads()) std::this_thread::sleep_for(std::chrono::milliseconds(7500));
        group.AllGather(Zeros({1}, kFloat));
      },
      std::chrono::milliseconds(3000));  // in which the two find each other on a busy machine, too
  EXPECT_THAT(errors, Each(IsEmpty()));
}

// torchrun counts the restarts of each machine.
TEST(GlooGroupTest, ProcessesMeetWhateverTheirRestarts) {
  const int port = FreePort();
  std::vector<Launch> launches = {LaunchOf(0, 2, port), LaunchOf(1, 2, port)};
  launches[0].restarts = 1;
  const auto errors = RunLaunches(launches, {.timeout = std::chrono::seconds(60)}, [](auto&) {});
  EXPECT_THAT(errors, Each(IsEmpty()));
}

// A process that has come and is lost before the connections are made.
TEST(GlooGroupTest, SaysWhoWasLostWhileConnecting) {
  using std::chrono::milliseconds;
  const int port = FreePort();
  std::thread lost([port] {
    c10d::TCPStoreOptions options;
    options.port = static_cast<uint16_t>(port);
    options.timeout = milliseconds(20'000);
    libtorch::ServeWithoutLibuv(options);
    const auto store = c10::make_intrusive<c10d::TCPStore>("127.0.0.1", options);
    c10d::PrefixStore("tandem/", store).set("beat/1", std::vector<uint8_t>{'0', ' ', 'h'});
  });
  const auto errors =
      RunLaunches({LaunchOf(0, 2, port)}, {.timeout = milliseconds(3000)}, [](ProcessGroup&) {});
  lost.join();
  EXPECT_THAT(errors[0], HasSubstr("this is rank 0: rank 1 (h) has not answered for"));
}

TEST(GlooGroupTest, RefusesAPortThatIsTaken) {
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

TEST(GlooGroupTest, RefusesARankThatIsThereTwice) {
  const int port = FreePort();
  const auto errors =
      RunLaunches({LaunchOf(0, 3, port), LaunchOf(1, 3, port), LaunchOf(1, 3, port)},
                  {.timeout = std::chrono::seconds(20)}, [](ProcessGroup&) {});
  for (const std::string& error : errors) {
    EXPECT_THAT(error, HasSubstr("two processes of this job have rank 1"));
  }
}

}  // namespace
}  // namespace tandem::dist
