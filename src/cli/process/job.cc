#include "cli/process/job.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/process/interrupt.h"
#include "base/process/launch.h"
#include "cli/process/memory_problem.h"
#include "cli/terminal.h"
#include "cli/version.h"

namespace tandem::app {
namespace {

dist::ProcessGroup* current_group = nullptr;

// Ends the process at once, without calling destructors, after telling the other processes about
// the error. All processes share an interruption, so that only rank 0 prints a message about it.
[[noreturn]] void End(dist::ProcessGroup& group, const Error& error, const std::string& message) {
  const int code = static_cast<int>(error.exit_code());
  const bool interrupted = code > 128;
  if (group.leads() || !interrupted) Terminal::Get().Error(message, error);
  if (!group.agreed_to_end()) group.Report(code, message);
  std::cout.flush();
  std::fflush(nullptr);
  ::_exit(code);
}

// Adds the rank to an error's message, unless the message names it.
std::string WithRank(const dist::ProcessGroup& group, const char* message) {
  const std::string text = message;
  if (text.find("this is rank") != std::string::npos) return text;
  return fmt::format("rank {}: {}", group.rank(), text);
}

void CheckSameCommand(dist::ProcessGroup& group, const std::string& command) {
  group.Agree([&] {
    const std::vector<std::string> all = group.AllGatherBytes(command);
    for (size_t rank = 1; rank < all.size(); ++rank) {
      if (all[rank] == all.front()) continue;
      throw UsageError(
          fmt::format("rank {} runs {}, and rank 0 {}: start the same for all processes "
                      "of a job",
                      rank, all[rank], all.front()));
    }
  });
}

}  // namespace

dist::ProcessGroup* CurrentGroup() { return current_group; }

void RunInGroup(const std::string& command, const JobOptions& options,
                const std::function<void(dist::ProcessGroup& group)>& body) {
  const std::unique_ptr<dist::ProcessGroup> group =
      dist::ProcessGroup::Join(CurrentLaunch(), {.timeout = std::chrono::seconds(options.timeout)});
  if (group->alone()) return body(*group);
  if (!group->leads()) SetMessageSink(nullptr);
  current_group = group.get();
  try {
    CheckSameCommand(*group, fmt::format("tandem {} of version {}", command, Version()));
    body(*group);
    group->Leave();
    current_group = nullptr;
  } catch (const MemoryError& error) {
    End(*group, error, WithRank(*group, MemoryProblem(error).c_str()));
  } catch (const Error& error) {
    End(*group, error, WithRank(*group, error.what()));
  } catch (const std::bad_alloc&) {
    const MemoryError error(0);  // of a container: nobody knows how many bytes
    End(*group, error, WithRank(*group, MemoryProblem(error).c_str()));
  } catch (const std::exception& thrown) {
    const Error error(ExitCode::kInternal, fmt::format("internal error: {}", thrown.what()));
    End(*group, error, WithRank(*group, error.what()));
  }
}

}  // namespace tandem::app
