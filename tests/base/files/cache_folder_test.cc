#include "base/files/cache_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <optional>
#include <string>

#include "base/error.h"
#include "support/captured_messages.h"

namespace tandem {
namespace {

// Gives a variable a value, or none for null, and puts back what it had.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* before = ::getenv(name)) before_ = before;
    Set(value);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { Set(before_ ? before_->c_str() : nullptr); }

 private:
  void Set(const char* value) { value == nullptr ? ::unsetenv(name_) : ::setenv(name_, value, 1); }
  const char* name_;
  std::optional<std::string> before_;
};

TEST(CacheFolder, IsWhatTheFirstVariableThatIsSetSays) {
  const Variable home("HOME", "/home/someone"), xdg("XDG_CACHE_HOME", nullptr),
      own("TANDEM_CACHE", nullptr);
  EXPECT_EQ(CacheFolder(), "/home/someone/.cache/tandem");
  const Variable other("XDG_CACHE_HOME", "/var/cache/someone");
  EXPECT_EQ(CacheFolder(), "/var/cache/someone/tandem");
  const Variable given("TANDEM_CACHE", "/scratch/tandem");
  EXPECT_EQ(CacheFolder(), "/scratch/tandem");
  const Variable nothing("TANDEM_CACHE", "");
  EXPECT_EQ(CacheFolder(), "");
}

TEST(CacheFolder, RelativePathsAreNoFolders) {
  const Variable home("HOME", "/home/someone"), xdg("XDG_CACHE_HOME", "cache"),
      own("TANDEM_CACHE", nullptr);
  EXPECT_EQ(CacheFolder(), "/home/someone/.cache/tandem");
  const Variable given("TANDEM_CACHE", "cache");
  EXPECT_THROW(
      {
        try {
          CacheFolder();
        } catch (const UsageError& error) {
          EXPECT_THAT(error.what(),
                      testing::HasSubstr("TANDEM_CACHE is \"cache\", which is no abs"));
          throw;
        }
      },
      UsageError);
}

TEST(CacheFolder, WithoutAHomeNothingIsKeptWhichIsSaid) {
  const Variable home("HOME", nullptr), xdg("XDG_CACHE_HOME", nullptr),
      own("TANDEM_CACHE", nullptr);
  const CapturedMessages messages;
  EXPECT_EQ(CacheFolder(), "");
  EXPECT_THAT(messages.text(), testing::HasSubstr("HOME is not set"));
}

TEST(CacheFolder, LimitIsAnAmountOfBytes) {
  const Variable own("TANDEM_CACHE", "/scratch/tandem");
  {
    const Variable limit("TANDEM_CACHE_BYTES", nullptr);
    EXPECT_EQ(CacheLimit(), uint64_t{16} << 30);
  }
  {
    const Variable limit("TANDEM_CACHE_BYTES", "1.5GiB");
    EXPECT_EQ(CacheLimit(), uint64_t{3} << 29);
    EXPECT_EQ(CacheFolder(), "/scratch/tandem");
  }
  const Variable none("TANDEM_CACHE_BYTES", "0");
  EXPECT_EQ(CacheFolder(), "");
}

TEST(CacheFolder, ALimitThatIsNoAmountNamesItsVariable) {
  const Variable own("TANDEM_CACHE", "/scratch/tandem");
  for (const char* value : {"much", "-1", "5 apples", "nan", "GiB"}) {
    const Variable limit("TANDEM_CACHE_BYTES", value);
    try {
      CacheFolder();
      ADD_FAILURE() << value;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(),
                  testing::HasSubstr(std::string("TANDEM_CACHE_BYTES is \"") + value + "\""));
    }
  }
}

}  // namespace
}  // namespace tandem
