// Operations that gradients flow through, beside those of encoders (tensor/ops.h): what joins,
// scores, pooling, adapters and losses are made of. Each gives a new tensor. Arithmetic is for
// floating types; numbers of 16 bits are computed as floats. All throw std::logic_error for shapes
// and types other than those named, and for tensors of different devices. On the processor sums are
// in the order of the elements, in the elements' type; a device has its own order.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>

#include "tensor/core/tensor.h"

namespace tandem::tensor {

// The tensors one after the other: along dimension 0, for tensors [n_i, ...] that differ in n_i
// alone; along dimension 1 for [n, m_i]. Of one type. At least one tensor; any may be without rows.
Tensor Cat(std::span<const Tensor> tensors, int64_t dimension = 0);
Tensor Cat(std::initializer_list<Tensor> tensors, int64_t dimension = 0);

// A copy of columns [start, start + length) of x [n, m].
Tensor Columns(const Tensor& x, int64_t start, int64_t length);
// The rows of x [n, ...] that `rows`, int64 or int32 [k], names, [k, ...]. The gradient of a row
// that is named more than once is the sum, in the order in which it is named.
Tensor TakeRows(const Tensor& x, const Tensor& rows);
// x [n, ...] with zeros in the rows where `cleared`, bool [n], is true; these get no gradient.
Tensor ClearRows(const Tensor& x, const Tensor& cleared);

// Elements of tensors of one shape and type.
Tensor Add(const Tensor& a, const Tensor& b);
Tensor Mul(const Tensor& a, const Tensor& b);
Tensor Mul(const Tensor& a, double factor);
// `row` [m] added to each row of x [n, m], of one type. Its gradient is the sum of the rows', in
// their order.
Tensor AddToRows(const Tensor& x, const Tensor& row);
// The sum of all elements, of shape []. 0 for a tensor without elements.
Tensor Sum(const Tensor& x);

// Matrix products of one type, float or double. Zeros where the sums have no terms. On the
// processor they take all threads; each sum is in the order of its terms, with fused multiply-adds
// where the processor has them, whatever the number of threads (core/products/products.h). a b, [n,
// m], for a [n, k] and b [k, m].
Tensor Product(const Tensor& a, const Tensor& b);
// a b^T, [n, k], for a [n, m] and b [k, m].
Tensor ProductTransposed(const Tensor& a, const Tensor& b);
// a^T b, [k, m], for a [n, k] and b [n, m].
Tensor TransposedProduct(const Tensor& a, const Tensor& b);
// Each row of x [n, m], float or double, divided by its length, which is taken to be at least
// `least`. Where `least` is 0, a row of zeros stays, and gets no gradient. (A row shorter than
// `least` is divided by it as by a constant.)
Tensor UnitRows(const Tensor& x, double least = 0);
// Each row of x [n, m], float or double, less its mean, divided by the root of its variance plus
// `epsilon` (which is above 0), times gamma [m], plus beta [m]; undefined: plus nothing. All of x's
// type. Means, variances and the sums of gradients are in double.
Tensor LayerNormRows(const Tensor& x, const Tensor& gamma, const Tensor& beta, double epsilon);

}  // namespace tandem::tensor
