// The text of `tandem --help` and `tandem COMMAND --help`.
//
// It is formatted here and not by CLI11, whose layout differs between its versions.
#pragma once

#include <memory>

namespace CLI {
class FormatterBase;
}  // namespace CLI

namespace tandem::app {

std::shared_ptr<CLI::FormatterBase> MakeHelpText();

}  // namespace tandem::app
