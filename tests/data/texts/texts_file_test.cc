#include "data/texts/texts_file.h"

#include <fmt/format.h>

#include "data/data_test.h"

namespace tandem::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Texts TextsOf(std::string_view bytes, Warnings& warnings, TextRole role = TextRole::kDocument) {
  LineReader reader("f.jsonl", bytes, warnings);
  return ReadTexts(reader, role);
}

std::string TextsErrorOf(std::string_view bytes, TextRole role = TextRole::kDocument) {
  Warnings warnings;
  return DataErrorOf([&] { TextsOf(bytes, warnings, role); });
}

TEST(ReadTexts, TitlesJoinDocumentsOnly) {
  Warnings warnings;
  const std::string line = R"({"_id": "a", "title": "T", "text": "x"})";
  EXPECT_EQ(TextsOf(line, warnings).text(0), "T x");
  EXPECT_EQ(TextsOf(line, warnings, TextRole::kQuery).text(0), "x");
  EXPECT_EQ(TextsOf(R"({"_id": "a", "title": null, "text": "x"})", warnings).text(0), "x");
  EXPECT_THAT(warnings.Messages(), IsEmpty());
}

TEST(ReadTexts, EscapesAndIntegerIdsAreDecoded) {
  Warnings warnings;
  const Texts texts = TextsOf(
      "{\"_id\": 12, \"text\": \"a\\n\\u00e9\\ud83d\\ude00\"}\n"
      "{\"_id\": -3, \"text\": \"\xC3\xA9\"}\n"
      "{\"_id\": 18446744073709551615, \"text\": \"nul \\u0000 stays\"}",
      warnings);
  EXPECT_EQ(texts.id(0), "12");
  EXPECT_EQ(texts.text(0), "a\n\xC3\xA9\xF0\x9F\x98\x80");
  EXPECT_EQ(texts.id(1), "-3");
  EXPECT_EQ(texts.id(2), "18446744073709551615");
  EXPECT_EQ(texts.text(2), std::string_view("nul \0 stays", 11));
}

TEST(ReadTexts, EmptyTextsAreKeptAndCounted) {
  Warnings warnings;
  const Texts texts =
      TextsOf("{\"_id\": \"a\", \"text\": \"\"}\n{\"_id\": \"b\", \"text\": \" \\n\"}\n", warnings);
  EXPECT_EQ(texts.size(), 2U);
  EXPECT_THAT(warnings.Messages(),
              ElementsAre("f.jsonl: empty texts, kept: 2 (first at line 1, id a)"));
}

TEST(ReadTexts, MissingAndWrongValuesAreNamed) {
  const std::string good = "{\"_id\": \"a\", \"text\": \"x\"}\n";
  EXPECT_EQ(TextsErrorOf(good + R"({"text": "x"})"),
            R"(f.jsonl:2: has no "_id"; expected {"_id": ..., "text": ...})");
  EXPECT_EQ(TextsErrorOf(good + R"({"id": "b", "text": "x"})"),
            R"(f.jsonl:2: has "id" where BEIR's files have "_id"; rename the key)");
  EXPECT_EQ(TextsErrorOf(good + R"({"_id": "b"})"), "f.jsonl:2: has no \"text\" (id b)");
  EXPECT_EQ(TextsErrorOf(R"({"_id": "b", "text": null})"),
            "f.jsonl:1: \"text\" is null; expected a string (id b)");
  EXPECT_EQ(TextsErrorOf(R"({"_id": "b", "text": 1})"),
            "f.jsonl:1: \"text\" is an integer; expected a string (id b)");
  EXPECT_EQ(TextsErrorOf(R"({"_id": "b", "text": "x", "title": ["x"]})"),
            "f.jsonl:1: \"title\" is a list of strings; expected a string (id b)");
  EXPECT_EQ(TextsErrorOf(R"({"_id": 1.5, "text": "x"})"),
            "f.jsonl:1: \"_id\" is a number; expected a string");
  EXPECT_EQ(TextsErrorOf(R"({"_id": "", "text": "x"})"), "f.jsonl:1: \"_id\" is empty");
  EXPECT_EQ(TextsErrorOf(R"({"_id": "a\tb", "text": "x"})"),
            "f.jsonl:1: \"_id\" contains a control character");
}

