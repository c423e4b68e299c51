// `tandem encode` is ended from outside and resumed, and leaves the bytes of an untouched run.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "commands/encode/encode_fixture.h"
#include "embeddings/layouts/part_file.h"

namespace tandem {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr size_t kTexts = 6000;

class EncodeResume : public EncodeCommandTest {
 protected:
  EncodeResume() {
    Write("a.jsonl", Lines(0, kTexts));
    whole_ = Encode({Path("a.jsonl"), "--output", Path("whole"), "--block-texts", "100"});
    EXPECT_EQ(whole_.exit_code, 0) << whole_.err;
  }

  std::vector<std::string> More(std::vector<std::string> arguments,
                                const std::vector<std::string>& more) const {
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  std::vector<std::string> InFolder(const std::vector<std::string>& more = {}) const {
    return More({Path("a.jsonl"), "--output", Path("out"), "--block-texts", "100"}, more);
  }

  // Blocks in the journal.
  size_t Blocks() const {
    std::error_code error;
    if (!std::filesystem::exists(Path("out/embeddings.npy.journal"), error)) return 0;
    const std::string journal = ReadFile(Path("out/embeddings.npy.journal"));
    size_t blocks = 0;
    for (size_t at = 0; (at = journal.find("\nblock ", at)) != std::string::npos; ++at) ++blocks;
    return blocks - std::min<size_t>(blocks, 1);  // a setting has that name too
  }

  // Starts it, waits until `blocks` more are there, and sends the signal. Returns what waitpid
  // says.
  int SignalBehind(size_t blocks, int signal, const std::vector<std::string>& arguments) const {
    const size_t before = Blocks();
    const pid_t child = StartTandem(Arguments(arguments), {.err = Path("err")});
    int status = 0;
    while (Blocks() < before + blocks) {
      if (::waitpid(child, &status, WNOHANG) != 0) return status;
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    ::kill(child, signal);
    ::waitpid(child, &status, 0);
    return status;
  }

  // Encodes until the disk is full: some blocks, not all.
  void FillDisk(const std::vector<std::string>& arguments, const std::string& input = "") const {
    Write("in", input);
    pid_t child = 0;
    {
      const FullDisk full(200'000);  // of 768,128 bytes
      child = StartTandem(Arguments(arguments), {.in = Path("in"), .err = Path("err")});
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), 3);
    const std::string said = ReadFile(Path("err"));
    EXPECT_THAT(said, HasSubstr("embeddings.npy.part: cannot be written: File too large"));
    EXPECT_THAT(said, HasSubstr("1500 texts are in " + Path("out/embeddings.npy.part") +
                                "; the same command with --resume goes on after them"));
    EXPECT_FALSE(std::filesystem::exists(Path("out/embeddings.npy")));
    EXPECT_FALSE(std::filesystem::exists(Path("out/ids.txt")));
  }

  void ExpectFinished() const { EXPECT_EQ(FilesOf("out"), FilesOf("whole")); }

  ProgramResult whole_;
};

TEST_F(EncodeResume, KilledAtAnyMomentEndsInTheSameBytes) {
  size_t killed = 0;
  for (const size_t blocks : {1U, 13U, 2U, 21U}) {
    const int status = SignalBehind(blocks, SIGKILL, InFolder({"--resume"}));
    killed += WIFSIGNALED(status);
    if (WIFEXITED(status)) break;
    EXPECT_FALSE(std::filesystem::exists(Path("out/embeddings.npy")));
  }
  EXPECT_GE(killed, 2U);
  const ProgramResult resumed = Encode(InFolder({"--resume"}));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("texts have been encoded before"));
  ExpectFinished();
  // What is said of all texts is said of those that were encoded before, too.
  const auto last_line = [](const std::string& text) {
    const size_t begin = text.rfind('\n', text.size() - 2) + 1;
    return text.substr(begin, text.find(" -> ", begin) - begin);
  };
  EXPECT_EQ(last_line(resumed.err), last_line(whole_.err));
}

TEST_F(EncodeResume, SignalsEndItAtOnceAndKeepWholeBlocks) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const int status = SignalBehind(3, signal, InFolder({"--resume"}));
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 128 + signal);
    EXPECT_THAT(ReadFile(Path("err")),
                HasSubstr(fmt::format("error: interrupted; {} texts are in {}; the same command "
                                      "with --resume goes on after them",
                                      100 * Blocks(), Path("out/embeddings.npy.part"))));
  }
  ASSERT_EQ(Encode(InFolder({"--resume"})).exit_code, 0);
  ExpectFinished();
}

