// Rows of embeddings in a file, as a tensor.
#pragma once

#include "embeddings/mapped_rows.h"
#include "tensor/core/tensor.h"

namespace tandem::search {

// float32 [rows, columns]: a view of the file's pages, which it keeps. It may be read only, and
// needs no memory of its own.
tensor::Tensor TensorOf(embeddings::MappedRows mapped);

}  // namespace tandem::search