TEST(ReadTexts, DuplicateIdsNameBothLines) {
  EXPECT_EQ(
      TextsErrorOf("{\"_id\": \"a\", \"text\": \"x\"}\n\n{\"_id\": \"a\", \"text\": \"x\"}\n"),
      "f.jsonl:3: has the same \"_id\" as line 1 (id a)");
  EXPECT_EQ(TextsErrorOf(R"({"_id": "a", "text": "x", "_id": "b"})"),
            "f.jsonl:1: has the key _id twice");
}

TEST(ReadTexts, BrokenLinesAreNamed) {
  const std::string good = "{\"_id\": \"a\", \"text\": \"x\"}\n";
  EXPECT_THAT(TextsErrorOf(good + R"({"_id": "b", "text": "x")"),
              HasSubstr("f.jsonl:2: is not valid JSON: "));
  EXPECT_THAT(TextsErrorOf(good + R"({"_id": "b", "text": "x"} trailing)"),
              HasSubstr("f.jsonl:2: is not valid JSON: "));
  EXPECT_EQ(TextsErrorOf(good + R"({"_id": "b", "te)"),
            "f.jsonl:2: is not valid JSON: the last line ends inside a string: the file is cut "
            "short; fetch or write it again");
  EXPECT_EQ(TextsErrorOf(R"({"_id": "b", "te)"
                         "\n" +
                         good),
            "f.jsonl:1: is not valid JSON: the line ends inside a string; a line end in a text is "
            "written \\n");
  EXPECT_EQ(
      TextsErrorOf("{\n  \"_id\": \"b\"\n}\n"),
      "f.jsonl:1: is not valid JSON: the object does not end on its line; expected one object "
      "per line. Pretty-printed JSON becomes such lines by `jq -c . f.jsonl > NEW`");
  EXPECT_THAT(TextsErrorOf(R"({"_id": "b", "text": "\ud800"})"),
              HasSubstr("f.jsonl:1: is not valid JSON: "));
  EXPECT_THAT(TextsErrorOf("{\"_id\": \"b\", \"text\": \"\xC3(\"}"),
              HasSubstr("f.jsonl:1: is not valid UTF-8: the byte 0xC3 at column 23; "));
  EXPECT_EQ(TextsErrorOf(R"(["a", "b"])"),
            "f.jsonl:1: begins a JSON array; expected one object per line, which `jq -c '.[]' "
            "f.jsonl > NEW` writes");
  EXPECT_EQ(TextsErrorOf("\"a\""),
            "f.jsonl:1: is a string, not a JSON object; expected one object per line");
  EXPECT_EQ(TextsErrorOf(""), "f.jsonl: holds no document");
  EXPECT_EQ(TextsErrorOf("\n\n", TextRole::kQuery), "f.jsonl: holds no query");
}

TEST(ReadTexts, NumbersThatNobodyReadsMayBeOfAnySize) {
  Warnings warnings;
  for (const char* number :
       {"123456789012345678901234567890", "-9223372036854775809", "1e999", "-1e999", "1e-999"}) {
    const std::string line =
        fmt::format(R"({{"_id": "a", "text": "x", "m": [{{"n": {}}}]}})", number);
    LineReader reader("f.jsonl", line, warnings);
    EXPECT_EQ(ReadTexts(reader, TextRole::kDocument).size(), 1U) << number;
  }
  // One that is read is not what it says.
  EXPECT_EQ(TextsErrorOf(R"({"_id": 123456789012345678901234567890, "text": "x"})"),
            "f.jsonl:1: \"_id\" is a number; expected a string");
  EXPECT_EQ(
      TextsErrorOf(R"({"_id": "a", "text": "x", "m": NaN})"),
      "f.jsonl:1: is not valid JSON: column 32, in `m`: NaN is no number of JSON, though some "
      "programs write it; write null, or leave the member out");
}

TEST(ReadTexts, ALineWithVeryManyKeysIsRefused) {
  std::string line = R"({"_id": "a", "text": "x")";
  for (int i = 0; i < 1000; ++i) line += fmt::format(", \"k{}\": 1", i);
  EXPECT_EQ(TextsErrorOf(line + "}"), "f.jsonl:1: has more than 1000 keys");
}

}  // namespace
}  // namespace tandem::data
