#include "import/output/rejected_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"
#include "data/lines/json_text.h"

namespace tandem::import_data {
namespace {

std::string LineOf(const Row& row) {
  return row.element == 0 ? std::to_string(row.line)
                          : fmt::format("{}, element {}", row.line, row.element);
}

}  // namespace

void RejectedRows::Add(const Row& row) {
  ++count_;
  const auto known = std::find_if(kinds_.begin(), kinds_.end(), [&](const RejectedKind& kind) {
    return kind.kind == row.problem_kind;
  });
  if (known != kinds_.end()) {
    ++known->rows;
  } else {
    kinds_.push_back({.kind = std::string(row.problem_kind),
                      .rows = 1,
                      .first_file = std::string(row.file),
                      .first_line = LineOf(row),
                      .first_reason = row.problem});
  }
  if (path_.empty()) return;
  if (file_ == nullptr) file_ = std::make_unique<AtomicFile>(path_);
  line_ = R"({"file": )";
  data::AppendJsonString(line_, RepairUtf8(row.file));
  line_ += R"(, "line": )" + std::to_string(row.line);
  if (row.element > 0) line_ += R"(, "element": )" + std::to_string(row.element);
  line_ += R"(, "reason": )";
  data::AppendJsonString(line_, RepairUtf8(row.problem));
  line_ += R"(, "row": )";
  data::AppendJsonString(line_, RepairUtf8(row.raw));
  line_ += "}\n";
  file_->Write(line_);
}

void RejectedRows::Commit() {
  if (file_ != nullptr) file_->Commit();
  file_.reset();
}

}  // namespace tandem::import_data
