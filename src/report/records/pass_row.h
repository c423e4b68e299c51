// The pairs that the epochs of a sampler that prunes drew and left out, from the records in a run's
// folder sampling/.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/records/row_fields.h"

namespace tandem::report {

struct PassRow {
  static constexpr std::string_view kEvent = "pass";
  int64_t pass = 0;  // from 0
  int64_t batches = 0;
  int64_t queries = 0;  // that were drawn
  // Only a complete epoch has these.
  std::optional<int64_t> left_out;  // queries
  std::optional<double> mean_score_left_out;

  template <typename Row, typename Visitor>
  static void VisitFields(Row& row, Visitor& visitor) {
    visitor("pass", row.pass);
    visitor("batches", row.batches);
    visitor("queries", row.queries);
    visitor("left_out", row.left_out);
    visitor("mean_score_left_out", row.mean_score_left_out);
  }
};

// A record, or the name of a file that is damaged: a run goes on without it.
struct PassFile {
  std::string name;
  std::optional<PassRow> row;
  std::string fault = {};  // why there is no row
};

// Reads the records in `sampling`, by epoch; none where there is no such folder. At most `most` of
// them: the first and the newest.
std::vector<PassFile> ReadPasses(const std::filesystem::path& sampling, size_t most);

}  // namespace tandem::report
