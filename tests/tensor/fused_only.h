// Serves tests of what only the fused kernels promise: bytes, packed copies, notes.
#pragma once

#include <gtest/gtest.h>

#include "tensor/forms.h"

// Ends the test as skipped where TANDEM_FORMS names another form.
#define SKIP_UNLESS_FUSED()                                                         \
  do {                                                                              \
    if (tandem::tensor::UseForm::Wanted() != tandem::tensor::Form::kFused) {        \
      GTEST_SKIP() << "this is about the fused kernels; TANDEM_FORMS names others"; \
    }                                                                               \
  } while (false)
