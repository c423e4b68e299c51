#include "embeddings/layouts/kept.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "embeddings/layouts/npy.h"
#include "support/captured_messages.h"
#include "support/temporary_folder.h"

namespace tandem::embeddings {
namespace {

class KeptTest : public testing::Test {
 protected:
  void Write() const {
    WriteKept(Folder(), provenance_, {.values = values_, .width = 2, .id = [](size_t row) {
                                        return row == 0 ? "a" : "b";
                                      }});
  }
  std::filesystem::path Folder() const { return folder_.path() / "kept"; }

  TemporaryFolder folder_;
  Provenance provenance_ = KeptProvenance(0x1f, 0xab, "fp32");
  std::vector<float> values_ = {1, 2, 3, 4};
};

// The bytes of source.txt are those of folders that earlier versions kept.
TEST_F(KeptTest, IsReadAsItWasWritten) {
  EXPECT_FALSE(ReadKept(Folder(), provenance_, 2, 2));
  Write();
  EXPECT_EQ(ReadFile(Folder() / "source.txt"),
            "model 000000000000001f\ntexts 00000000000000ab\nfp32\n");
  EXPECT_EQ(ReadFile(Folder() / "ids.txt"), "a\nb\n");
  const auto read = ReadKept(Folder(), provenance_, 2, 2);
  ASSERT_TRUE(read);
  EXPECT_THAT(read->values, testing::ElementsAreArray(values_));
  EXPECT_THROW(ReadKept(Folder(), provenance_, 3, 2), DataError);
  EXPECT_THROW(ReadKept(Folder(), provenance_, 2, 4), DataError);
}

TEST_F(KeptTest, AnotherProvenanceIsSaidAndNotRead) {
  Write();
  for (const Provenance& other :
       {KeptProvenance(0x1e, 0xab, "fp32"), KeptProvenance(0x1f, 0xac, "fp32"),
        KeptProvenance(0x1f, 0xab, "bf16")}) {
    const CapturedMessages messages;
    EXPECT_FALSE(ReadKept(Folder(), other, 2, 2));
    EXPECT_THAT(messages.text(), testing::HasSubstr("encoding again"));
  }
}

// The rows of before may be gone already.
TEST_F(KeptTest, AfterAnInterruptedWriteNothingIsKept) {
  Write();
  const auto interrupt = [](size_t) -> std::string_view { throw std::runtime_error("stopped"); };
  EXPECT_THROW(WriteKept(Folder(), provenance_, {.values = values_, .width = 2, .id = interrupt}),
               std::runtime_error);
  EXPECT_FALSE(ReadKept(Folder(), provenance_, 2, 2));
}

TEST_F(KeptTest, WithoutItsSourceAFolderIsNotItsOwn) {
  EXPECT_NO_THROW(CheckUsableForKept(Folder()));
  Write();
  EXPECT_NO_THROW(CheckUsableForKept(Folder()));
  ForgetKept(Folder());
  EXPECT_FALSE(ReadKept(Folder(), provenance_, 2, 2));
  EXPECT_THROW(CheckUsableForKept(Folder()), UsageError);
}

}  // namespace
}  // namespace tandem::embeddings
