#include "index/faiss_threads.h"

#include <omp.h>

#include "index/blas.h"

namespace tandem::index {

FaissThreads::FaissThreads(int threads) : before_(omp_get_max_threads()) {
  LoadBlas();
  omp_set_num_threads(threads);
}
FaissThreads::~FaissThreads() { omp_set_num_threads(before_); }

}  // namespace tandem::index
