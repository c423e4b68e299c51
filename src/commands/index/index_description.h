// Describes an index as JSON, for `tandem index info` and `tandem inspect`.
#pragma once

#include <optional>
#include <string>

#include "base/json/json.h"
#include "index/folder/manifest.h"
#include "index/kind_file.h"

namespace tandem::app {

// Returns the recall of an approximate segment that was measured when it was built; none of an
// exact one.
std::optional<index::MeasuredRecall> MeasuredRecallOf(const std::string& folder,
                                                      const index::SegmentRecord& segment);

// Returns what docs/cli/index.md says of `info`: model, kind, fields, documents, bytes, segments.
Json DescribeIndex(const std::string& folder, const index::Manifest& manifest);

}  // namespace tandem::app
