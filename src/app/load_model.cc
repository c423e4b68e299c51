#include "app/load_model.h"

#include "app/globals.h"
#include "tensor/precision.h"
#include "tensor/process.h"

namespace tandem::app {

std::unique_ptr<model::DualEncoder> LoadModel(const ModelFlags& flags,
                                              const std::string& query_prompt) {
  tensor::SetUpProcess(GlobalOptions().threads);
  model::LoadOptions options{.max_query_tokens = flags.max_query_tokens,
                             .max_document_tokens = flags.max_document_tokens,
                             .training = {.what = model::Trained::kNothing}};
  if (!query_prompt.empty()) options.query_prompt = query_prompt;
  return model::DualEncoder::Load(flags.model, options);
}

search::EncodeOptions BulkOptions() {
  const std::string& precision = GlobalOptions().precision;
  return {.precision = tensor::ResolvePrecision(precision.empty() ? "fp32" : precision),
          .threads = Threads()};
}

}  // namespace tandem::app
