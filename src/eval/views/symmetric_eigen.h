// Eigenvectors of a small symmetric matrix.
#pragma once

#include <cstddef>
#include <vector>

namespace tandem::eval {

struct SymmetricEigen {
  std::vector<double> values;   // [n], descending
  std::vector<double> vectors;  // [n, n]: row i is the eigenvector of values[i], of length 1
};

// `matrix` [n, n], symmetric and finite. Cyclic Jacobi rotations, exact to rounding, for a few
// rows: O(n^3) a sweep and some eight sweeps. Written here because the one caller wants eight rows:
// a library for that would be a package that every build has to install.
SymmetricEigen EigenOfSymmetric(std::vector<double> matrix, size_t n);

}  // namespace tandem::eval
