// What `tandem encode` reads and writes.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "commands/encode/encode_fixture.h"
#include "data/input/text_output.h"
#include "embeddings/layouts/npy.h"

namespace tandem {
namespace {

using testing::HasSubstr;

using EncodeCommand = EncodeCommandTest;

TEST_F(EncodeCommand, SeveralFilesAndPatternsAreReadAsOne) {
  Write("whole.jsonl", Lines(0, 40));
  Write("part-1.jsonl", Lines(0, 15));
  Write("part-2.jsonl", Lines(15, 20));
  data::TextOutput compressed(Path("last.gz"));
  compressed.Write(Lines(20, 40));
  compressed.Commit();
  ASSERT_EQ(Encode({Path("whole.jsonl"), "--output", Path("whole")}).exit_code, 0);
  const ProgramResult parts =
      Encode({Path("part-*.jsonl"), Path("last.gz"), "--output", Path("parts")});
  ASSERT_EQ(parts.exit_code, 0) << parts.err;
  EXPECT_EQ(FilesOf("parts"), FilesOf("whole"));
  // The flags mean the same as words without one.
  const ProgramResult flags = RunTandem(
      {"encode", "--model", Path("model"), "--input", Path("part-1.jsonl"), Path("part-2.jsonl"),
       "--input", Path("last.gz"), "--output", Path("flags"), "--threads", "2"});
  ASSERT_EQ(flags.exit_code, 0) << flags.err;
  EXPECT_EQ(FilesOf("flags"), FilesOf("whole"));
}

TEST_F(EncodeCommand, TsvAndPlainLinesAndOtherKeys) {
  std::string lines, tsv = "year\tkey\tbody\n", json;
  for (int i = 0; i < 9; ++i) {
    lines += TextOf(i) + "\n";
    tsv += fmt::format("2000\td{}\t{}\n", i, TextOf(i));
    json += fmt::format("{{\"key\": \"d{}\", \"body\": \"{}\"}}\n", i, TextOf(i));
  }
  Write("a.jsonl", Lines(0, 9));
  Write("a.txt", lines);
  Write("a.tsv", tsv);
  ASSERT_EQ(Encode({Path("a.jsonl"), "--output", Path("json.npy")}).exit_code, 0);
  ASSERT_EQ(Encode({Path("a.txt"), "--output", Path("lines.npy")}).exit_code, 0);
  const std::vector<std::string> keys = {"--id-field", "key", "--text-field", "body"};
  const auto with_keys = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), keys.begin(), keys.end());
    return arguments;
  };
  ASSERT_EQ(Encode(with_keys({Path("a.tsv"), "--output", Path("tsv.npy")})).exit_code, 0);
  ASSERT_EQ(Encode(with_keys({"-", "--output", Path("keys.npy")}), json).exit_code, 0);
  for (const char* name : {"lines.npy", "tsv.npy", "keys.npy"}) {
    EXPECT_EQ(ReadFile(Path(name)), ReadFile(Path("json.npy"))) << name;
  }
  EXPECT_EQ(ReadFile(Path("lines.ids.txt")), "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
  for (const char* name : {"tsv.ids.txt", "keys.ids.txt"}) {
    EXPECT_EQ(ReadFile(Path(name)), ReadFile(Path("json.ids.txt"))) << name;
  }
}

TEST_F(EncodeCommand, BlocksAndNamesOfFilesChangeNothingButRounding) {
  Write("a.jsonl", Lines(0, 30));
  ASSERT_EQ(Encode({Path("a.jsonl"), "--output", Path("a.npy")}).exit_code, 0);
  ASSERT_EQ(Encode({Path("a.jsonl"), "--output", Path("b"), "--block-texts", "7"}).exit_code, 0);
  EXPECT_EQ(ReadFile(Path("a.ids.txt")), ReadFile(Path("b/ids.txt")));
  const embeddings::MappedRows a = embeddings::ReadNpy(Path("a.npy")),
                               b = embeddings::ReadNpy(Path("b/embeddings.npy"));
  ASSERT_EQ(a.rows, 30U);
  ASSERT_EQ(b.rows, 30U);
  for (size_t i = 0; i < a.values.size(); ++i) EXPECT_NEAR(a.values[i], b.values[i], 1e-6);
}

TEST_F(EncodeCommand, AnIdThatComesTwiceIsNamedWithBothFilesAndLeavesNothing) {
  Write("a.jsonl", Lines(0, 5));
  Write("b.jsonl", Lines(7, 9) + Lines(2, 3));
  const std::string wanted =
      fmt::format("{}:3: has the same \"_id\" as {}:3 (id d2)", Path("b.jsonl"), Path("a.jsonl"));
  const ProgramResult files =
      Encode({Path("a.jsonl"), Path("b.jsonl"), "--output", Path("out"), "--block-texts", "2"});
  EXPECT_EQ(files.exit_code, 3);
  EXPECT_THAT(files.err, HasSubstr(wanted));
  EXPECT_TRUE(FilesOf("out").empty());
  EXPECT_EQ(Encode({Path("a.jsonl"), Path("b.jsonl"), "--output", "-"}).out, "");
}

TEST_F(EncodeCommand, WithoutAModelOrTexts) {
  EXPECT_THAT(RunTandem({"encode", "--input", "a", "--output", "x"}).err,
              HasSubstr("name a model, or give --model"));
  EXPECT_THAT(Encode({"--output", "x"}).err, HasSubstr("name files of texts, or give --input"));
}

