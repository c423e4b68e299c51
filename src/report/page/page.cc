#include "report/page/page.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/files/atomic_folder.h"
#include "base/files/files.h"
#include "report/page/page_parts.h"

namespace tandem::report {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPageName = "index.html";
constexpr std::string_view kGenerator = R"(<meta name="generator" content="tandem report">)";

// Says whether `folder` may be replaced: there is nothing, or a report that was written before.
bool MayReplace(const fs::path& folder) {
  if (!fs::exists(folder)) return true;
  if (!fs::is_directory(folder)) return false;
  if (fs::is_empty(folder)) return true;
  const fs::path page = folder / kPageName;
  return fs::is_regular_file(page) &&
         ReadFile(page).substr(0, 4096).find(kGenerator) != std::string::npos;
}

void CheckMayReplace(const fs::path& folder) {
  if (MayReplace(folder)) return;
  throw UsageError(
      fmt::format("{} exists and is no report; give another folder as --output", folder.native()));
}

}  // namespace

std::vector<ReportFile> MakeReport(const ReportInput& input) {
  Page page;
  AddSummary(input, page);
  AddMeasures(input, page);
  AddTraining(input, page);
  AddDiscrimination(input, page);
  AddCalibration(input, page);
  AddQueries(input, page);
  AddViews(input, page);
  AddSampling(input, page);
  AddTimeAndMemory(input, page);
  AddWhatWasRun(input, page);
  AddWords(input, page);
  std::vector<ReportFile> files = {{kPageName, PageDocument(input, page)}};
  files.insert(files.end(), page.files().begin(), page.files().end());
  return files;
}

void CheckReportFolder(const fs::path& folder) {
  CheckMayReplace(folder);
  const AtomicFolder made_and_removed(folder);
}

void WriteReport(const std::vector<ReportFile>& files, const fs::path& folder) {
  CheckMayReplace(folder);
  AtomicFolder output(folder);
  for (const ReportFile& file : files) {
    const fs::path path = output.staging() / file.path;
    MakeFolder(path.parent_path());
    WriteFileAtomically(path, file.bytes);
  }
  output.Commit();
}

}  // namespace tandem::report
