// Cat, Stack and Columns.
#include <fmt/format.h>

#include <cstring>
#include <stdexcept>
#include <utility>
#include <vector>

#include "tensor/core/functions/dispatch.h"
#include "tensor/core/functions/functions.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/core/make.h"

namespace tandem::tensor {
namespace {

// Copies a block of rows that are `bytes` long, between arrays whose rows have these lengths.
void CopyBlock(const std::byte* from, size_t from_row, std::byte* to, size_t to_row, size_t bytes,
               int64_t rows) {
  for (int64_t i = 0; i < rows; ++i, from += from_row, to += to_row) std::memcpy(to, from, bytes);
}

// `part` becomes the columns of `whole` that begin at `start`, or with `into_part` the other way
// round.
void MoveColumns(const Tensor& whole, int64_t start, const Tensor& part, bool into_part) {
  const size_t element = ElementSize(whole.dtype());
  const size_t whole_row = static_cast<size_t>(whole.size(1)) * element;
  const size_t part_row = static_cast<size_t>(part.size(1)) * element;
  auto* columns = static_cast<std::byte*>(whole.data_ptr()) + static_cast<size_t>(start) * element;
  auto* own = static_cast<std::byte*>(part.data_ptr());
  if (into_part) {
    CopyBlock(columns, whole_row, own, part_row, part_row, part.size(0));
  } else {
    CopyBlock(own, part_row, columns, whole_row, part_row, part.size(0));
  }
}

Tensor CopiedColumns(const Tensor& x, int64_t start, int64_t length) {
  const Tensor part = Empty({x.size(0), length}, x.dtype());
  MoveColumns(x, start, part, /*into_part=*/true);
  return part;
}

Shape JoinedShape(std::span<const Tensor> tensors, int64_t dimension) {
  if (tensors.empty()) throw std::logic_error("Cat: expected at least one tensor, found none");
  const Tensor& first = tensors.front();
  const bool columns = dimension == 1;
  if ((dimension != 0 && !columns) || first.dim() == 0 || (columns && first.dim() != 2)) {
    throw std::logic_error(
        fmt::format("Cat: expected dimension 0, or 1 of tensors [n, m], found {} of {}", dimension,
                    first.Text()));
  }
  int64_t joined = 0;
  for (const Tensor& tensor : tensors) {
    const bool fits = tensor.dtype() == first.dtype() && tensor.dim() == first.dim() &&
                      (columns ? tensor.size(0) == first.size(0)
                               : tensor.sizes().WithoutFirst() == first.sizes().WithoutFirst());
    if (!fits) {
      throw std::logic_error(fmt::format("Cat along dimension {}: {} does not fit {}", dimension,
                                         tensor.Text(), first.Text()));
    }
    joined += tensor.size(dimension);
  }
  return columns ? Shape{first.size(0), joined} : first.sizes().WithRows(joined);
}

}  // namespace

Tensor Cat(std::span<const Tensor> tensors, int64_t dimension) {
  const Shape shape = JoinedShape(tensors, dimension);  // checks them, so it comes first
  if (const auto* device = internal::FunctionsFor("Cat", tensors)) {
    return device->Cat(tensors, dimension);
  }
  const Tensor out = Empty(shape, tensors.front().dtype());
  std::vector<int64_t> starts;
  int64_t start = 0;
  for (const Tensor& tensor : tensors) {
    const Tensor from = tensor.detach();
    starts.push_back(start);
    if (dimension == 0) {
      out.narrow(0, start, from.size(0)).copy_(from);
    } else {
      MoveColumns(out, start, from, /*into_part=*/false);
    }
    start += from.size(dimension);
  }
  if (!NeedsGradient(tensors)) return out;
  starts.push_back(start);
  return WithBackward("Cat", out, tensors,
                      [starts = std::move(starts), dimension](const Tensor& grad) {
                        std::vector<Tensor> parts;
                        for (size_t i = 0; i + 1 < starts.size(); ++i) {
                          const int64_t length = starts[i + 1] - starts[i];
                          parts.push_back(dimension == 0 ? grad.narrow(0, starts[i], length)
                                                         : CopiedColumns(grad, starts[i], length));
                        }
                        return parts;
                      });
}

Tensor Cat(std::initializer_list<Tensor> tensors, int64_t dimension) {
  return Cat(std::span(tensors.begin(), tensors.size()), dimension);
}

Tensor Columns(const Tensor& x, int64_t start, int64_t length) {
  if (x.dim() != 2 || start < 0 || length < 0 || start > x.size(1) - length) {
    throw std::logic_error(
        fmt::format("Columns: {} has no {} columns from column {} on", x.Text(), length, start));
  }
  if (const auto* device = internal::FunctionsFor("Columns", {&x})) {
    return device->Columns(x, start, length);
  }
  const Tensor out = CopiedColumns(x, start, length);
  if (!NeedsGradient({x})) return out;
  return WithBackward("Columns", out, {x}, [sizes = x.sizes(), start](const Tensor& grad) {
    const Tensor whole = Zeros(sizes, grad.dtype());
    MoveColumns(whole, start, grad, /*into_part=*/false);
    return std::vector{whole};
  });
}

}  // namespace tandem::tensor