TEST_F(EncodeResume, GoesOnWhereADiskWasFull) {
  FillDisk(InFolder());
  const ProgramResult resumed = Encode(InFolder({"--resume"}));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("1500 texts have been encoded before"));
  ExpectFinished();
}

TEST_F(EncodeResume, StandardInputThatComesAgain) {
  const std::string input = Lines(0, kTexts);
  const std::vector<std::string> arguments = {"-", "--output", Path("out"), "--block-texts", "100"};
  FillDisk(arguments, input);
  const ProgramResult other = Encode(More(arguments, {"--resume"}), Lines(1, kTexts));
  EXPECT_EQ(other.exit_code, 3);
  EXPECT_THAT(other.err, HasSubstr("standard input:100: texts 1 to 100 of the input, which begin "
                                   "at standard input:1 and end here, are not those that were "
                                   "encoded before"));
  const ProgramResult resumed = Encode(More(arguments, {"--resume"}), input);
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  ExpectFinished();
}

TEST_F(EncodeResume, WhatHasChangedIsNamed) {
  FillDisk(InFolder());
  const auto before = FilesOf("out");
  const auto refused = [&](const std::vector<std::string>& arguments, int exit_code,
                           const std::string& message) {
    const ProgramResult result = Encode(arguments);
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    EXPECT_THAT(result.err, HasSubstr(message));
    EXPECT_THAT(result.err, Not(HasSubstr("goes on after them")));
    EXPECT_EQ(FilesOf("out"), before);
  };
  refused(InFolder({"--resume", "--precision", "int8"}), 2,
          "out/embeddings.npy: was encoded with precision fp32, and now it is int8; give the same "
          "--precision, or encode with --force");
  refused(InFolder({"--resume", "--max-document-tokens", "5"}), 2, "with tokens a text 64");
  refused(InFolder({"--resume", "--prompt", "a prompt"}), 2, "with another prompt");
  refused(InFolder({"--resume", "--dimensions", "8"}), 2, "with numbers an embedding 32");
  refused(InFolder({"--resume", "--id-field", ""}), 2, "with --id-field \"_id\"");
  WriteTinyModel(Path("model"), {.seed = 2});
  refused(InFolder({"--resume"}), 4, "out/embeddings.npy: was encoded with another model");
  WriteTinyModel(Path("model"));
  // Of the texts, the first block that differs; what is after those that were encoded may change.
  Write("a.jsonl", Lines(0, 150) + Lines(kTexts, kTexts + 1) + Lines(151, kTexts));
  refused(InFolder({"--resume"}), 3,
          fmt::format("{0}:200: texts 101 to 200 of the input, which begin at {0}:101 and end "
                      "here, are not those that were encoded before",
                      Path("a.jsonl")));
  Write("a.jsonl", Lines(0, 1450));
  refused(InFolder({"--resume"}), 3, "ends here, after 1450 texts; 1500 were encoded before");
  Write("b.jsonl", Lines(0, kTexts));
  ASSERT_EQ(Encode({Path("b.jsonl"), "--output", Path("out"), "--block-texts", "100", "--resume"})
                .exit_code,
            0);
  ExpectFinished();
}

TEST_F(EncodeResume, WithoutTheFlagItBeginsAnewAndSaysSo) {
  FillDisk(InFolder());
  const ProgramResult anew = Encode(InFolder());
  ASSERT_EQ(anew.exit_code, 0);
  EXPECT_THAT(anew.err, HasSubstr("warning: " + Path("out/embeddings.npy.part") +
                                  ": what an interrupted run has left is given up"));
  EXPECT_THAT(anew.err, Not(HasSubstr("encoded before")));
  ExpectFinished();
}

TEST_F(EncodeResume, DamagedBlocksAreEncodedAgain) {
  FillDisk(InFolder());
  std::string part = ReadFile(Path("out/embeddings.npy.part"));
  part[128 + 700 * 128] ^= 1;  // in the eighth of 15 blocks
  Write("out/embeddings.npy.part", part);
  const ProgramResult resumed = Encode(InFolder({"--resume"}));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("8 of 15 blocks are not as they were written"));
  EXPECT_THAT(resumed.err, HasSubstr("700 texts have been encoded before"));
  ExpectFinished();
}

