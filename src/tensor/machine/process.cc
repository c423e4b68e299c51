#include "tensor/machine/process.h"

#include "base/process/threads.h"
#include "tensor/core/parallel.h"
#include "tensor/isa/isa.h"
#include "tensor/memory/page_arena.h"

namespace tandem::tensor {

void SetUpProcess(int threads) {
  ApplyIsa();
  UseTensorArena();
  SetThreadCount(threads > 0 ? threads : UsableThreads());
}

}  // namespace tandem::tensor
