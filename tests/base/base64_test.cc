#include "base/base64.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace tandem {
namespace {

TEST(Base64, DecodesWholeBytesOnly) {
  EXPECT_EQ(DecodeBase64(""), "");
  EXPECT_EQ(DecodeBase64("Zg=="), "f");
  EXPECT_EQ(DecodeBase64("Zm8="), "fo");
  EXPECT_EQ(DecodeBase64("Zm9v"), "foo");
  EXPECT_EQ(DecodeBase64("+/8="), "\xfb\xff");
  for (const std::string_view broken :
       {"Z", "Zg=", "Zg", "Zh==", "Zm9=", "Z===", "====", "Zg==Zg==", "Zm9v\n", "Zm-v", "=m9v"}) {
    EXPECT_FALSE(DecodeBase64(broken)) << broken;
  }
}

// The examples of RFC 4648, section 10, and bytes above 127.
TEST(Base64, EncodesWithPadding) {
  EXPECT_EQ(EncodeBase64(""), "");
  EXPECT_EQ(EncodeBase64("f"), "Zg==");
  EXPECT_EQ(EncodeBase64("fo"), "Zm8=");
  EXPECT_EQ(EncodeBase64("foo"), "Zm9v");
  EXPECT_EQ(EncodeBase64("foob"), "Zm9vYg==");
  EXPECT_EQ(EncodeBase64("fooba"), "Zm9vYmE=");
  EXPECT_EQ(EncodeBase64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(EncodeBase64("\xfb\xff"), "+/8=");
}

TEST(Base64, EncodesBehindWhatIsThere) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  for (size_t size = 250; size <= all.size(); ++size) {
    std::string out = "before";
    AppendBase64(all.substr(0, size), &out);
    EXPECT_EQ(out.substr(0, 6), "before");
    EXPECT_EQ(DecodeBase64(out.substr(6)), all.substr(0, size));
  }
}

}  // namespace
}  // namespace tandem
