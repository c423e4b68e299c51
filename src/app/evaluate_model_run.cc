// The work of `tandem evaluate --model`, which needs an encoder.
#include "app/torch_half.h"
#include "base/error.h"

namespace tandem::app {

void RunEvaluateModel(const EvaluateOptions&) {
  throw UsageError(
      "evaluate --model needs an encoder, and this build has none; evaluate a run: --qrels F --run "
      "F");
}

}  // namespace tandem::app
