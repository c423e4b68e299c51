// `tandem version`: prints the same as `tandem --version`.
#include <cstdio>

#include "cli/command.h"
#include "cli/example.h"
#include "cli/flags.h"
#include "cli/version.h"

namespace tandem::app {
namespace {

CommandBody ConfigureVersion(Flags&) {
  return [](const Globals&) { std::puts(VersionText().c_str()); };
}

constexpr Example kVersionExamples[] = {
    {"tandem version", "Say what this build and this machine can do"},
    {"tandem --version", "Say the same"},
};

}  // namespace

extern const Command kVersionCommand{
    {.name = "version", .summary = "Print the version and what this build holds"},
    ConfigureVersion,
    kVersionExamples};

}  // namespace tandem::app
