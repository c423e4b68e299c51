// The work of kinds/ivf_flat.cc: lists/ivf_flat_index.cc.
#include "index/approximate.h"

namespace tandem::index {

extern const IndexKindInfo kIvfFlat;
extern const IndexKindMaker kIvfFlatMaker{&kIvfFlat, BuildIvfFlat, OpenIvfFlat};

}  // namespace tandem::index
