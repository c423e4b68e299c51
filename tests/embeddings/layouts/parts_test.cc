#include "embeddings/layouts/parts.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "base/hashes/running_hash.h"
#include "embeddings/layouts/npy.h"
#include "support/temporary_folder.h"

namespace tandem::embeddings {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr size_t kWidth = 3;
constexpr const char* kSettings =
    "width 3\nmodel 00aa\nkind document\ntokenizer 00bb\nprompt 00cc\nmax_tokens 64\n"
    "batch 4096 768\nprecision fp32\ninstructions avx2\nthreads 2\nmade by revision 1\n"
    "block 2 100\ninput 7 texts, files of 90 bytes\n";

std::string IdOf(size_t row) { return fmt::format("d{}", row); }
std::string TextOf(size_t row) { return fmt::format("text {}", row); }
float ValueOf(size_t row, size_t column) { return static_cast<float>(10 * row + column); }

// Seven rows in three parts, of which the second is empty.
class EmbeddingPartsTest : public testing::Test {
 protected:
  EmbeddingPartsTest() {
    WritePart(0, 0, 4);
    WritePart(1, 4, 0);
    WritePart(2, 4, 3);
  }

  const std::filesystem::path& Folder() const { return folder_.path(); }
  std::filesystem::path File(uint32_t index, const std::string& ending) const {
    return Folder() / (Shard{index, 3}.Name() + ending);
  }

  void WritePart(uint32_t index, size_t first, size_t rows) const {
    PartRecord record{.shard = {index, 3},
                      .first_row = first,
                      .rows = rows,
                      .total_rows = 7,
                      .width = kWidth,
                      .similarity = "cosine",
                      .prompt = "passage: \n",
                      .provenance = Provenance(kSettings),
                      .texts_hash = 0,
                      .embeddings = {},
                      .ids = {}};
    std::vector<float> values;
    std::string ids;
    RunningHash hash;
    for (size_t row = first; row < first + rows; ++row) {
      for (size_t column = 0; column < kWidth; ++column) values.push_back(ValueOf(row, column));
      ids += IdOf(row) + "\n";
      hash.Add(std::string_view(IdOf(row)));
      hash.Add(std::string_view(TextOf(row)));
    }
    WriteNpy(File(index, ".npy"), kWidth, values);
    WriteFileAtomically(File(index, ".ids.txt"), ids);
    record.texts_hash = hash.value();
    WritePartRecord(Folder(), record, 1);
  }
  void WriteRecord(const PartRecord& record) const {
    WriteFileAtomically(File(record.shard.index, ".json"), FormatPartRecord(record));
  }
  PartRecord Record(uint32_t index) const {
    return ParsePartRecord(ReadFile(File(index, ".json")), "record");
  }
  void Replace(const std::filesystem::path& path, const std::string& from,
               const std::string& to) const {
    std::string text = ReadFile(path);
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << text;
    WriteFileAtomically(path, text.replace(at, from.size(), to));
  }

  static ExpectedTexts Expected() {
    static std::string id, text;
    return {.count = 7,
            .id = [](size_t i) -> std::string_view { return id = IdOf(i); },
            .text = [](size_t i) -> std::string_view { return text = TextOf(i); }};
  }

  template <typename Exception, typename Matcher>
  void ExpectRefused(const Matcher& message) const {
    EXPECT_THAT([this] { EmbeddingParts parts(Folder()); }, ThrowsMessage<Exception>(message));
  }

