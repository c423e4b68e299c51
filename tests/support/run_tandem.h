// Runs the built program as a user does: arguments in, exit code and both outputs out.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "support/temporary_folder.h"

namespace tandem {

struct ProgramResult {
  int exit_code = -1;  // 128 + N where signal N ended it
  std::string out;
  std::string err;
};

// Where the program's standard streams lead; an empty path: where this process's lead.
struct StandardStreams {
  std::filesystem::path in;
  std::filesystem::path out;
  std::filesystem::path err;
};

// Starts the program and returns at once, so that the caller can watch or kill it. `environment`
// has variables that it gets besides those of this process.
inline pid_t StartTandem(const std::vector<std::string>& arguments,
                         const StandardStreams& streams = {},
                         const std::map<std::string, std::string>& environment = {}) {
  std::vector<std::string> words = {TANDEM_BINARY};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  if (child != 0) return child;
  const auto redirect = [](const std::filesystem::path& path, int flags, int stream) {
    if (!path.empty()) ::dup2(::open(path.c_str(), flags | O_CLOEXEC, 0600), stream);
  };
  redirect(streams.in, O_RDONLY, STDIN_FILENO);
  redirect(streams.out, O_CREAT | O_WRONLY | O_TRUNC, STDOUT_FILENO);
  redirect(streams.err, O_CREAT | O_WRONLY | O_TRUNC, STDERR_FILENO);
  ::signal(SIGINT, SIG_DFL);  // a shell's background jobs ignore it
  for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
  ::execv(argv[0], argv.data());
  ::_exit(127);
}

// `input` becomes standard input; `environment` as in StartTandem.
inline ProgramResult RunTandem(const std::vector<std::string>& arguments,
                               const std::string& input = "",
                               const std::map<std::string, std::string>& environment = {}) {
  const TemporaryFolder folder;
  const StandardStreams streams{
      .in = folder.path() / "in", .out = folder.path() / "out", .err = folder.path() / "err"};
  WriteFileAtomically(streams.in, input);
  const pid_t child = StartTandem(arguments, streams, environment);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), ReadFile(streams.out),
          ReadFile(streams.err)};
}

// Whether the program refused bf16 because of the processor, as it does below AVX512-BF16: what a
// test says of bf16 then holds elsewhere.
inline bool RefusesBf16(const ProgramResult& result) {
  return result.exit_code == 2 &&
         result.err.find("precision bf16 needs a processor with") != std::string::npos;
}

}  // namespace tandem
