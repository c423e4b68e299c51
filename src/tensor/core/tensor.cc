#include "tensor/core/tensor.h"

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "tensor/core/gradients/tape.h"
#include "tensor/core/make.h"

namespace tandem::tensor {
namespace {

bool IsRecorded(const Tensor& tensor) { return GradEnabled() && tensor.requires_grad(); }

// A gradient of these rows as one of the whole tensor: zero elsewhere.
BackwardOfOutput PlaceRows(const Tensor& whole, int64_t start, int64_t length) {
  return [sizes = whole.sizes(), start, length](const Tensor& grad) {
    const Tensor placed = Zeros(sizes, grad.dtype(), grad.device());
    placed.narrow(0, start, length).copy_(grad.view(sizes.WithRows(length)));
    return std::vector<Tensor>{placed};
  };
}

void ExpectFirst(const char* function, const Tensor& tensor, int64_t dimension) {
  if (dimension == 0 && tensor.dim() > 0) return;
  throw std::logic_error(fmt::format(
      "{}: expected dimension 0, the only one that there are views along, found {} of {}"
      " (Columns copies ranges of columns)",
      function, dimension, tensor.Text()));
}

}  // namespace

Tensor::Tensor(StorageRef storage, size_t offset, const Shape& shape, DType type) {
  if (storage.get() == nullptr) throw std::logic_error("a tensor needs a storage, found none");
  const auto elements = static_cast<size_t>(shape.numel());
  if (offset > storage->bytes() || elements > (storage->bytes() - offset) / ElementSize(type)) {
    throw std::logic_error(fmt::format("{} {} at byte {} does not fit a storage of {} bytes",
                                       Name(type), shape.Text(), offset, storage->bytes()));
  }
  std::byte* data = storage->data() + offset;
  body_ = std::make_shared<internal::TensorBody>(
      internal::TensorBody{type, shape, std::move(storage), data, nullptr});
}

void Tensor::ThrowUndefined() {
  throw std::logic_error("expected a tensor, found an undefined one");
}

void Tensor::ThrowWrongType(DType wanted) const {
  throw std::logic_error(
      fmt::format("expected a tensor of {} on the processor, found {}", Name(wanted), Text()));
}

std::string Tensor::Text() const {
  if (!defined()) return "undefined";
  return fmt::format("{} {}{}", Name(dtype()), sizes().Text(),
                     is_cpu() ? "" : " on " + device().str());
}

Tensor Tensor::ViewOf(const Shape& shape, int64_t first_element) const {
  const auto skipped = static_cast<size_t>(first_element) * ElementSize(dtype());
  return {storage(), static_cast<size_t>(body_->data - storage()->data()) + skipped, shape,
          dtype()};
}

Tensor Tensor::detach() const { return ViewOf(sizes(), 0); }

Tensor Tensor::narrow(int64_t dimension, int64_t start, int64_t length) const {
  ExpectFirst("narrow", *this, dimension);
  if (start < 0 || length < 0 || start > size(0) - length) {
    throw std::logic_error(
        fmt::format("narrow: {} has no {} rows from row {} on", Text(), length, start));
  }
  Tensor rows = ViewOf(sizes().WithRows(length), start * sizes().row_elements());
  if (!IsRecorded(*this)) return rows;
  return WithBackward("narrow", rows, {*this}, PlaceRows(*this, start, length));
}

Tensor Tensor::select(int64_t dimension, int64_t index) const {
  ExpectFirst("select", *this, dimension);
  if (index < 0 || index >= size(0)) {
    throw std::logic_error(fmt::format("select: {} has no row {}", Text(), index));
  }
  Tensor row = ViewOf(sizes().WithoutFirst(), index * sizes().row_elements());
  if (!IsRecorded(*this)) return row;
  return WithBackward("select", row, {*this}, PlaceRows(*this, index, 1));
}

Tensor Tensor::view(const Shape& shape) const {
  if (shape.numel() != numel()) {
    throw std::logic_error(
        fmt::format("view: {} has not as many elements as {}", Text(), shape.Text()));
  }
  Tensor same = ViewOf(shape, 0);
  if (!IsRecorded(*this)) return same;
  return WithBackward("view", same, {*this}, [sizes = sizes()](const Tensor& grad) {
    return std::vector{grad.view(sizes)};
  });
}

Tensor Tensor::clone() const {
  const Tensor copy = EmptyLike(*this);
  copy.copy_(*this);
  if (!IsRecorded(*this)) return copy;
  return WithBackward("clone", copy, {*this}, [](const Tensor& grad) { return std::vector{grad}; });
}

Tensor Tensor::to(DType type) const {
  if (type == dtype()) return *this;
  const Tensor converted = Empty(sizes(), type, device());
  converted.copy_(*this);
  if (!IsFloating(type) || !IsRecorded(*this)) return converted;
  // The pass converts a gradient to its tensor's type.
  return WithBackward("to", converted, {*this},
                      [](const Tensor& grad) { return std::vector{grad}; });
}

int64_t Tensor::storage_offset() const {
  return (body().data - storage()->data()) / static_cast<int64_t>(ElementSize(dtype()));
}

void Tensor::set_data(const Tensor& from) const {
  if (from.sizes() != sizes() || from.dtype() != dtype()) {
    throw std::logic_error(fmt::format("set_data: expected {}, found {}", Text(), from.Text()));
  }
  body_->storage = from.storage();
  body_->data = from.body_->data;
}

}  // namespace tandem::tensor
