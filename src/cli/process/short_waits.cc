#include "cli/process/short_waits.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "base/error.h"

namespace tandem::app {
namespace {

std::vector<char*>& Arguments() {
  static std::vector<char*> arguments;
  return arguments;
}

}  // namespace

void RememberArguments(int argc, char** argv) { Arguments().assign(argv, argv + argc); }

void WaitBriefly() {
  // Unless told otherwise a thread spins 300,000 turns of a loop before it sleeps. If the machine
  // has other work too, this takes processor time from the threads that it waits for. With 5,000
  // turns it does not; if it slept at once, a training step would take 3 % longer.
  if (std::getenv("OMP_WAIT_POLICY") != nullptr) return;    // NOLINT(concurrency-mt-unsafe)
  ::setenv("OMP_WAIT_POLICY", "passive", /*overwrite=*/0);  // NOLINT(concurrency-mt-unsafe)
  ::setenv("GOMP_SPINCOUNT", "5000", /*overwrite=*/0);      // NOLINT(concurrency-mt-unsafe)
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe");
  std::vector<char*> arguments = Arguments();
  arguments.push_back(nullptr);
  ::execv(program.c_str(), arguments.data());
  throw Error(ExitCode::kInternal,
              fmt::format("{}: cannot be started: {}", program.native(), std::strerror(errno)));
}

}  // namespace tandem::app
