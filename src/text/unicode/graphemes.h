// Extended grapheme clusters: what readers see as one character (Unicode's UAX 29).
#pragma once

namespace tandem::text {

// The end of the cluster that starts at `p`. [p, end) is valid UTF-8 and not empty. Two regional
// indicators (a flag) are two clusters here: who asks looks only at clusters of up to five bytes.
const char* ClusterEnd(const char* p, const char* end);

}  // namespace tandem::text
