// Messages for a person on stderr. stdout carries results only.
//
// Libraries report what was lossy (texts truncated, judgements dropped) once, as a counted warning;
// errors are thrown, not logged.
#pragma once

#include <string_view>

namespace tandem {

// Whether notes are written; warnings always are. Set once at start (`--quiet`).
void SetQuiet(bool quiet);
bool IsQuiet();

// A line of progress or fact; silent under `--quiet`.
void Note(std::string_view message);
// `warning: MESSAGE`; yellow on a terminal unless NO_COLOR is set.
void Warn(std::string_view message);
// `error: MESSAGE`; red on a terminal unless NO_COLOR is set.
void ReportError(std::string_view message);

// Whether stderr (stdout) is a terminal that may be coloured.
bool StderrIsTerminal();

}  // namespace tandem
