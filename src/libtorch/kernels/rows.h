// Steps over rows (operations/row_step.h) by one kernel each way: rows.cu, and for rows that are
// not normalised elements.cu.
#pragma once

#include <ATen/core/Tensor.h>

#include "libtorch/operations/row_step.h"

namespace tandem::libtorch::kernels {

// Rows on a GPU that Serve takes, in float, bf16 or half, of a width that is a multiple of 4; up to
// 1,024 where they are normalised, by parameters in float; where they are not, the result has the
// type of x.
bool ServesRows(const portable::RowStep& step);
// Does a step that ServesRows takes.
at::Tensor DoRows(const portable::RowStep& step);

}  // namespace tandem::libtorch::kernels
