// Examples that a command's help shows after its flags.
#pragma once

#include <string_view>

namespace tandem::app {

struct Example {
  std::string_view line;  // as it is typed in a shell
  std::string_view what;  // what it does, a line without a full stop
};

}  // namespace tandem::app
