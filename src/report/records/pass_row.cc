#include "report/records/pass_row.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "sampling/audit/audit_file.h"

namespace tandem::report {
namespace {

namespace fs = std::filesystem;

PassRow RowOf(const sampling::PassRecord& record) {
  PassRow row{.pass = static_cast<int64_t>(record.pass),
              .batches = static_cast<int64_t>(record.batches.size())};
  for (const auto& batch : record.batches) row.queries += static_cast<int64_t>(batch.size());
  if (!record.complete) return row;
  row.left_out = static_cast<int64_t>(record.left_out.size());
  double sum = 0;
  size_t scored = 0;
  for (const sampling::LeftOut& one : record.left_out) {
    if (std::isnan(one.score)) continue;
    sum += one.score;
    ++scored;
  }
  if (scored > 0) row.mean_score_left_out = sum / static_cast<double>(scored);
  return row;
}

}  // namespace

std::vector<PassFile> ReadPasses(const fs::path& sampling, size_t most) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(sampling, error)) {
    const std::string name = entry.path().filename().native();
    if (name.ends_with(".bin") && name != sampling::kFirstScoresName) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  if (files.size() > most) {
    const size_t behind_first = files.size() - most + 1;
    files.erase(files.begin() + 1, files.begin() + static_cast<std::ptrdiff_t>(behind_first));
  }
  std::vector<PassFile> passes;
  for (const fs::path& file : files) {
    PassFile& pass = passes.emplace_back(PassFile{.name = file.filename().native()});
    try {
      pass.row = RowOf(sampling::ReadPassRecord(file));
    } catch (const DataError& error) {  // the row stays none
      pass.fault = error.what();
    }
  }
  return passes;
}

}  // namespace tandem::report
