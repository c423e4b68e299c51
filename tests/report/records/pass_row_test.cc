#include "report/records/pass_row.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "support/temporary_folder.h"

namespace tandem::report {
namespace {

template <typename Integer>
void Append(Integer number, std::string& bytes) {
  for (size_t i = 0; i < sizeof number; ++i) {
    bytes += static_cast<char>(number >> (8 * i) & 0xFF);
  }
}

// A record (sampling/audit/audit_file.h) of an epoch over two queries, of which one was drawn:
// while the epoch is under way, and after its end, with the score of the other query.
std::string Begun(uint64_t pass) {
  std::string bytes = "TDMPASS1";
  Append(pass, bytes);
  Append(uint64_t{2}, bytes);  // queries
  Append(uint64_t{2}, bytes);  // pairs
  for (int i = 0; i < 2; ++i) Append(uint32_t{1}, bytes);
  for (int i = 0; i < 2; ++i) Append(std::bit_cast<uint32_t>(0.5F), bytes);
  for (const uint32_t number : {1U, 0U, 7U}) Append(number, bytes);  // one batch
  return bytes;
}
std::string Complete(uint64_t pass, float score) {
  std::string bytes = Begun(pass);
  for (const uint32_t number : {~0U, 1U, 1U}) Append(number, bytes);
  Append(std::bit_cast<uint32_t>(score), bytes);
  return bytes;
}

TEST(PassRow, SumsUpARecord) {
  const TemporaryFolder folder;
  EXPECT_TRUE(ReadPasses(folder.path() / "sampling", 9).empty());
  WriteFileAtomically(folder.path() / "pass-0.bin", Complete(0, 0.25F));
  WriteFileAtomically(folder.path() / "pass-1.bin", Complete(1, std::nanf("")));
  WriteFileAtomically(folder.path() / "pass-2.bin", "damaged");
  WriteFileAtomically(folder.path() / "pass-3.bin", Begun(3));
  WriteFileAtomically(folder.path() / "notes.txt", "not a record");
  const std::vector<PassFile> passes = ReadPasses(folder.path(), 9);
  ASSERT_EQ(passes.size(), 4U);
  EXPECT_EQ(ToJson(*passes[0].row).Dump(),
            R"({"event":"pass","pass":0,"batches":1,"queries":1,"left_out":1,)"
            R"("mean_score_left_out":0.25})");
  EXPECT_EQ(ToJson(*passes[1].row).Dump(),
            R"({"event":"pass","pass":1,"batches":1,"queries":1,"left_out":1})");
  EXPECT_FALSE(passes[2].row.has_value());
  EXPECT_EQ(passes[2].name, "pass-2.bin");
  EXPECT_EQ(ToJson(*passes[3].row).Dump(), R"({"event":"pass","pass":3,"batches":1,"queries":1})");
  EXPECT_EQ(FromJson<PassRow>(ToJson(*passes[0].row))->mean_score_left_out, 0.25);
}

TEST(PassRow, OfManyPassesTheFirstAndTheNewestAreRead) {
  const TemporaryFolder folder;
  for (uint64_t pass = 0; pass < 6; ++pass) {
    WriteFileAtomically(folder.path() / ("pass-" + std::to_string(pass) + ".bin"),
                        Complete(pass, 0.5F));
  }
  std::vector<int64_t> read;
  for (const PassFile& file : ReadPasses(folder.path(), 3)) read.push_back(file.row->pass);
  EXPECT_EQ(read, (std::vector<int64_t>{0, 4, 5}));
}

}  // namespace
}  // namespace tandem::report
