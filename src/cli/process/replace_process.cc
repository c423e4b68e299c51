#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <vector>

#include "base/error.h"
#include "cli/process/torch_half.h"

namespace tandem::app {
namespace {

std::vector<char*>& Arguments() {
  static std::vector<char*> arguments;
  return arguments;
}

// tandem-torch is beside tandem in a build folder, and in libexec in an installation.
std::filesystem::path FindTorchHalf() {
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  if (self.filename() == "tandem-torch") {
    throw std::logic_error("tandem-torch was built without the work of this command");
  }
  for (const auto& candidate : {self.parent_path() / "tandem-torch",
                                self.parent_path() / "../libexec/tandem/tandem-torch"}) {
    if (std::filesystem::exists(candidate)) return candidate;
  }
  throw UsageError(
      "this command needs tensors, and this build of tandem has no tandem-torch beside it; build "
      "with -DTANDEM_WITH_TORCH=ON");
}

}  // namespace

void RememberArguments(int argc, char** argv) { Arguments().assign(argv, argv + argc); }

void ReplaceByTorchHalf() {
  const std::filesystem::path program = FindTorchHalf();
  std::vector<char*> arguments = Arguments();
  arguments.push_back(nullptr);
  // A thread of libgomp that waits for others spins 300,000 turns of a loop before it sleeps. If
  // the machine has other work too, this takes processor time from the threads that it waits for.
  // With these variables, which libgomp reads when it starts, a thread spins 5,000 turns; if it
  // slept at once, a training step would take 3 % longer.
  if (std::getenv("OMP_WAIT_POLICY") == nullptr) {            // NOLINT(concurrency-mt-unsafe)
    ::setenv("OMP_WAIT_POLICY", "passive", /*overwrite=*/0);  // NOLINT(concurrency-mt-unsafe)
    ::setenv("GOMP_SPINCOUNT", "5000", /*overwrite=*/0);      // NOLINT(concurrency-mt-unsafe)
  }
  ::execv(program.c_str(), arguments.data());
  throw Error(ExitCode::kInternal,
              fmt::format("{}: cannot be started: {}", program.native(), std::strerror(errno)));
}

}  // namespace tandem::app
