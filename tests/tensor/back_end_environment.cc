// Computes portable forms by the back end of libtorch in this test program.
#include <gtest/gtest.h>

#include "libtorch/use.h"

namespace tandem::tensor {
namespace {

class BackEnd : public testing::Environment {
 public:
  void SetUp() override { libtorch::UseInThisProcess(); }
};
const testing::Environment* const kBackEnd = testing::AddGlobalTestEnvironment(new BackEnd);

}  // namespace
}  // namespace tandem::tensor
