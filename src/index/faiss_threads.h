// Says how many threads FAISS works on.
#pragma once

namespace tandem::index {

// While it lives, FAISS and the BLAS that it calls work on so many threads where the calling thread
// is the one that made it. OpenMP's number of threads belongs to the calling thread, so that others
// are not concerned. Loads that BLAS before (index/blas.h).
class FaissThreads {
 public:
  // Throws UsageError where BLAS cannot be loaded.
  explicit FaissThreads(int threads);
  FaissThreads(const FaissThreads&) = delete;
  FaissThreads& operator=(const FaissThreads&) = delete;
  ~FaissThreads();

 private:
  int before_;
};

}  // namespace tandem::index