// --- Standard output -----------------------------------------------------------------------------

TEST_F(EncodeCommand, StandardOutputHasNothingButEmbeddings) {
  Write("a.jsonl", Lines(0, 20));
  ASSERT_EQ(Encode({Path("a.jsonl"), "--output", Path("a.npy")}).exit_code, 0);
  const std::string file = ReadFile(Path("a.npy"));
  const auto printed = [&](const std::string& format) {
    const ProgramResult result =
        Encode({Path("a.jsonl"), "--output", "-", "--output-format", format});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  };
  EXPECT_EQ(printed("npy"), file);
  EXPECT_EQ(printed("raw"), file.substr(embeddings::kNpyHeaderBytes));
  const embeddings::MappedRows matrix = embeddings::ReadNpy(Path("a.npy"));
  const ProgramResult lines =
      Encode({"-", "--output", "-"},
             Lines(0, 19) + "{\"_id\": \"\\\"d\\u00e4\\\\\", \"text\": \"" + TextOf(19) + "\"}\n");
  ASSERT_EQ(lines.exit_code, 0) << lines.err;
  std::istringstream stream(lines.out);
  size_t row = 0;
  for (std::string line; std::getline(stream, line); ++row) {
    const auto parsed = nlohmann::json::parse(line);
    EXPECT_EQ(parsed["id"], row == 19 ? "\"dä\\" : fmt::format("d{}", row));
    ASSERT_EQ(parsed["embedding"].size(), 32U);
    for (size_t i = 0; i < 32; ++i) {
      EXPECT_EQ(parsed["embedding"][i].get<float>(), matrix.values[row * 32 + i]);
    }
  }
  EXPECT_EQ(row, 20U);
}

TEST_F(EncodeCommand, WhatStandardOutputCannotHave) {
  Write("a.jsonl", Lines(0, 3));
  const auto expect = [&](const std::vector<std::string>& arguments, const std::string& message) {
    const ProgramResult result = Encode(arguments, Lines(0, 3));
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, HasSubstr(message));
    EXPECT_EQ(result.out, "");
  };
  expect({"-", "--output", "-", "--output-format", "npy"}, "needs the number of texts beforehand");
  expect({Path("a.jsonl"), "--output", "-", "--resume"}, "--resume is for files");
  expect({Path("a.jsonl"), "--output", Path("x"), "--output-format", "raw"},
         "--output-format is for --output -");
}

TEST_F(EncodeCommand, ATerminalGetsNoBinary) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal < 0) GTEST_SKIP() << "no terminals here: " << std::strerror(errno);
  ASSERT_EQ(::grantpt(terminal), 0);
  ASSERT_EQ(::unlockpt(terminal), 0);
  Write("a.jsonl", Lines(0, 3));
  const pid_t child =
      StartTandem(Arguments({Path("a.jsonl"), "--output", "-", "--output-format", "npy"}),
                  {.out = ::ptsname(terminal), .err = Path("err")});
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 2);
  EXPECT_THAT(ReadFile(Path("err")), HasSubstr("binary, and standard output a terminal"));
  ::close(terminal);
}

TEST_F(EncodeCommand, AClosedPipeEndsQuietly) {
  Write("a.jsonl", Lines(0, 2000));
  ASSERT_EQ(::mkfifo(Path("pipe").c_str(), 0600), 0);
  const pid_t child =
      StartTandem(Arguments({Path("a.jsonl"), "--output", "-", "--block-texts", "100", "--quiet"}),
                  {.out = Path("pipe"), .err = Path("err")});
  const int pipe = ::open(Path("pipe").c_str(), O_RDONLY | O_CLOEXEC);
  char first = 0;
  EXPECT_EQ(::read(pipe, &first, 1), 1);
  ::close(pipe);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE);
  EXPECT_EQ(ReadFile(Path("err")), "");
}

// --- Memory --------------------------------------------------------------------------------------

class EncodeMemory : public EncodeCommandTest {
 protected:
  // The most memory that it takes to encode so many texts of 2 KiB.
  size_t PeakBytes(size_t texts) const {
    const std::string name = fmt::format("{}.jsonl", texts);
    AtomicFile file(Path(name));
    const std::string blank(2048, ' ');
    for (size_t i = 0; i < texts; ++i) {
      file.Write(fmt::format("{{\"_id\": \"d{}\", \"text\": \"{}{}\"}}\n", i, TextOf(i), blank));
    }
    file.Commit();
    const pid_t child = StartTandem(Arguments(
        {Path(name), "--output", Path("out"), "--block-texts", "500", "--quiet", "--force"}));
    int status = 0;
    struct rusage usage {};
    EXPECT_EQ(::wait4(child, &status, 0, &usage), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return static_cast<size_t>(usage.ru_maxrss) * 1024;  // Linux counts KiB
  }
};

TEST_F(EncodeMemory, DoesNotGrowWithTheInput) {
  constexpr size_t kTexts = 4000;
  const size_t few = PeakBytes(kTexts), many = PeakBytes(8 * kTexts);
  RecordProperty("few_mib", static_cast<int>(few >> 20));
  RecordProperty("many_mib", static_cast<int>(many >> 20));
  // The texts alone are 56 MiB more, their embeddings 3.5 MiB.
  EXPECT_LT(many, few + (size_t{12} << 20));
}

}  // namespace
}  // namespace tandem
