#include "index/approximate.h"

namespace tandem::index {

extern const IndexKindInfo kHnsw;
extern const IndexKindInfo kIvfFlat;
extern const IndexKindInfo kIvfPq;

extern const IndexKindMaker kHnswMaker{&kHnsw, BuildHnsw, OpenHnsw};
extern const IndexKindMaker kIvfFlatMaker{&kIvfFlat, BuildIvfFlat, OpenIvfFlat};
extern const IndexKindMaker kIvfPqMaker{&kIvfPq, BuildIvfPq, OpenIvfPq};

}  // namespace tandem::index
