#include "search/encoding/mapped_tensor.h"

#include <memory>
#include <utility>

#include "tensor/core/make.h"
#include "tensor/core/tensor.h"

namespace tandem::search {

tensor::Tensor TensorOf(embeddings::MappedRows mapped) {
  const auto held = std::make_shared<const embeddings::MappedRows>(std::move(mapped));
  return tensor::FromBlob(const_cast<float*>(held->values.data()),
                          {static_cast<int64_t>(held->rows), static_cast<int64_t>(held->columns)},
                          tensor::kFloat, held);
}

}  // namespace tandem::search
