// All threads of the machine, and the instruction set that TANDEM_ISA asks for.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "base/error.h"
#include "tensor/machine/process.h"

namespace tandem::tensor {
namespace {

class Machine : public testing::Environment {
 public:
  void SetUp() override {
    try {
      SetUpProcess(0);
    } catch (const UsageError& error) {
      if (std::getenv("TANDEM_ISA_MAY_BE_MISSING") == nullptr) throw;
      std::puts(error.what());
      std::exit(77);  // ctest counts it as skipped
    }
  }
};
const testing::Environment* const kMachine = testing::AddGlobalTestEnvironment(new Machine);

}  // namespace
}  // namespace tandem::tensor
