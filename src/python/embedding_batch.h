// Batches of embeddings as Python's arrays and keyword arguments give them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstring>
#include <stdexcept>
#include <string>

#include "objective/embedding_loss.h"
#include "tensor/core/tensor.h"

namespace tandem::python {

template <typename T>
using OutArray = nanobind::ndarray<T, nanobind::ndim<2>, nanobind::c_contig, nanobind::device::cpu>;

// A batch of the objective `name` with its parameters and without arrays. Throws UsageError for
// what the objective does not have, or does not have together.
objective::EmbeddingBatch BatchWithParameters(const std::string& name,
                                              const nanobind::dict& parameters);
// Fills in the batch's arrays, which the package has made of what users gave. Throws UsageError for
// a wrong shape or value, and for an array that the objective needs and that is not there.
void ReadArrays(const nanobind::dict& arrays, objective::EmbeddingBatch& batch);

template <typename T>
void CopyTo(const OutArray<T>& out, const tensor::Tensor& gradient) {
  if (out.nbytes() != gradient.nbytes()) throw std::logic_error("a gradient of another shape");
  std::memcpy(out.data(), gradient.data_ptr<T>(), gradient.nbytes());
}

}  // namespace tandem::python
