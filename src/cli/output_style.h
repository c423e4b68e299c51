// How results are printed on standard output.
#pragma once

#include "report/tables/table.h"

namespace tandem::app {

// The width of the terminal that standard output is, with the best of a table in bold unless
// colours are refused; where it is none, 80 columns and nothing in bold.
report::TextStyle OutputStyle();

// Whether the user refuses colours and bold: NO_COLOR is set and not empty.
bool NoColourIsAsked();

}  // namespace tandem::app
