#include "data/input/read_ahead.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <string>
#include <utility>

#include "base/error.h"

namespace tandem::data {
namespace {

// `bytes` in pieces of random sizes.
class Source final : public ByteSource {
 public:
  explicit Source(std::string bytes, bool fails = false)
      : bytes_(std::move(bytes)), fails_(fails) {}
  size_t Read(char* out, size_t size) override {
    if (at_ == bytes_.size()) {
      if (fails_) throw DataError("f", 0, "", "cannot be read: the stream is cut short");
      return 0;
    }
    const size_t most = std::min(size, bytes_.size() - at_);
    const size_t count = 1 + random_() % most;
    std::copy_n(bytes_.data() + at_, count, out);
    at_ += count;
    return count;
  }

 private:
  std::string bytes_;
  bool fails_;
  size_t at_ = 0;
  std::mt19937 random_{3};
};

std::string RandomBytes(size_t count) {
  std::mt19937 random(5);
  std::string bytes(count, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

// Appends what is read to `all`, `piece` bytes at a time.
void ReadAll(ByteSource& source, size_t piece, std::string& all) {
  std::string buffer(piece, '\0');
  while (const size_t got = source.Read(buffer.data(), piece)) all.append(buffer, 0, got);
}

TEST(ReadAhead, TheBytesAreThoseOfTheSource) {
  const std::string bytes = RandomBytes((size_t{1} << 23) + 12345);
  for (const size_t start_at : {size_t{0}, size_t{1000}, bytes.size() - 1, bytes.size() + 1}) {
    for (const size_t piece : {size_t{4093}, size_t{1} << 21}) {
      const auto source = ReadAhead(std::make_unique<Source>(bytes), start_at);
      std::string all;
      ReadAll(*source, piece, all);
      EXPECT_EQ(all, bytes) << start_at;  // gtest cuts the output
      char more;
      EXPECT_EQ(source->Read(&more, 1), 0);  // the end stays the end
    }
  }
}

TEST(ReadAhead, AnErrorComesAfterTheBytesBeforeIt) {
  const std::string bytes = RandomBytes(3'000'000);
  for (const size_t start_at : {size_t{0}, size_t{1} << 24}) {
    const auto source = ReadAhead(std::make_unique<Source>(bytes, /*fails=*/true), start_at);
    std::string all;
    EXPECT_THROW(ReadAll(*source, 65536, all), DataError);
    EXPECT_EQ(all, bytes);
    char more;
    EXPECT_THROW(source->Read(&more, 1), DataError);
  }
}

// Never ends.
class Endless final : public ByteSource {
 public:
  explicit Endless(std::atomic<size_t>* read) : read_(read) {}
  size_t Read(char* out, size_t size) override {
    std::fill_n(out, size, 'x');
    *read_ += size;
    return size;
  }

 private:
  std::atomic<size_t>* read_;
};

TEST(ReadAhead, WhoStopsReadingEndsTheThread) {
  std::atomic<size_t> read = 0;
  {
    const auto source = ReadAhead(std::make_unique<Endless>(&read), 0);
    char byte;
    ASSERT_EQ(source->Read(&byte, 1), 1);
    // Ahead, but not without a bound.
    EXPECT_LE(read, size_t{1} << 24);
  }
  const size_t in_the_end = read;
  EXPECT_LE(in_the_end, size_t{1} << 24);
}

}  // namespace
}  // namespace tandem::data
