#include "train/checks/resources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "base/error.h"
#include "base/files/files.h"
#include "support/captured_messages.h"
#include "support/temporary_folder.h"

namespace tandem::train {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

constexpr uint64_t kMiB = uint64_t{1} << 20;

// 300 MiB are held, the optimizer takes 100, a step of 10,000 tokens 800: 1,200 in all.
LeastMemory Least() {
  return {.before = {.held = 300 * kMiB, .addresses = 900 * kMiB, .data = 500 * kMiB},
          .optimizer = 100 * kMiB,
          .gradients = 50 * kMiB,
          .pass = 800 * kMiB,
          .per_token = 0.08 * static_cast<double>(kMiB),
          .queries = 64,
          .tokens = 10000};
}

MemoryLimits Limits(uint64_t mebibytes, MemoryKind kind = MemoryKind::kHeld) {
  return {.bounds = {{.kind = kind, .bytes = mebibytes * kMiB, .what = "memory.max of cgroup /a"},
                     {.bytes = 8192 * kMiB, .what = "this machine's memory"}},
          .available = 4096 * kMiB};
}

std::string Refusal(const std::function<void()>& check, ExitCode code = ExitCode::kUsage) {
  try {
    check();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), code);
    return error.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return "";
}

std::string Refusal(const LeastMemory& least, const MemoryLimits& limits) {
  return Refusal([&] { CheckMemory(least, limits, Shortage::kRefuse); });
}

TEST(Resources, MemoryThatIsThereIsNotSpokenOf) {
  CapturedMessages messages;
  CheckMemory(Least(), Limits(1200), Shortage::kRefuse);
  EXPECT_EQ(messages.text(), "");
}

// 0.85 x 700 - 450 MiB are 145, which are 1,812 tokens: 28 whole blocks of 64; 11 of 64 queries.
TEST(Resources, ALimitBelowTheNeedIsRefusedWithWhatWouldFit) {
  EXPECT_EQ(Refusal(Least(), Limits(700)),
            "this run needs 1.2 GiB of memory or more (model, data and token ids hold 300.0 MiB, "
            "what the optimizer keeps takes 100.0 MiB, and a step of 64 queries with 10000 tokens "
            "takes 800.0 MiB), and memory.max of cgroup /a allows 700.0 MiB; give "
            "train.chunk_tokens = 1792, or train.batch = 11; --ignore-limits begins all the same");
}

TEST(Resources, OneByteTooFewIsTooFew) {
  MemoryLimits limits = Limits(1200);
  --limits.bounds[0].bytes;
  EXPECT_THAT(Refusal(Least(), limits), HasSubstr("memory.max of cgroup /a"));
}

TEST(Resources, SwapCounts) {
  MemoryLimits limits = Limits(700);
  limits.bounds[0].swap = 500 * kMiB;
  CheckMemory(Least(), limits, Shortage::kRefuse);
  --limits.bounds[0].swap;
  EXPECT_THAT(Refusal(Least(), limits), HasSubstr("allows 1.2 GiB"));
}

TEST(Resources, WhereNoBatchFitsLessIsToBeTrained) {
  EXPECT_THAT(Refusal(Least(), Limits(420)),
              HasSubstr("use model.train = \"lora\", optimizer.name = \"adafactor\", or more "
                        "memory"));
}

TEST(Resources, ChunksAreMadeSmaller) {
  LeastMemory least = Least();
  least.chunk_tokens = 8192;
  const std::string text = Refusal(least, Limits(700));
  EXPECT_THAT(text, HasSubstr("10000 tokens in chunks of 8192 takes"));
  EXPECT_THAT(text, HasSubstr("give train.chunk_tokens = 1792, or shorter texts"));
}

// Addresses are there already for what the optimizer keeps: 900 + 800 MiB.
TEST(Resources, AddressesAreCountedByThemselves) {
  CheckMemory(Least(), Limits(1700, MemoryKind::kAddresses), Shortage::kRefuse);
  EXPECT_THAT(
      Refusal(Least(), Limits(1699, MemoryKind::kAddresses)),
      HasSubstr("this run needs 1.7 GiB of addresses or more (program, model, data and what "
                "the optimizer keeps have 900.0 MiB"));
  CheckMemory(Least(), Limits(1300, MemoryKind::kData), Shortage::kRefuse);
  EXPECT_THAT(Refusal(Least(), Limits(1299, MemoryKind::kData)), HasSubstr("have 500.0 MiB"));
}

// The gradients of a small batch are more than its activations.
TEST(Resources, GradientsAreNeededWhateverTheBatchIs) {
  LeastMemory least = Least();
  least.pass = kMiB;
  EXPECT_EQ(least.total(), 450 * kMiB);
}