TEST_F(EncodeResume, WhereNothingWasBegunOrAllIsDone) {
  const ProgramResult first = Encode(InFolder({"--resume"}));
  ASSERT_EQ(first.exit_code, 0);
  EXPECT_THAT(first.err, HasSubstr("nothing was begun that --resume could go on with"));
  ExpectFinished();
  const auto time = std::filesystem::last_write_time(Path("out/embeddings.npy"));
  const ProgramResult again = Encode(InFolder({"--resume"}));
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_THAT(again.err, HasSubstr("all 6000 texts have been encoded before"));
  EXPECT_EQ(std::filesystem::last_write_time(Path("out/embeddings.npy")), time);
  ExpectFinished();
  Write("b.jsonl", Lines(kTexts, kTexts + 1));
  const ProgramResult more = Encode(InFolder({Path("b.jsonl"), "--resume"}));
  EXPECT_EQ(more.exit_code, 3);
  EXPECT_THAT(more.err, HasSubstr("has more than the 6000 texts that were encoded before"));
  ExpectFinished();
}

TEST_F(EncodeResume, FinishedFilesThatItDoesNotKnowStay) {
  ASSERT_EQ(Encode(InFolder()).exit_code, 0);
  std::string ids = ReadFile(Path("out/ids.txt"));
  ids[0] = 'e';
  Write("out/ids.txt", ids);
  const ProgramResult altered = Encode(InFolder({"--resume"}));
  EXPECT_EQ(altered.exit_code, 3);
  EXPECT_THAT(altered.err, HasSubstr("embeddings.npy.journal says was written"));
  std::filesystem::remove(Path("out/embeddings.npy.journal"));
  const ProgramResult unknown = Encode(InFolder({"--resume"}));
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("no journal says what it was made of"));
  EXPECT_EQ(ReadFile(Path("out/ids.txt")), ids);
  const ProgramResult unasked = Encode(InFolder());
  EXPECT_EQ(unasked.exit_code, 2);
  EXPECT_THAT(unasked.err, HasSubstr(Path("out/embeddings.npy") + ": exists already: --force"));
  EXPECT_EQ(ReadFile(Path("out/ids.txt")), ids);
  ASSERT_EQ(Encode(InFolder({"--force"})).exit_code, 0);
  ExpectFinished();
  EXPECT_THAT(Encode(InFolder({"--force", "--resume"})).err, HasSubstr("give one of them"));
}

// The process may end between the renames.
TEST_F(EncodeResume, FinishedFilesWithoutTheirNamesGetThem) {
  ASSERT_EQ(Encode(InFolder()).exit_code, 0);
  for (const bool both : {false, true}) {
    std::filesystem::rename(Path("out/embeddings.npy"), Path("out/embeddings.npy.part"));
    if (both) std::filesystem::rename(Path("out/ids.txt"), Path("out/ids.txt.part"));
    const ProgramResult resumed = Encode(InFolder({"--resume"}));
    ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
    ExpectFinished();
  }
}

TEST_F(EncodeResume, OneProcessAtATime) {
  std::filesystem::create_directory(Path("out"));
  const embeddings::PartFile held(Path("out/embeddings.npy"));
  const ProgramResult second = Encode(InFolder());
  EXPECT_EQ(second.exit_code, 2);
  EXPECT_THAT(second.err, HasSubstr("embeddings.npy.part: another process writes it"));
}

// A run that fails before its first block takes nothing from finished files.
TEST_F(EncodeResume, AFailedRunLeavesFinishedFilesAndTheirJournal) {
  ASSERT_EQ(Encode(InFolder()).exit_code, 0);
  Write("b.jsonl", Lines(0, 1) + "{\n");
  EXPECT_EQ(Encode({Path("b.jsonl"), "--output", Path("out"), "--force"}).exit_code, 3);
  EXPECT_EQ(Encode({"-", "--output", Path("out"), "--force"}, Lines(0, 1) + "{\n").exit_code, 3);
  ExpectFinished();
}

}  // namespace
}  // namespace tandem
