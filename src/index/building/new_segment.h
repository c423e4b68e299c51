// Making a segment: a work folder that is filled, finished and renamed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/process/interrupt.h"
#include "index/folder/manifest.h"

namespace tandem::index {

// Says how changes of an index go on.
struct ChangeOptions {
  int threads = 1;
  uint64_t memory = uint64_t{2} << 30;  // bytes, for building a kind (BuildOptions)
  StopRequest stop;
};

// The folder in which a change that `source` describes (lines of text that decide its bytes) is
// made. One that an earlier process left is taken up again, also where it has its segment's name
// already; unless `resumable`, it is made anew. Sources of several changes have several folders.
// Throws OutputError.
std::filesystem::path TakeWorkFolder(const std::filesystem::path& folder, const std::string& source,
                                     bool resumable, const Manifest& manifest);

// Makes an empty folder for a change that cannot be taken up again.
std::filesystem::path MakeWorkFolder(const std::filesystem::path& folder);

struct SegmentPlan {
  uint64_t rows = 0;
  KindChoice choice;
};

// Builds the kind over the vectors in `work`, which has all other files of a segment, flushes all
// files and gives the folder the name of a segment of `manifest`'s generation. The manifest does
// not change. Throws OutputError, Interrupted and what the kind throws.
SegmentRecord FinishSegment(const std::filesystem::path& folder, const std::filesystem::path& work,
                            const Manifest& manifest, const SegmentPlan& plan,
                            const ChangeOptions& options);

// The kind of a segment of `rows` rows that is added to an index of `choice`: the index's own, or
// fp32 for few rows of an approximate one, which are searched as fast without its structures.
KindChoice ChoiceForSegment(const KindChoice& choice, uint64_t rows);
// Below so many rows a segment is small.
inline constexpr uint64_t kSmallSegmentRows = 16384;

}  // namespace tandem::index
