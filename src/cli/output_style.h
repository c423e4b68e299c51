// The style of results on standard output.
#pragma once

#include "report/tables/table.h"

namespace tandem::app {

// Returns the width of the terminal that standard output is, with the best value of a table in bold
// unless the user refuses colours. If it is no terminal, 80 columns and nothing in bold.
report::TextStyle OutputStyle();

// Whether the user refuses colours and bold: NO_COLOR is set and not empty.
bool NoColourIsAsked();

}  // namespace tandem::app
