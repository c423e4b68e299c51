// `tandem version`: prints the same as `tandem --version`.
#include <cstdio>

#include "cli/command.h"
#include "cli/flags.h"
#include "cli/version.h"

namespace tandem::app {
namespace {

CommandBody Configure(Flags&) {
  return [](const Globals&) { std::puts(VersionText().c_str()); };
}

}  // namespace

extern const Command kVersionCommand{
    {.name = "version", .summary = "Print the version and what this build holds"}, Configure};

}  // namespace tandem::app
