// The parts of a segment: columns, ids, vectors that are filled, documents that are staged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "index/folder/staged_documents.h"
#include "index/segments/id_lookup.h"
#include "index/segments/metadata_columns.h"
#include "index/segments/segment.h"
#include "support/temporary_folder.h"

namespace tandem::index {
namespace {

using testing::HasSubstr;

// Files of an index of version 1 keep the kind of checksum that they were written with.
TEST(CheckFilesTest, ComparesEitherKindOfChecksum) {
  const TemporaryFolder folder;
  for (const ChecksumKind kind : {ChecksumKind::kXxh128, ChecksumKind::kFirst}) {
    WriteFileAtomically(folder.path() / "a", "as it was");
    const std::vector<IndexFile> files = {{"a", 9, ChecksumOf("as it was", kind)}};
    EXPECT_NO_THROW(CheckFiles(folder.path(), files, true, 1));
    WriteFileAtomically(folder.path() / "a", "as it is!");
    EXPECT_THROW(CheckFiles(folder.path(), files, true, 1), DataError);
    EXPECT_NO_THROW(CheckFiles(folder.path(), files, false, 1));
  }
}

// The look-up is the same in one pass over the ids and in many.
TEST(IdLookupTest, FindsEveryIdAndNoOther) {
  constexpr size_t kRows = 1000;
  for (const size_t at_a_time : {size_t{7}, size_t{1} << 20}) {
    const TemporaryFolder folder;
    TextColumnWriter writer(folder.path(), kIdColumn);
    for (size_t row = 0; row < kRows; ++row) writer.Add("id" + std::to_string(row));
    writer.Commit();
    const TextColumn ids(folder.path(), kIdColumn, kRows);
    WriteIdLookup(folder.path(), ids, kRows,
                  {.rows_at_a_time = at_a_time,
                   .on_copy = [](size_t, size_t) { FAIL() << "no id is there twice"; }});
    const IdLookup lookup(folder.path(), ids, kRows);
    for (size_t row = 0; row < kRows; ++row) {
      EXPECT_EQ(lookup.Find("id" + std::to_string(row)), row);
      EXPECT_FALSE(lookup.Find("other" + std::to_string(row)).has_value());
    }
  }
}

TEST(MetadataColumnsTest, ReadBackWithWhatIsAbsent) {
  const TemporaryFolder folder;
  const std::vector<data::MetadataField> fields = {{"year", data::MetadataType::kNumber},
                                                   {"lang", data::MetadataType::kString}};
  constexpr size_t kRows = 130;  // more than two words of bits
  MetadataWriter writer(folder.path(), fields);
  for (size_t row = 0; row < kRows; ++row) {
    const std::string lang = row % 5 == 0 ? "" : "l" + std::to_string(row);
    const data::MetadataValue values[] = {
        {.present = row % 3 != 0, .number = static_cast<double>(row) / 2},
        {.present = row % 4 != 0, .text = lang}};
    writer.Add(values);
  }
  writer.Commit();
  const MetadataColumns columns(folder.path(), fields, kRows);
  for (size_t row = 0; row < kRows; ++row) {
    const data::MetadataValue year = columns.Value(row, 0), lang = columns.Value(row, 1);
    EXPECT_EQ(year.present, row % 3 != 0);
    EXPECT_EQ(year.number, row % 3 != 0 ? static_cast<double>(row) / 2 : 0);
    EXPECT_EQ(lang.present, row % 4 != 0);
    EXPECT_EQ(lang.text, row % 4 == 0 || row % 5 == 0 ? "" : "l" + std::to_string(row));
  }
}

TEST(TextColumnTest, EndsThatContradictEachOtherAreErrors) {
  const TemporaryFolder folder;
  TextColumnWriter writer(folder.path(), "x");
  for (const char* text : {"one", "two", "three"}) writer.Add(text);
  writer.Commit();
  std::string ends = ReadFile(folder.path() / "x.ends");
  ends[1] = 1;  // the first text would end at 259
  WriteFileAtomically(folder.path() / "x.ends", ends);
  const TextColumn column(folder.path(), "x", 3);
  EXPECT_THROW(column[0], DataError);
  EXPECT_THROW(column[1], DataError);
  EXPECT_EQ(column[2], "three");
}

// A source of documents with these ids, two in each file.
NextDocument SourceOf(const std::vector<std::string>& ids, size_t* at) {
  return [&ids, at, file = std::string()](data::InputText* document) mutable {
    if (*at == ids.size()) return false;
    file = "file" + std::to_string(*at / 2);
    *document = {
        .id = ids[*at], .text = "text", .file = file, .line = static_cast<int64_t>(*at % 2 + 1)};
    ++*at;
    return true;
  };
}

TEST(StagedDocumentsTest, RememberWhereTheyCameFrom) {
  const TemporaryFolder folder;
  const std::vector<std::string> ids = {"a", "b", "c", "d", "e"};
  size_t at = 0;
  EXPECT_FALSE(StagedDocuments::AreIn(folder.path()));
  uint64_t progress = 0;
  StageDocuments(folder.path(), SourceOf(ids, &at),
                 {.progress = [&](uint64_t rows) { progress = rows; }});
  EXPECT_EQ(progress, 5u);
  ASSERT_TRUE(StagedDocuments::AreIn(folder.path()));
  const StagedDocuments staged(folder.path());
  ASSERT_EQ(staged.rows(), 5u);
  for (size_t row = 0; row < 5; ++row) {
    EXPECT_EQ(staged.id(row), ids[row]);
    EXPECT_EQ(staged.place(row).file, "file" + std::to_string(row / 2));
    EXPECT_EQ(staged.place(row).line, static_cast<int64_t>(row % 2 + 1));
  }
}

TEST(StagedDocumentsTest, AnIdThatComesTwiceIsAnErrorWithBothPlaces) {
  const TemporaryFolder folder;
  const std::vector<std::string> ids = {"a", "b", "c", "b", "e"};
  size_t at = 0;
  try {
    StageDocuments(folder.path(), SourceOf(ids, &at), {.rows_at_a_time = 2});
    FAIL();
  } catch (const DataError& error) {
    EXPECT_STREQ(error.what(),
                 "file1:2: this id is already that of the document at file0:2; ids must be "
                 "different (id b)");
  }
  EXPECT_FALSE(StagedDocuments::AreIn(folder.path()));
}

TEST(StagedDocumentsTest, ASignalStopsReading) {
  const TemporaryFolder folder;
  const std::vector<std::string> ids = {"a"};
  size_t at = 0;
  EXPECT_THROW(StageDocuments(folder.path(), SourceOf(ids, &at), {.stop = [] { return 15; }}),
               Interrupted);
}

}  // namespace
}  // namespace tandem::index
