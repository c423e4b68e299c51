#include "tensor/machine/process.h"

#include <ATen/Parallel.h>

#include "base/process/threads.h"
#include "tensor/isa/isa.h"
#include "tensor/memory/page_arena.h"

namespace tandem::tensor {

void SetUpProcess(int threads) {
  ApplyIsa();
  UseTensorArena();
  at::set_num_threads(threads > 0 ? threads : UsableThreads());
}

}  // namespace tandem::tensor
