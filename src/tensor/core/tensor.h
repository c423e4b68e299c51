// A tensor: elements of one type in memory, with a shape, and its place in a graph of gradients.
//
// What the CPU path computes with, and no more. Elements lie one after the other, the last
// dimension innermost, always: there are no strides. A view is a range of another tensor's rows
// (narrow, select) or the same elements in another shape (view), and shares its memory. Columns are
// copied (functions.h).
//
// A Tensor is a handle: copies of it are the same tensor, with one gradient, as with libtorch's.
// Functions that write to the elements are therefore const. Elements are read and written through
// pointers; threads that do so at the same time must agree among themselves. Everything else of one
// tensor may be used by several threads as long as none of them changes it.
//
// Every function but defined() and is_same() throws std::logic_error for an undefined tensor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "tensor/core/device.h"
#include "tensor/core/dtype.h"
#include "tensor/core/shape.h"
#include "tensor/core/storage.h"

namespace tandem::tensor {

struct SparseRows;  // core/sparse_rows.h

namespace internal {

struct History;  // of gradients: core/history.h

struct TensorBody {
  DType type;
  Shape shape;
  StorageRef storage;
  std::byte* data;                   // of the first element, in `storage`
  std::shared_ptr<History> history;  // null: nothing asks for a gradient
};

}  // namespace internal

class Tensor {
 public:
  // Undefined.
  Tensor() = default;
  // `type` elements of `shape` that begin `offset` bytes after the storage's. Throws
  // std::logic_error where these do not fit.
  Tensor(StorageRef storage, size_t offset, const Shape& shape, DType type);

  bool defined() const { return body_ != nullptr; }
  void reset() { body_.reset(); }
  // Says whether both handles are of one tensor (or undefined).
  bool is_same(const Tensor& other) const { return body_ == other.body_; }

  int64_t dim() const { return body().shape.dim(); }
  const Shape& sizes() const { return body().shape; }
  // The size of a dimension, the last one for -1. Throws std::logic_error for one that there is
  // not.
  int64_t size(int64_t dimension) const { return body().shape[dimension]; }
  int64_t numel() const { return body().shape.numel(); }
  size_t nbytes() const { return static_cast<size_t>(numel()) * ElementSize(dtype()); }
  DType dtype() const { return body().type; }
  Device device() const { return body().storage->device(); }
  bool is_cpu() const { return device().is_cpu(); }
  // "float32 [2, 3]", "float32 [2, 3] on cuda:0", "undefined".
  std::string Text() const;

  // The first element. Throws std::logic_error for a T that is not the elements' type, and for
  // memory that is not the processor's. It may be any address where there are no elements.
  template <Element T>
  T* data_ptr() const {
    if (body().type != kTypeOf<T> || !is_cpu()) ThrowWrongType(kTypeOf<T>);
    return reinterpret_cast<T*>(body_->data);
  }
  // The same for elements of any type; on a device what its back end makes of it.
  void* data_ptr() const { return body().data; }
  // The element of a tensor of one element, as T, from any device. Throws std::logic_error where it
  // has not one.
  template <Element T>
  T item() const;

  // Views. Indices that there are not throw std::logic_error; no rows are a view too.
  // Rows [start, start + length) of dimension 0, the only one that there are views along.
  Tensor narrow(int64_t dimension, int64_t start, int64_t length) const;
  // Row `index` without its dimension, which is 0.
  Tensor select(int64_t dimension, int64_t index) const;
  Tensor operator[](int64_t index) const { return select(0, index); }
  // The same elements in another shape of as many.
  Tensor view(const Shape& shape) const;
  Tensor flatten() const { return view({numel()}); }
  // Its memory without its history: no gradient flows through it.
  Tensor detach() const;

  // Copies. Gradients flow through them.
  Tensor clone() const;
  // The tensor itself where it has this type. Else each element is converted: to a type of fewer
  // bits to the nearest number (double to 16 bits by way of float), to whole numbers by leaving the
  // fraction away, to bool as "not 0".
  Tensor to(DType type) const;

  // Writes to the elements, which other tensors may share. They throw std::logic_error where
  // gradients are on and the tensor has a part in a graph, which would not see the write.
  // `from` has the same shape, and any type and device.
  const Tensor& copy_(const Tensor& from) const;
  const Tensor& zero_() const { return fill_(0); }
  const Tensor& fill_(double value) const;
  // Of floating types alone. Numbers of 16 bits are added and multiplied as floats.
  // `other` has the same shape, type and device.
  const Tensor& add_(const Tensor& other) const;
  const Tensor& mul_(double factor) const;

  // The storage, and where in it the first element is.
  const StorageRef& storage() const { return body().storage; }
  int64_t storage_offset() const;  // elements
  bool SharesStorage(const Tensor& other) const { return storage() == other.storage(); }
  // Storage::version, and what a writer through data_ptr calls.
  uint64_t version() const { return body().storage->version(); }
  void bump_version() const { body().storage->Bump(); }
  // Takes the memory of `from`, which has the same shape and type, and keeps the gradient.
  void set_data(const Tensor& from) const;

  // Gradients (core/gradients/tape.h says how they are computed).
  // Says whether it wants one: as a leaf that was asked to, or as a function of tensors that do.
  bool requires_grad() const;
  // Makes a leaf want a gradient or not. Throws std::logic_error for the output of an operation,
  // and for a type without fractions.
  const Tensor& set_requires_grad(bool wanted) const;
  // Says whether it is no operation's output.
  bool is_leaf() const;
  // What backward passes have added up for this leaf, of its shape and type; undefined: nothing
  // yet. Throws std::logic_error where the gradient is rows (row_grad).
  Tensor grad() const;
  // The rows of a table's gradient; null where there are none.
  const SparseRows* row_grad() const;
  // Replaces the gradient, rows too; undefined: there is none.
  void set_grad(Tensor gradient) const;
  // Runs the backward pass of this tensor, with its gradient, which has the tensor's shape and
  // type. Undefined stands for 1, and is for a tensor of one element.
  void backward(const Tensor& gradient = Tensor()) const;

  // For the graph.
  internal::TensorBody& body() const {
    if (body_ == nullptr) ThrowUndefined();
    return *body_;
  }
  // Says whether nobody else holds this tensor or its memory.
  bool Exclusive() const { return body_.use_count() == 1 && body_->storage.unique(); }
  bool OnlyHandle() const { return body_.use_count() == 1; }

 private:
  [[noreturn]] static void ThrowUndefined();
  [[noreturn]] void ThrowWrongType(DType wanted) const;
  Tensor ViewOf(const Shape& shape, int64_t first_element) const;

  std::shared_ptr<internal::TensorBody> body_;
};

}  // namespace tandem::tensor