  TemporaryFolder folder_;
};

TEST_F(EmbeddingPartsTest, GivesBackRowsAndIds) {
  ASSERT_TRUE(EmbeddingParts::AreIn(Folder()));
  const EmbeddingParts parts(Folder());
  EXPECT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts.rows(), 7U);
  EXPECT_EQ(parts.width(), kWidth);
  size_t rows = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    const EmbeddingPart part = parts.Open(i, 1);
    part.CheckTexts(Expected());
    const std::span<const float> values = part.values();
    ASSERT_EQ(values.size(), part.record().rows * kWidth);
    part.ForEachId([&](uint64_t row, std::string_view id) {
      EXPECT_EQ(row, rows);
      EXPECT_EQ(id, IdOf(row));
      EXPECT_EQ(values[(row - part.record().first_row) * kWidth + 2], ValueOf(row, 2));
      ++rows;
    });
  }
  EXPECT_EQ(rows, 7U);
}

TEST_F(EmbeddingPartsTest, ARecordReadsBack) {
  const PartRecord record = Record(2);
  EXPECT_EQ(record.first_row, 4U);
  EXPECT_EQ(record.prompt, "passage: \n");
  EXPECT_EQ(FormatPartRecord(ParsePartRecord(FormatPartRecord(record), "again")),
            FormatPartRecord(record));
}

TEST_F(EmbeddingPartsTest, NamesOfFilesSayTheShard) {
  EXPECT_EQ((Shard{3, 16}.Name()), "part-00003-of-00016");
  EXPECT_EQ(ShardOfFile("part-00003-of-00016.npy.part"), (Shard{3, 16}));
  for (const char* other : {"part-00003-of-00003.npy", "part-0003-of-00016.npy", "embeddings.npy",
                            "part-00003-of-00016", "part-00003-of-0001x.npy", "part-", ""}) {
    EXPECT_EQ(ShardOfFile(other), std::nullopt) << other;
  }
}

TEST_F(EmbeddingPartsTest, AFolderWithoutParts) {
  const TemporaryFolder other;
  EXPECT_FALSE(EmbeddingParts::AreIn(other.path()));
  EXPECT_FALSE(EmbeddingParts::AreIn(other.path() / "nothing"));
  EXPECT_THAT([&] { EmbeddingParts parts(other.path()); },
              ThrowsMessage<DataError>(AllOf(HasSubstr(other.path().native()),
                                             HasSubstr("is no folder of embeddings in parts"))));
}

TEST_F(EmbeddingPartsTest, MissingShardsAreNamed) {
  std::filesystem::remove(File(1, ".json"));
  ExpectRefused<DataError>(HasSubstr(
      "1 of 3 shards is missing: 1/3 (1 begun, not finished). Make it with the command of the "
      "others and --shard 1/3 --resume"));
  std::filesystem::remove(File(1, ".npy"));
  std::filesystem::remove(File(2, ".json"));
  ExpectRefused<DataError>(
      HasSubstr("2 of 3 shards are missing: 1/3, 2/3 (1 begun, not finished). Make each"));
}

TEST_F(EmbeddingPartsTest, PartsThatDoNotBelongTogether) {
  PartRecord record = Record(2);
  const auto with = [&](const std::string& from, const std::string& to) {
    PartRecord other = record;
    std::string lines = other.provenance.lines();
    other.provenance = Provenance(lines.replace(lines.find(from), from.size(), to));
    WriteRecord(other);
  };
  with("model 00aa", "model 00ab");
  ExpectRefused<ModelError>(
      AllOf(HasSubstr(File(2, ".json").native()), HasSubstr("was encoded with another model")));
  with("precision fp32", "precision int8");
  ExpectRefused<UsageError>(HasSubstr(
      "was encoded with precision int8, and now it is fp32; give the same --precision, as "
      "part-00000-of-00003.json says"));
  with("input 7 texts", "input 8 texts");
  ExpectRefused<UsageError>(HasSubstr("was encoded with an input of 8 texts"));
  with("threads 2", "threads 4");  // another machine
  EXPECT_NO_THROW(EmbeddingParts{Folder()});
  std::filesystem::copy(File(2, ".ids.txt"), Folder() / "part-00000-of-00004.ids.txt");
  ExpectRefused<DataError>(AllOf(HasSubstr("part-00000-of-00003"),
                                 HasSubstr("part-00000-of-00004.ids.txt"),
                                 HasSubstr("parts of different numbers of shards")));
}

