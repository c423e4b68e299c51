// What `tandem import` shows.
#pragma once

#include <string>

#include "base/json/json.h"
#include "import/import_data.h"

namespace tandem::app {

struct ImportView {
  bool rows = false;         // also the first rows as they were understood
  bool whole_texts = false;  // of them; else their starts
};

// The report as it is printed: sources and what their columns mean, counts, splits.
Json ImportJson(const import_data::ImportReport& report, const ImportView& view);

// Says on stderr what may change what the data mean: rejected rows, contradicting grades, labels
// that were taken for thumbs, grades that are all above 0, positions that are not known.
void WarnOfImport(const import_data::ImportReport& report);

}  // namespace tandem::app
