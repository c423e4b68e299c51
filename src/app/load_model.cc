#include "app/load_model.h"

#include "app/globals.h"
#include "tensor/precision.h"
#include "tensor/process.h"

namespace tandem::app {

std::unique_ptr<model::DualEncoder> LoadModel(const ModelFlags& flags) {
  tensor::SetUpProcess(GlobalOptions().threads);
  return model::DualEncoder::Load(flags.model, {.max_query_tokens = flags.max_query_tokens,
                                                .max_document_tokens = flags.max_document_tokens});
}

search::EncodeOptions BulkOptions() {
  const std::string& precision = GlobalOptions().precision;
  return {.precision = tensor::ResolvePrecision(precision.empty() ? "fp32" : precision),
          .threads = Threads()};
}

}  // namespace tandem::app