TEST_F(EmbeddingPartsTest, RowsFollowEachOther) {
  PartRecord record = Record(2);
  record.first_row = 3;
  WriteRecord(record);
  ExpectRefused<DataError>(HasSubstr("begins with row 3, expected 4"));
  record.first_row = 4;
  record.rows = 2;
  WriteRecord(record);
  ExpectRefused<DataError>(HasSubstr("holds 6 rows, expected 7"));
  record.rows = 3;
  record.total_rows = 8;
  WriteRecord(record);
  ExpectRefused<DataError>(HasSubstr("is of 8 rows of 3 numbers in all parts"));
}

TEST_F(EmbeddingPartsTest, FilesThatAreCutShortOrGone) {
  const std::string bytes = ReadFile(File(0, ".npy"));
  WriteFileAtomically(File(0, ".npy"), bytes.substr(0, bytes.size() - 1));
  ExpectRefused<DataError>(AllOf(HasSubstr(File(0, ".npy").native()),
                                 HasSubstr("has 175 bytes, expected 176"),
                                 HasSubstr("cut short; encode this shard again")));
  std::filesystem::remove(File(0, ".npy"));
  ExpectRefused<DataError>(HasSubstr("is missing, and its record is there"));
  WriteFileAtomically(File(0, ".npy"), bytes);
  WriteFileAtomically(File(2, ".ids.txt"), "d4\nd5\n");
  ExpectRefused<DataError>(AllOf(HasSubstr(File(2, ".ids.txt").native()), HasSubstr("cut short")));
}

TEST_F(EmbeddingPartsTest, DamageShowsWhenAPartIsOpened) {
  const EmbeddingParts parts(Folder());
  std::string bytes = ReadFile(File(0, ".npy"));
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  WriteFileAtomically(File(0, ".npy"), bytes);
  EXPECT_THAT([&] { parts.Open(0, 1); },
              ThrowsMessage<DataError>(AllOf(
                  HasSubstr(File(0, ".npy").native()), HasSubstr("its checksum differs"),
                  HasSubstr("remove part-00000-of-00003.json and encode with --shard 0/3 again"))));
  EXPECT_NO_THROW(parts.Open(2, 1));
  Replace(File(2, ".ids.txt"), "d5", "d6");
  EXPECT_THAT([&] { parts.Open(2, 1); },
              ThrowsMessage<DataError>(HasSubstr(File(2, ".ids.txt").native())));
}

// Version 1 differs by its kind of checksum.
TEST_F(EmbeddingPartsTest, PartsOfVersionOneAreRead) {
  PartRecord record = Record(0);
  for (PartFileRecord* file : {&record.embeddings, &record.ids}) {
    file->checksum = ChecksumOf(ReadFile(Folder() / file->name), ChecksumKind::kFirst);
  }
  WriteRecord(record);
  Replace(File(0, ".json"), "\"version\": 2", "\"version\": 1");
  EXPECT_NO_THROW(EmbeddingParts(Folder()).Open(0, 1));
  Replace(File(0, ".ids.txt"), "d0", "d9");
  EXPECT_THAT([&] { EmbeddingParts(Folder()).Open(0, 1); },
              ThrowsMessage<DataError>(HasSubstr("its checksum differs")));
}

