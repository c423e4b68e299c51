// The journal of a search: one JSON object a line, each of which is on the disk before the search
// goes on. What it says is done is not done again after a kill, and what comes next follows from it
// alone.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "dist/process_group.h"
#include "train/observers/line_log.h"

namespace tandem::tune {

class Journal {
 public:
  // Opens the journal, and makes it where it is missing. A last line without an end, which a killed
  // process has left, is cut off. In a group only rank 0 has the file; the rows are those of all.
  // Throws ModelError for a line that is no JSON object with "event".
  Journal(const std::filesystem::path& path, dist::ProcessGroup& group);

  const std::vector<Json>& rows() const { return rows_; }
  // The first row of an event; null: there is none.
  const Json* Find(std::string_view event) const;
  std::vector<const Json*> All(std::string_view event) const;
  // Appends the row that `make` gives on rank 0, and returns it. It has "event". `make` must not
  // use the group, since rank 0 alone calls it: what all measure together is measured before.
  const Json& Append(const std::function<Json()>& make);

 private:
  dist::ProcessGroup& group_;
  std::unique_ptr<train::LineLog> log_;  // only on rank 0
  std::vector<Json> rows_;
};

}  // namespace tandem::tune
