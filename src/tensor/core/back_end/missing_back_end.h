// What is thrown where a back end is asked for and there is none.
#pragma once

#include <string>
#include <utility>

#include "base/error.h"

namespace tandem::tensor {

// Its message says what brings a back end of any kind. Who needs one of a certain kind catches it,
// and says what brings that one.
class MissingBackEnd : public UsageError {
 public:
  // `missed` is a clause that says where there is none: "libtandem-torch.so is not in FOLDER".
  MissingBackEnd(const std::string& message, std::string missed)
      : UsageError(message), missed_(std::move(missed)) {}
  const std::string& missed() const { return missed_; }

 private:
  std::string missed_;
};

}  // namespace tandem::tensor