TEST_F(EmbeddingPartsTest, OtherTextsAreRefused) {
  const EmbeddingParts parts(Folder());
  ExpectedTexts texts = Expected();
  const auto text = texts.text;
  texts.text = [&](size_t i) -> std::string_view { return i == 5 ? "another" : text(i); };
  EXPECT_NO_THROW(parts.Open(0, 1).CheckTexts(texts));
  EXPECT_THAT([&] { parts.Open(2, 1).CheckTexts(texts); },
              ThrowsMessage<DataError>(
                  HasSubstr("texts 5 to 7 have the ids that they had, but are not those")));
  const auto id = texts.id;
  texts.id = [&](size_t i) -> std::string_view { return i == 5 ? "x5" : id(i); };
  EXPECT_THAT([&] { parts.Open(2, 1).CheckTexts(texts); },
              ThrowsMessage<DataError>(
                  HasSubstr(File(2, ".ids.txt").native() + ":2: expected x5, the id of text 6")));
  EXPECT_NO_THROW(parts.CheckCount(7, "documents"));
  EXPECT_THAT([&] { parts.CheckCount(8, "documents of the corpus"); },
              ThrowsMessage<DataError>(HasSubstr(
                  "holds 7 embeddings, expected 8, one for each of the documents of the corpus")));
}

TEST_F(EmbeddingPartsTest, AnotherModelOrKindIsRefused) {
  const EmbeddingParts parts(Folder());
  const std::string same =
      "width 3\nmodel 00aa\nkind document\ntokenizer 00bb\nprompt 00cc\nmax_tokens 64\n"
      "batch 1 1\nprecision fp32\ninstructions avx512\nthreads 9\nmade by another\n";
  EXPECT_NO_THROW(parts.CheckMadeWith(Provenance(same)));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string other = same;
    return Provenance(other.replace(other.find(from), from.size(), to));
  };
  EXPECT_THROW(parts.CheckMadeWith(with("model 00aa", "model 1")), ModelError);
  EXPECT_THROW(parts.CheckMadeWith(with("tokenizer 00bb", "tokenizer 1")), ModelError);
  EXPECT_THROW(parts.CheckMadeWith(with("prompt 00cc", "prompt 1")), UsageError);
  EXPECT_THROW(parts.CheckMadeWith(with("max_tokens 64", "max_tokens 6")), UsageError);
  EXPECT_THROW(parts.CheckMadeWith(with("width 3", "width 2")), UsageError);
  EXPECT_THAT([&] { parts.CheckMadeWith(with("kind document", "kind query")); },
              ThrowsMessage<UsageError>(HasSubstr("holds embeddings of --kind document; expected "
                                                  "--kind query: encode the queries")));
}

TEST_F(EmbeddingPartsTest, BrokenRecordsAreNamed) {
  const auto refused = [&](const std::string& from, const std::string& to,
                           const std::string& message) {
    const std::string text = ReadFile(File(1, ".json"));
    Replace(File(1, ".json"), from, to);
    ExpectRefused<DataError>(AllOf(HasSubstr(File(1, ".json").native()), HasSubstr(message)));
    WriteFileAtomically(File(1, ".json"), text);
  };
  refused("{", "[", "is not valid JSON");
  refused("tandem embeddings part", "something", "is no record of a part of embeddings");
  refused("\"version\": 2", "\"version\": 3",
          "is of format version 3; this program reads versions 1 to 2");
  refused("\"shard\": 1", "\"shard\": 2", "`embeddings.name` is not part-00002-of-00003.npy");
  refused("\"shard\": 1", "\"shard\": 3", "`shard` is none of so many shards");
  refused("\"rows\": 0", "\"rows\": -1", "`rows` is no whole number");
  refused("\"rows\": 0", "\"rows\": 9", "`first_row` is not of a part of so many rows");
  refused("\"width\": 3", "\"width\": 0", "`width` is 0");
  refused("cosine", "angle", "`similarity` is neither cosine nor dot");
  refused("float32", "float16", "`dtype` is not float32");
  refused("part-00001-of-00003.npy", "../../etc/passwd", "is not part-00001-of-00003.npy");
  refused("\"texts\": \"", "\"texts\": \"z", "`texts` is no hash");
  WriteFileAtomically(File(1, ".json"), ReadFile(File(2, ".json")));
  ExpectRefused<DataError>(HasSubstr("is the record of shard 2/3"));
}

}  // namespace
}  // namespace tandem::embeddings