// A chunk goes forward while the gradients of those before it are there; scores are gone by then.
TEST(Resources, GradientsStayFromChunkToChunkAndFromBatchToBatch) {
  LeastMemory least = Least();
  least.scores = 10 * kMiB;
  EXPECT_EQ(least.step(), 810 * kMiB);
  least.accumulates = true;
  EXPECT_EQ(least.step(), 860 * kMiB);
  least.chunk_tokens = 8192;
  EXPECT_EQ(least.step(), 850 * kMiB);
  least.chunk_tokens = 10000;  // the whole batch is one chunk
  least.accumulates = false;
  EXPECT_EQ(least.step(), 810 * kMiB);
}

TEST(Resources, TheBoundThatIsExceededMostIsNamed) {
  MemoryLimits limits = Limits(700);
  limits.bounds.push_back({.bytes = 600 * kMiB, .what = "memory.max of cgroup /"});
  EXPECT_THAT(Refusal(Least(), limits), HasSubstr("memory.max of cgroup / allows 600.0 MiB"));
}

TEST(Resources, IgnoredLimitsAreWarnedOf) {
  CapturedMessages messages;
  CheckMemory(Least(), Limits(700), Shortage::kWarn);
  EXPECT_THAT(messages.text(), MatchesRegex("warning: this run needs .* allows 700.0 MiB; .*\n"));
}

TEST(Resources, WhatOnlySlowsAndWhatIsOnlyTakenAreWarnings) {
  CapturedMessages messages;
  MemoryLimits limits = Limits(2000);
  limits.bounds.push_back(
      {.bytes = 1000 * kMiB, .hard = false, .what = "memory.high of cgroup /a"});
  CheckMemory(Least(), limits, Shortage::kRefuse);
  limits.bounds.pop_back();
  limits.available = 899 * kMiB;
  CheckMemory(Least(), limits, Shortage::kRefuse);
  limits.available = 900 * kMiB;
  CheckMemory(Least(), limits, Shortage::kRefuse);
  EXPECT_THAT(
      messages.text(),
      MatchesRegex("warning: [^\n]*; above memory.high of cgroup /a .1000.0 MiB. the system "
                   "slows this process down\n"
                   "warning: [^\n]*, and the machine has 899.0 MiB free now: [^\n]*\n"));
}

DiskNeed Disk() {
  return {.checkpoint = 261 * kMiB,
          .best = 87 * kMiB,
          .model = 87 * kMiB,
          .least = 870 * kMiB,
          .checkpoints_at_once = 3,
          .best_kept = true};
}

TEST(Resources, ADiskThatHasRoomIsNotSpokenOf) {
  CheckDisk(Disk(), {.free = 870 * kMiB}, "runs/a", Shortage::kRefuse);
  CheckDisk(Disk(), {.present = 470 * kMiB, .free = 400 * kMiB}, "runs/a", Shortage::kRefuse);
  CheckDisk(Disk(), {.present = 1000 * kMiB, .free = 0}, "runs/a", Shortage::kRefuse);
}

TEST(Resources, ADiskWithoutRoomIsRefusedAsAFullOne) {
  const std::string text = Refusal(
      [] {
        CheckDisk(Disk(), {.present = 70 * kMiB, .free = 799 * kMiB}, "runs/a", Shortage::kRefuse);
      },
      ExitCode::kData);
  EXPECT_EQ(text,
            "runs/a: has no room for this run, which writes 800.0 MiB or more there (3 "
            "checkpoints of 261.0 MiB at once, best weights of 87.0 MiB, and a model of 87.0 MiB), "
            "while 799.0 MiB are free; free some, or give train.keep_checkpoints = 1 (609.0 MiB at "
            "least), a run folder elsewhere (--output); --ignore-limits begins all the same: No "
            "space left on device");
}

TEST(Resources, AnIgnoredDiskIsWarnedOf) {
  CapturedMessages messages;
  CheckDisk(Disk(), {.free = 1}, "runs/a", Shortage::kWarn);
  EXPECT_THAT(messages.text(), StartsWith("warning: runs/a: has no room for this run"));
}

TEST(Resources, TheRunFolderNeedNotBeThere) {
  const TemporaryFolder folder;
  const RunFolder run(folder.path() / "not" / "there");
  ASSERT_TRUE(RoomOf(run).has_value());
  EXPECT_EQ(RoomOf(run)->present, 0u);
  EXPECT_GT(RoomOf(run)->free, 0u);
  std::filesystem::create_directories(run.Checkpoint(1));
  WriteFileAtomically(run.Checkpoint(1) / "weights.safetensors", "12345");
  EXPECT_EQ(RoomOf(run)->present, 5u);
}

}  // namespace
}  // namespace tandem::train
