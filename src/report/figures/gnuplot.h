// gnuplot as a child process.
#pragma once

#include <string>
#include <string_view>

namespace tandem::report {

// What `gnuplot -d -` writes on standard output for a script. No shell is involved, and files with
// a user's settings are not read. `program` is looked for in PATH. Throws UsageError where there is
// no such program (naming the Debian package) and Error (exit code 1) with gnuplot's own words
// where it fails, because the scripts are this program's.
std::string RunGnuplot(std::string_view script, const std::string& program = "gnuplot");

}  // namespace tandem::report
