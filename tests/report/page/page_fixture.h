// What the tests of a report's page share: made runs, the page of them, and what it holds.
#pragma once

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "report/example_run.h"
#include "report/page/page.h"
#include "report/records/report_input.h"
#include "support/temporary_folder.h"

namespace tandem::report {

inline std::string PageOf(const ReportInput& input) { return MakeReport(input).front().bytes; }

// Says whether the page holds a text; the message of a failure does not print the page.
inline testing::AssertionResult Holds(const std::string& page, const std::string& text) {
  if (page.find(text) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "the page lacks " << text;
}

// What stands between `begin` and `end`, for each time that it does.
inline std::vector<std::string> Between(const std::string& page, const std::string& begin,
                                        const std::string& end) {
  std::vector<std::string> found;
  for (size_t at = page.find(begin); at != std::string::npos; at = page.find(begin, at)) {
    at += begin.size();
    found.push_back(page.substr(at, page.find(end, at) - at));
  }
  return found;
}

inline std::vector<std::string> FigureNames(const std::string& page) {
  return Between(page, "<figure id=\"figure-", "\"");
}

class PageTest : public testing::Test {
 protected:
  std::string Run(const std::string& name) const { return (folder_.path() / name).native(); }
  ReportInput Read(const std::vector<std::string>& names) const {
    std::vector<std::string> paths;
    for (const std::string& name : names) paths.push_back(Run(name));
    return ReadReportInput(paths, {});
  }
  TemporaryFolder folder_;
};

}  // namespace tandem::report
