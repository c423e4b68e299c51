#include "serve/http/bearer_tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "support/captured_messages.h"
#include "support/temporary_folder.h"

namespace tandem::serve {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(BearerTokensTest, EqualOnlyWhenAllIs) {
  EXPECT_TRUE(EqualInConstantTime("abc", "abc"));
  for (const char* other : {"", "ab", "abd", "abcc", "abcabc", "Abc"}) {
    EXPECT_FALSE(EqualInConstantTime(other, "abc")) << other;
    EXPECT_FALSE(EqualInConstantTime("abc", other)) << other;
  }
}

TEST(BearerTokensTest, FindsTokensOfTheScheme) {
  const std::vector<std::string> tokens = {"first", "second"};
  EXPECT_EQ(FindToken("Bearer second", tokens), 1u);
  EXPECT_EQ(FindToken("bearer  first", tokens), 0u);
  for (const char* wrong : {"", "Bearer", "Bearer ", "first", "Basic first", "Bearer firs"}) {
    EXPECT_FALSE(FindToken(wrong, tokens)) << wrong;
  }
}

class TokenFileTest : public testing::Test {
 protected:
  std::filesystem::path Write(const std::string& text) {
    const std::filesystem::path path = folder_.path() / "tokens";
    WriteFileAtomically(path, text);
    std::filesystem::permissions(path, std::filesystem::perms::owner_read);
    return path;
  }
  std::string ErrorOf(const std::string& text) {
    try {
      ReadTokens(Write(text));
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  }
  TemporaryFolder folder_;
};

TEST_F(TokenFileTest, HasOneTokenALine) {
  EXPECT_THAT(ReadTokens(Write("# ours\n0123456789abcdef\r\n\n another_long_token\n")),
              ElementsAre("0123456789abcdef", "another_long_token"));
}

TEST_F(TokenFileTest, SaysWhatIsWrong) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("there is no token"));
  EXPECT_THAT(ErrorOf("# none\n"), HasSubstr("there is no token"));
  EXPECT_THAT(ErrorOf("short\n"), HasSubstr("tokens:1: a token needs at least 16 characters"));
  EXPECT_THAT(ErrorOf("0123456789abcdef\nwith a space inside\n"), HasSubstr("tokens:2:"));
  EXPECT_THROW(ReadTokens(folder_.path() / "nothing"), DataError);
}

TEST_F(TokenFileTest, WarnsWhereOthersMayReadIt) {
  const CapturedMessages messages;
  const std::filesystem::path path = Write("0123456789abcdef\n");
  ReadTokens(path);
  EXPECT_EQ(messages.text(), "");
  std::filesystem::permissions(path, std::filesystem::perms::others_read,
                               std::filesystem::perm_options::add);
  ReadTokens(path);
  EXPECT_THAT(messages.text(), HasSubstr("chmod 600"));
}

}  // namespace
}  // namespace tandem::serve
