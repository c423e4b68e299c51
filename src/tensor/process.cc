#include "tensor/process.h"

#include <ATen/Parallel.h>

#include "base/threads.h"
#include "tensor/isa.h"
#include "tensor/page_arena.h"

namespace tandem::tensor {

void SetUpProcess(int threads) {
  ApplyIsa();
  UseTensorArena();
  at::set_num_threads(threads > 0 ? threads : UsableThreads());
}

}  // namespace tandem::tensor
