// The work of kinds/hnsw.cc: graph/hnsw_build.cc, graph/hnsw_index.cc.
#include "index/approximate.h"

namespace tandem::index {

extern const IndexKindInfo kHnsw;
extern const IndexKindMaker kHnswMaker{&kHnsw, BuildHnsw, OpenHnsw};

}  // namespace tandem::index
