// The BLAS that FAISS multiplies with, loaded when an index of lists or a graph is first built or
// searched.
//
// OpenBLAS takes 128 MiB of addresses before `main`, and waits for ever where a limit does not give
// them. Commands without such an index, which are most, need none of it. So blas.cc defines the
// functions that FAISS calls, and each calls the library's own.
#pragma once

namespace tandem::index {

// Loads the system's BLAS and LAPACK, where they are not yet: OpenBLAS on Debian. To be called
// before FAISS is. Thread-safe. Throws UsageError where they cannot be loaded.
void LoadBlas();

}  // namespace tandem::index
