#include "base/json/json_reader.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/json/json_document.h"
#include "base/json/json_members.h"
#include "base/json/json_scanner.h"

namespace tandem {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// What is wrong with the text; empty: nothing.
std::string ErrorOf(std::string_view text, const JsonReading& reading = {}) {
  try {
    ParseJson(text, reading);
  } catch (const JsonTextError& error) {
    return error.what();
  }
  return "";
}

std::string Again(std::string_view text) { return ParseJson(text).Dump(); }

TEST(ParseJson, KeepsTheOrderOfMembersAndEveryKindOfValue) {
  EXPECT_EQ(
      Again(R"( {"b": [1, -2, 2.50, 1e2, true, false, null], "a": {"é": "\u00e9\n"}, "": {}} )"),
      R"({"b":[1,-2,2.5,100.0,true,false,null],"a":{"é":"é\n"},"":{}})");
  EXPECT_EQ(Again("18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(Again("-9223372036854775808"), "-9223372036854775808");
  EXPECT_TRUE(ParseJson("7").is_number_unsigned());
  EXPECT_FALSE(ParseJson("-7").is_number_unsigned());
  EXPECT_EQ(Again("\xEF\xBB\xBF[1]"), "[1]");
}

TEST(ParseJson, OfMembersOfOneKeyTheLastCountsAtThePlaceOfTheFirst) {
  EXPECT_EQ(Again(R"({"a": 1, "b": 2, "a": 3})"), R"({"a":3,"b":2})");
  // Larger objects are searched in another way.
  std::string text = "{", wanted = "{";
  for (int i = 0; i < 40; ++i) {
    text += fmt::format("\"k{}\": {}, ", i, i);
    wanted += fmt::format("\"k{}\":{},", i, i == 7 ? 70 : i == 30 ? 301 : i);
  }
  text += R"("k7": 70, "k30": 300, "k30": 301})";
  wanted.back() = '}';
  EXPECT_EQ(Again(text), wanted);
}

TEST(ParseJson, IntegersBeyond64BitsAreDoublesAndOtherNumbersAreFaults) {
  EXPECT_EQ(Again("[18446744073709551616, -9223372036854775809]"),
            "[1.8446744073709552e+19,-9.223372036854776e+18]");
  EXPECT_EQ(ErrorOf("{\"a\": 1e999}"),
            "is not valid JSON: column 7: 1e999 is a number that 64 bits do not hold");
  // Also where a later member takes its place.
  EXPECT_THAT(ErrorOf("{\"a\": 1e999, \"a\": 1}"), HasSubstr("1e999"));
}

TEST(ParseJson, SaysInWordsOfTheTextWhatIsWrong) {
  EXPECT_THAT(ErrorOf("{\"a\": [1,\n 2 3]}"), HasSubstr("line 2, column 4, in `a`: 3 stands"));
  EXPECT_THAT(ErrorOf("{\"a\": NaN}"), HasSubstr("column 7, in `a`: NaN is no number of JSON"));
  EXPECT_THAT(ErrorOf("[\"\\ud800\"]"), HasSubstr("the lone surrogate \\ud800"));
  EXPECT_EQ(ErrorOf(""), "is not valid JSON: it is empty");
  EXPECT_EQ(ParseIfJson("{"), std::nullopt);
}

TEST(ParseJson, CountsLevelsAroundValues) {
  const JsonReading two{.most_levels = 2};
  EXPECT_EQ(ErrorOf(R"([{"a": 1}, [[]]])", two), "");
  EXPECT_EQ(ErrorOf(R"([{"a": [1]}])", two), "is nested deeper than 2 levels");
  EXPECT_EQ(ErrorOf(std::string(100'000, '[') + std::string(100'000, ']'), two),
            "is nested deeper than 2 levels");
  EXPECT_EQ(ErrorOf(std::string(600, '[') + "1" + std::string(600, ']')),
            "is nested deeper than 512 levels");
}

TEST(ParseJson, ReadsWhatPythonWrites) {
  const JsonReading python{.python_numbers = true};
  const Json read = ParseJson(
      R"({"a": NaN, "b": [Infinity, -Infinity, 1e999], "c": 123456789012345678901234567890, "d": "NaN"})",
      python);
  EXPECT_TRUE(std::isnan(read["a"].get<double>()));
  EXPECT_EQ(read["b"][0], INFINITY);
  EXPECT_EQ(read["b"][1], -INFINITY);
  EXPECT_EQ(read["b"][2], INFINITY);
  EXPECT_EQ(read["c"], 123456789012345678901234567890.0);
  EXPECT_EQ(read["d"], "NaN");
  EXPECT_EQ(ShownJson(read["a"]), "NaN");
  EXPECT_EQ(ShownJson(read["b"][1]), "-Infinity");
  EXPECT_THAT(ErrorOf("{\"a\": nan}", python),
              StartsWith("is not valid JSON: column 7, in `a`: nan is no number"));
}

TEST(JsonDocument, ShowsValuesInPlace) {
  const JsonDocument document(
      R"({"a": [1, -2.5, "x", null], "b": {"k": true, "k": false}, "n": 99999999999999999999})");
  const JsonElement root = document.root();
  std::vector<std::string> keys;
  for (const auto& [key, value] : root.members()) keys.emplace_back(key);
  EXPECT_THAT(keys, ElementsAre("a", "b", "n"));
  const JsonElement list = *root.Find("a");
  EXPECT_EQ(list.At(0)->Integer(), 1);
  EXPECT_EQ(list.At(0)->Number(), 1.0);
  EXPECT_EQ(list.At(1)->Number(), -2.5);
  EXPECT_EQ(list.At(1)->Integer(), std::nullopt);
  EXPECT_EQ(list.At(2)->String(), "x");
  EXPECT_TRUE(list.At(3)->is_null());
  EXPECT_FALSE(list.At(4).has_value());
  size_t count = 0;
  for (const JsonElement element : list.elements()) count += element.is_null() ? 10 : 1;
  EXPECT_EQ(count, 13U);
  EXPECT_EQ(root.Find("b")->Find("k")->Boolean(), true);  // the first of the two
  EXPECT_FALSE(root.Find("c").has_value());
  EXPECT_TRUE(list.members().empty());
  EXPECT_TRUE(root.elements().empty());
  // A number beyond 64 bits does no harm to the others.
  EXPECT_EQ(root.Find("n")->Integer(), std::nullopt);
  EXPECT_NEAR(*root.Find("n")->Number(), 1e20, 1e12);
}

TEST(JsonDocument, RefusesWhatIsNoJsonAndTooManyLevels) {
  EXPECT_THROW(JsonDocument("{\"a\": }"), JsonTextError);
  EXPECT_NO_THROW(JsonDocument("[[1]]", 2));
  EXPECT_THROW(JsonDocument("[[[1]]]", 2), JsonTextError);
}

// Writes down what comes.
class Recorder final : public JsonEvents {
 public:
  std::string text;
  void StartObject() override { text += '{'; }
  void Key(std::string key) override { text += key + ':'; }
  void EndObject() override { text += '}'; }
  void StartArray() override { text += '['; }
  void EndArray() override { text += ']'; }
  void String(std::string value) override { text += "<" + value + ">"; }
  void Number(std::string_view digits) override { text.append(digits) += ' '; }
  void Word(std::string_view word) override { text.append(word) += ' '; }
};

TEST(JsonScanner, TellsWhatItComesAcross) {
  Recorder recorder;
  const std::string_view json =
      R"({"a\u0062": [1e5, -0, true], "": {}, "c": ["\ud83d\ude00\"\\\/\b\f\n\r\t", null, []]})";
  EXPECT_FALSE(JsonScanner(json, false, &recorder).Scan().has_value());
  EXPECT_EQ(recorder.text, "{ab:[1e5 -0 true ]:{}c:[<\xF0\x9F\x98\x80\"\\/\b\f\n\r\t>null []]}");
}

}  // namespace
}  // namespace tandem
