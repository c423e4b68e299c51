#include "index/blas.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <stdexcept>

#include "base/error.h"

namespace tandem::index {
namespace {

// All symbols are bound here: bound later, some of OpenMP's functions could be those of a library
// that Python has loaded in the meantime.
void* Load(const char* name) {
  void* library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library != nullptr) return library;
  throw UsageError(
      fmt::format("approximate indexes need BLAS and LAPACK, and {} cannot be loaded: {}; install "
                  "libopenblas0-openmp, or take the kind fp32, bf16 or int8",
                  name, ::dlerror()));
}

// LAPACK brings the BLAS that it was linked with, so that both are of one library.
void* Lapack() {
  static void* const library = Load("liblapack.so.3");
  return library;
}

void* Blas() {
  static void* const library = Load("libblas.so.3");
  return library;
}

// Calls a function of a library. Arguments of Fortran are pointers.
template <typename... Arguments>
int Call(void* library, const char* name, Arguments*... arguments) {
  void* const function = ::dlsym(library, name);
  if (function == nullptr) throw std::runtime_error(fmt::format("BLAS and LAPACK lack {}", name));
  return reinterpret_cast<int (*)(Arguments * ...)>(function)(arguments...);
}

}  // namespace

void LoadBlas() {
  Blas();
  Lapack();
}

}  // namespace tandem::index

// What FAISS calls, with the names and arguments of the reference BLAS and LAPACK. They are this
// program's alone: libraries that need BLAS find the system's.
#pragma GCC visibility push(hidden)
extern "C" {

using tandem::index::Blas;
using tandem::index::Call;
using tandem::index::Lapack;

int sgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
           const float* alpha, const float* a, const int* lda, const float* b, const int* ldb,
           const float* beta, float* c, const int* ldc) {
  return Call(Blas(), "sgemm_", transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

int dgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
           const double* alpha, const double* a, const int* lda, const double* b, const int* ldb,
           const double* beta, double* c, const int* ldc) {
  return Call(Blas(), "dgemm_", transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

int ssyrk_(const char* uplo, const char* trans, const int* n, const int* k, const float* alpha,
           const float* a, const int* lda, const float* beta, float* c, const int* ldc) {
  return Call(Blas(), "ssyrk_", uplo, trans, n, k, alpha, a, lda, beta, c, ldc);
}

int sgeqrf_(const int* m, const int* n, float* a, const int* lda, float* tau, float* work,
            const int* lwork, int* info) {
  return Call(Lapack(), "sgeqrf_", m, n, a, lda, tau, work, lwork, info);
}

int sorgqr_(const int* m, const int* n, const int* k, float* a, const int* lda, const float* tau,
            float* work, const int* lwork, int* info) {
  return Call(Lapack(), "sorgqr_", m, n, k, a, lda, tau, work, lwork, info);
}

int dsyev_(const char* jobz, const char* uplo, const int* n, double* a, const int* lda, double* w,
           double* work, const int* lwork, int* info) {
  return Call(Lapack(), "dsyev_", jobz, uplo, n, a, lda, w, work, lwork, info);
}

int sgesvd_(const char* jobu, const char* jobvt, const int* m, const int* n, float* a,
            const int* lda, float* s, float* u, const int* ldu, float* vt, const int* ldvt,
            float* work, const int* lwork, int* info) {
  return Call(Lapack(), "sgesvd_", jobu, jobvt, m, n, a, lda, s, u, ldu, vt, ldvt, work, lwork,
              info);
}

int dgesvd_(const char* jobu, const char* jobvt, const int* m, const int* n, double* a,
            const int* lda, double* s, double* u, const int* ldu, double* vt, const int* ldvt,
            double* work, const int* lwork, int* info) {
  return Call(Lapack(), "dgesvd_", jobu, jobvt, m, n, a, lda, s, u, ldu, vt, ldvt, work, lwork,
              info);
}

}  // extern "C"
#pragma GCC visibility pop
