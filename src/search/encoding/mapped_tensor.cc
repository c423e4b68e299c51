#include "search/encoding/mapped_tensor.h"

#include <ATen/ops/from_blob.h>

#include <memory>
#include <utility>

namespace tandem::search {

at::Tensor TensorOf(embeddings::MappedRows mapped) {
  const auto held = std::make_shared<const embeddings::MappedRows>(std::move(mapped));
  return at::from_blob(
      const_cast<float*>(held->values.data()),
      {static_cast<int64_t>(held->rows), static_cast<int64_t>(held->columns)}, [held](void*) {},
      at::kFloat);
}

}  // namespace tandem::search
