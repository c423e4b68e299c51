#include "base/json/json_problem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json/json_scanner.h"

namespace tandem {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// Describes a line in the middle of f.jsonl.
std::string OfLine(std::string_view line) { return JsonLineProblem(line, {.file = "f.jsonl"}); }

void ExpectFault(std::string_view json, const std::string& fault) {
  EXPECT_EQ(OfLine(json), "is not valid JSON: " + fault) << json;
}

TEST(JsonLineProblem, WhatOtherProgramsWriteIsNamed) {
  const std::string advice =
      " is no number of JSON, though some programs write it; write null, or leave the member out";
  ExpectFault(R"({"a": NaN})", "column 7, in `a`: NaN" + advice);
  ExpectFault(R"({"a": [1, -Infinity]})", "column 12, in `a[1]`: -Infinity" + advice);
  ExpectFault(R"({'a': 1})",
              "column 2: a string in single quotes, as Python prints it; JSON's stand in double "
              "quotes (json.dumps writes them)");
  ExpectFault(R"({"a": None})",
              "column 7, in `a`: None is Python's; JSON has null (json.dumps writes it)");
  ExpectFault(R"({"a": True})",
              "column 7, in `a`: True is Python's; JSON has true (json.dumps writes it)");
  ExpectFault(R"({a: 1})", "column 2: the key a stands without quotes");
  ExpectFault(R"({"a": yes})", "column 7, in `a`: yes stands without quotes");
  ExpectFault(R"({"a": 1,})", "column 9: a comma before }, after which nothing comes");
  ExpectFault(R"({"a": [1, 2,]})",
              "column 13, in `a`: a comma before ], after which nothing comes");
  ExpectFault(R"({"a": 1} // b)",
              "column 10: something stands after the object; expected one "
              "object per line, which `jq -c . f.jsonl > NEW` writes");
  ExpectFault(R"({"a": /* b */ 1})", "column 7, in `a`: a comment; JSON has none: remove it");
  ExpectFault("{\"a\": \xE2\x80\x9Cx\xE2\x80\x9D}",
              "column 7, in `a`: a typographic quote; JSON's is the straight one, \"");
}

TEST(JsonLineProblem, SlipsAreNamedWithTheirColumn) {
  ExpectFault(R"({"a": 1 "b": 2})", "column 9: a comma is missing before the next key");
  ExpectFault(R"({"a": [1 [2]]})", "column 10, in `a`: a comma is missing before the next value");
  ExpectFault(R"({"a" 1})", "column 6, in `a`: 1 stands where a colon, after the key, is expected");
  ExpectFault(R"({"a": "b"; "c": 1})", "column 10: ; stands where a comma or } is expected");
  ExpectFault(R"({"a": ["b"}})", "column 11, in `a`: } stands where a comma or ] is expected");
  ExpectFault(R"({"a": "he said "hi" to me"})",
              "column 17: hi stands after a string that has ended; a quote inside a string is "
              "written \\\"");
  ExpectFault("{\"a\": \"x\ty\"}",
              "column 9, in `a`: the control character U+0009 stands in a string; write \\t");
  ExpectFault(std::string("{\"a\": \"x\0\"}", 11),
              "column 9, in `a`: the control character U+0000 stands in a string; write \\u0000");
  ExpectFault(R"({"a": "\x41"})",
              "column 8, in `a`: \\x is no escape of JSON; a backslash itself is written \\\\");
  ExpectFault(R"({"a": "\u12g4"})",
              "column 8, in `a`: \\u is not followed by four hexadecimal digits");
  ExpectFault(R"({"a": 007})", "column 7, in `a`: a number has zeros before it; JSON's have none");
  ExpectFault(R"({"a": 1.})",
              "column 9, in `a`: a number is not written as JSON's are, such as -1.5e3");
  ExpectFault(R"({"a": .5})", "column 7, in `a`: . stands where a value is expected");
  // Columns count characters.
  ExpectFault("{\"\xC3\xA4\": \"\xE4\xBD\xA0\", }",
              "column 12: a comma before }, after which nothing comes");
}

TEST(JsonLineProblem, HalfCharactersAreNamed) {
  const std::string advice =
      ": half of a character, which no text has; remove it, or write the other half too";
  ExpectFault(R"({"input": ["a", "\ud83d"]})",
              "column 18, in `input[1]`: the lone surrogate \\ud83d" + advice);
  ExpectFault(R"({"a": "\udc00"})", "column 8, in `a`: the lone surrogate \\udc00" + advice);
  ExpectFault(R"({"a": "\ud83dA"})", "column 8, in `a`: the lone surrogate \\ud83d" + advice);
  EXPECT_EQ(JsonFaultText(R"({"a": "\ud83d\ude00"})"), "");
}

TEST(JsonLineProblem, LinesThatAreNoObjectSayWhatTheyAre) {
  EXPECT_EQ(OfLine(R"([{"a": 1},)"),
            "begins a JSON array; expected one object per line, which `jq -c '.[]' f.jsonl > NEW` "
            "writes");
  EXPECT_EQ(OfLine("\xEF\xBB\xBF{}"),
            "begins with a byte order mark, which stands at the start of a file only; remove it");
  EXPECT_THAT(OfLine(std::string_view("a\0b", 3)), HasSubstr("begins with \"a?b\""));
  EXPECT_EQ(OfLine("7"), "is a number, not a JSON object; expected one object per line");
  EXPECT_EQ(OfLine("query,positive"),
            "is no JSON object, but looks like columns separated by commas (CSV): "
            "\"query,positive\"; expected one object per line. To convert, in Python: "
            "pandas.read_csv(\"f.jsonl\").to_json(\"NEW.jsonl\", orient=\"records\", lines=True, "
            "force_ascii=False)");
  EXPECT_THAT(OfLine("query\tpositive"), HasSubstr("tabs (TSV): \"query\tpositive\""));
  EXPECT_THAT(OfLine("query\tpositive"), HasSubstr("read_csv(\"f.jsonl\", sep=\"\\t\")"));
  EXPECT_THAT(OfLine("what is a query?"),
              StartsWith("is no JSON object: it begins with \"what is a query?\"; expected one "));
  EXPECT_THAT(JsonLineProblem("<!doctype html>", {.file = "f", .is_first = true}),
              StartsWith("is an HTML page"));
}

TEST(JsonLineProblem, ObjectsAndLinesAreOneEach) {
  EXPECT_EQ(OfLine(R"({"a": 1} {"a": 2})"),
            "is not valid JSON: column 10: a second object begins on the line; expected one object "
            "per line, which `jq -c . f.jsonl > NEW` writes");
  EXPECT_THAT(OfLine(R"({"a": 1},)"), HasSubstr("column 9: a comma stands after the object; "));
  for (const char* line : {"{", R"({"a": 1,)", R"({"a": )"}) {
    EXPECT_EQ(OfLine(line),
              "is not valid JSON: the object does not end on its line; expected one object per "
              "line. Pretty-printed JSON becomes such lines by `jq -c . f.jsonl > NEW`");
    EXPECT_EQ(
        JsonLineProblem(line, {.file = "f.jsonl", .has_end = false}),
        "is not valid JSON: the last line ends inside an object: the file is cut short; fetch "
        "or write it again");
  }
  EXPECT_THAT(OfLine(R"({"a": "x)"), HasSubstr("the line ends inside a string; a line end in a"));
  for (const char* line : {R"({"a": "x)", R"({"a": "x\)", R"({"a": "x\u12)"}) {
    EXPECT_THAT(JsonLineProblem(line, {.file = "f.jsonl", .has_end = false}),
                HasSubstr("the last line ends inside a string: the file is cut short"));
  }
}

TEST(JsonProblem, OfSeveralLinesNamesTheLine) {
  EXPECT_EQ(JsonProblem("{\n  \"a\": 1,\n  // b\n}"),
            "is not valid JSON: line 3, column 3: a comment; JSON has none: remove it");
  EXPECT_EQ(JsonProblem("{\n  \"a\": {\"b\": [1,"),
            "is not valid JSON: line 2, column 17, in `a.b[1]`: the text ends where a value is "
            "expected; the file is cut short");
  EXPECT_EQ(JsonProblem("{\"a\": 1e999}"),
            "is not valid JSON: column 7: 1e999 is a number that 64 bits do not hold");
  EXPECT_EQ(JsonProblem(" \n"), "is not valid JSON: it is empty");
  EXPECT_THAT(JsonProblem("version https://git-lfs.github.com/spec/v1\n"), HasSubstr("Git LFS"));
  EXPECT_EQ(JsonProblem("{\"a\": \"\n\"}"),
            "is not valid JSON: line 1, column 8, in `a`: the control character U+000A stands in a "
            "string; write \\n");
  EXPECT_THAT(JsonProblem(std::string(100000, '[')), HasSubstr("more than 512 levels are nested"));
}

TEST(Utf8Problem, NamesTheByteAndItsColumn) {
  EXPECT_EQ(Utf8Problem("gr\xC3\xBC\xC3\x9F"), "");
  EXPECT_EQ(Utf8Problem("gr\xC3\xBC\xDF"),
            "is not valid UTF-8: the byte 0xDF at column 4; a file in Windows-1252 or Latin-1 is "
            "converted with `iconv -f WINDOWS-1252 -t UTF-8`");
  for (const char* bytes :
       {"\x80", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xF5", "\xC3"}) {
    EXPECT_NE(Utf8Problem(bytes), "");
  }
}

TEST(WithNumbersThatFit, KeepsTheLengthAndTheOthers) {
  EXPECT_EQ(WithNumbersThatFit(R"({"a": 12345678901234567890123, "b": 1})"),
            R"({"a": 123456789012345678901e2, "b": 1})");
  EXPECT_EQ(WithNumbersThatFit(R"([18446744073709551615, 18446744073709551616])"),
            R"([18446744073709551615, 184467440737095516e2])");
  EXPECT_EQ(WithNumbersThatFit("[-9223372036854775808, -9223372036854775809]"),
            "[-9223372036854775808, -92233720368547758e2]");
  EXPECT_EQ(WithNumbersThatFit("[1e999, -1e999, 1e-999]"), "[{}   , {}    , 1e-999]");
  EXPECT_EQ(WithNumbersThatFit("[" + std::string(400, '9') + "]"),
            "[{}" + std::string(398, ' ') + "]");
  EXPECT_EQ(WithNumbersThatFit("[1, 2.5]"), std::nullopt);
  EXPECT_EQ(WithNumbersThatFit("[1e999, NaN]"), std::nullopt);
}

}  // namespace
}  // namespace tandem
