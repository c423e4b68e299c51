// The work of kinds/ivf_pq.cc: lists/ivf_pq_index.cc.
#include "index/approximate.h"

namespace tandem::index {

extern const IndexKindInfo kIvfPq;
extern const IndexKindMaker kIvfPqMaker{&kIvfPq, BuildIvfPq, OpenIvfPq};

}  // namespace tandem::index
