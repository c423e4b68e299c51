// EXPECT that a statement throws an Error with this exit code and all of these texts in its
// message.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"

namespace tandem {

inline void ExpectError(const std::function<void()>& body, ExitCode code,
                        const std::vector<std::string>& texts) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), code) << error.what();
    for (const std::string& text : texts) EXPECT_THAT(error.what(), testing::HasSubstr(text));
    return;
  }
  ADD_FAILURE() << "no error; one with '" << texts.front() << "' was expected";
}

}  // namespace tandem
