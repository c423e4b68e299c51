// What `tandem import` shows.
#pragma once

#include <string>

#include "base/json/json.h"
#include "import/import_data.h"

namespace tandem::app {

// The report as it is printed: sources and what their columns mean, counts, splits; in a trial also
// the first rows as they were understood.
Json ImportJson(const import_data::ImportReport& report, bool is_trial);

// Says on stderr what may change what the data mean: rejected rows, contradicting grades, labels
// that were taken for thumbs, grades that are all above 0, positions that are not known.
void WarnOfImport(const import_data::ImportReport& report);

}  // namespace tandem::app
