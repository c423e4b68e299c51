#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "tensor/core/elements.h"
#include "tensor/core/functions/dispatch.h"
#include "tensor/core/functions/functions.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/core/make.h"
#include "tensor/reference/dot.h"

namespace tandem::tensor {
namespace {

// `lengths` [n]: of the rows, at least `least`.
template <typename T>
void Divide(const Tensor& x, double least, const Tensor& out, double* lengths) {
  const int64_t width = x.size(1);
  const T* rows = x.data_ptr<T>();
  T* out_rows = out.data_ptr<T>();
  internal::ForRows(x.size(0), width, [=](int64_t first, int64_t past) {
    for (int64_t i = first; i < past; ++i) {
      const T* row = rows + i * width;
      T* to = out_rows + i * width;
      lengths[i] = std::max(std::sqrt(loops::Dot(row, row, width)), least);
      const auto length = static_cast<T>(lengths[i]);
      for (int64_t c = 0; c < width; ++c) to[c] = length == 0 ? T{0} : row[c] / length;
    }
  });
}

// d L / d x = (g - y (y g)) / length for y = x / length; g / length where the length is `least`, a
// constant.
template <typename T>
void DivideBackward(const Tensor& out, const double* lengths, double least, const Tensor& grad,
                    const Tensor& grad_x) {
  const int64_t width = out.size(1);
  const T *rows = out.data_ptr<T>(), *grads = grad.data_ptr<T>();
  T* out_rows = grad_x.data_ptr<T>();
  internal::ForRows(out.size(0), width, [=](int64_t first, int64_t past) {
    for (int64_t i = first; i < past; ++i) {
      const T *y = rows + i * width, *g = grads + i * width;
      T* to = out_rows + i * width;
      const double inverse = lengths[i] == 0 ? 0 : 1 / lengths[i];
      const double along = lengths[i] > least ? loops::Dot(y, g, width) : 0;
      for (int64_t c = 0; c < width; ++c) {
        to[c] = static_cast<T>((static_cast<double>(g[c]) - along * static_cast<double>(y[c])) *
                               inverse);
      }
    }
  });
}

}  // namespace

Tensor UnitRows(const Tensor& x, double least) {
  const bool is_double = x.dtype() == kDouble;
  if (x.dim() != 2 || !(is_double || x.dtype() == kFloat) || !(least >= 0)) {
    throw std::logic_error(
        fmt::format("UnitRows: expected float32 or float64 [n, m] and a least length of 0 or more, "
                    "found {} and {}",
                    x.Text(), least));
  }
  if (const auto* device = internal::FunctionsFor("UnitRows", {&x})) {
    return device->UnitRows(x, least);
  }
  const Tensor out = EmptyLike(x);
  std::vector<double> lengths(static_cast<size_t>(x.size(0)));
  is_double ? Divide<double>(x, least, out, lengths.data())
            : Divide<float>(x, least, out, lengths.data());
  if (!NeedsGradient({x})) return out;
  return WithBackward(
      "UnitRows", out, {x},
      [out = out.detach(), lengths = std::move(lengths), least, is_double](const Tensor& grad) {
        const Tensor grad_x = EmptyLike(out);
        (is_double ? DivideBackward<double> : DivideBackward<float>)(out, lengths.data(), least,
                                                                     grad, grad_x);
        return std::vector{grad_x};
      });
}

}  // namespace tandem::tensor
