#include "base/files/cache_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <optional>
#include <string>

#include "base/error.h"

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

TEST(CacheFolder, ThereMustBeOne) {
  const Variable home("HOME", nullptr), xdg("XDG_CACHE_HOME", nullptr),
      own("TANDEM_CACHE", nullptr);
  EXPECT_THROW(CacheFolder(), UsageError);
}

}  // namespace
}  // namespace tandem
