// A command as CLI11 knows it, with its examples.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>

#include "cli/example.h"

namespace tandem::app {

class CommandApp final : public CLI::App {
 public:
  // Takes over what `parent` hands on to its commands. The examples must outlive it.
  CommandApp(std::string summary, std::string name, CLI::App& parent,
             std::span<const Example> examples)
      : CLI::App(std::move(summary), std::move(name), &parent), examples_(examples) {}

  std::span<const Example> examples() const { return examples_; }

 private:
  std::span<const Example> examples_;
};

}  // namespace tandem::app
