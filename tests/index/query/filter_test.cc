#include "index/query/filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace tandem::index {
namespace {

using data::MetadataType;
using data::MetadataValue;

const std::vector<data::MetadataField>& Fields() {
  static const std::vector<data::MetadataField> fields = {{"year", MetadataType::kNumber},
                                                          {"lang", MetadataType::kString},
                                                          {"a=b", MetadataType::kString},
                                                          {"a", MetadataType::kString}};
  return fields;
}

template <typename Function>
std::string MessageOf(const Function& function) {
  try {
    function();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

std::string ConditionError(std::string_view text) {
  return MessageOf([&] { ParseCondition(text, Fields()); });
}

std::string JsonError(std::string_view json) {
  return MessageOf([&] { FilterFromJson(json, Fields()); });
}

std::string TextOf(const Condition& condition) { return std::get<std::string>(condition.value); }
double NumberOf(const Condition& condition) { return std::get<double>(condition.value); }

MetadataValue Year(double year) { return {.present = true, .number = year}; }
MetadataValue Lang(std::string_view lang) { return {.present = true, .text = lang}; }

TEST(ParseCondition, KnowsEveryComparison) {
  const std::vector<std::pair<std::string, Comparison>> signs = {
      {"=", Comparison::kEqual},         {"==", Comparison::kEqual},
      {"!=", Comparison::kNotEqual},     {"<", Comparison::kLess},
      {"<=", Comparison::kLessEqual},    {">", Comparison::kGreater},
      {">=", Comparison::kGreaterEqual}, {" >= ", Comparison::kGreaterEqual}};
  for (const auto& [sign, comparison] : signs) {
    const Condition condition = ParseCondition("year" + sign + "2020", Fields());
    EXPECT_EQ(condition.field, "year") << sign;
    EXPECT_EQ(condition.comparison, comparison) << sign;
    EXPECT_EQ(NumberOf(condition), 2020) << sign;
  }
  EXPECT_EQ(NumberOf(ParseCondition("year>-1.5e3", Fields())), -1500);
}

TEST(ParseCondition, TakesStringsWithBlanksSignsAndQuotes) {
  EXPECT_EQ(TextOf(ParseCondition("lang= de at ", Fields())), "de at");
  EXPECT_EQ(TextOf(ParseCondition("lang=a=b<c", Fields())), "a=b<c");
  EXPECT_EQ(TextOf(ParseCondition("lang=2020", Fields())), "2020");
  EXPECT_EQ(TextOf(ParseCondition("lang=", Fields())), "");
  EXPECT_EQ(TextOf(ParseCondition(R"(lang=" de ")", Fields())), " de ");
  EXPECT_EQ(TextOf(ParseCondition(R"(lang=">5 \"x\" \\")", Fields())), R"(>5 "x" \)");
  EXPECT_EQ(TextOf(ParseCondition("lang=say \"x\"", Fields())), "say \"x\"");
  EXPECT_EQ(NumberOf(ParseCondition("year=\"7\"", Fields())), 7);
}

TEST(ParseCondition, TakesTheLongestFieldThatFits) {
  EXPECT_EQ(ParseCondition("a=b=c", Fields()).field, "a=b");
  EXPECT_EQ(TextOf(ParseCondition("a=b=c", Fields())), "c");
  EXPECT_EQ(ParseCondition("a=c", Fields()).field, "a");
  EXPECT_EQ(TextOf(ParseCondition("a=b", Fields())), "b");
}

TEST(ParseCondition, SaysWhatIsWrong) {
  EXPECT_EQ(ConditionError("yaer>=2020"),
            "filter: the index has no field yaer; did you mean year?; it has year (number), lang "
            "(string), a=b (string), a (string)");
  EXPECT_EQ(MessageOf([] { ParseCondition("year=1", {}); }),
            "filter: the index has no field year, nor any other; give --field when it is built");
  const std::string no_condition =
      "filter \"{}\" is no condition; expected a field, one of = != < <= > >=, and a value, such "
      "as year>=2020";
  for (const std::string text : {"", "year", "=5", "year!2020", "year=>2020", "lang=<x"}) {
    std::string expected = no_condition;
    EXPECT_EQ(ConditionError(text), expected.replace(expected.find("{}"), 2, text));
  }
  for (const std::string value : {"new", "", "2020a", "nan", "inf", "1e999", "0x10", "1 2"}) {
    EXPECT_EQ(ConditionError("year=" + value),
              "filter: field year holds numbers; found \"" + value + "\"");
  }
  EXPECT_EQ(ConditionError("lang=\"de"),
            "filter: the value \"de begins with a quote and does not end with the next one; write "
            "\\\" for a quote within");
  EXPECT_THAT(ConditionError("lang=\"a\" b"), testing::HasSubstr("begins with a quote"));
  EXPECT_LT(ConditionError(std::string(100'000, 'x') + "=1").size(), 500);
}

TEST(FilterFromJson, ReadsEqualityAndRanges) {
  const Filter filter =
      FilterFromJson(R"({"lang": "en", "year": {">=": 2020, "<": 2030.5}})", Fields());
  ASSERT_EQ(filter.size(), 3);
  EXPECT_EQ(filter[0].field, "lang");
  EXPECT_EQ(TextOf(filter[0]), "en");
  EXPECT_EQ(filter[1].comparison, Comparison::kGreaterEqual);
  EXPECT_EQ(NumberOf(filter[1]), 2020);
  EXPECT_EQ(filter[2].comparison, Comparison::kLess);
  EXPECT_EQ(NumberOf(filter[2]), 2030.5);
  EXPECT_TRUE(FilterFromJson("{}", Fields()).empty());
}

TEST(FilterFromJson, SaysWhatIsWrong) {
  EXPECT_THAT(JsonError(""), testing::StartsWith("filter: is not valid JSON: "));
  EXPECT_THAT(JsonError("{\"lang\": \"\xff\"}"),
              testing::StartsWith("filter: is not valid UTF-8: the byte 0xFF at column 11"));
  EXPECT_EQ(JsonError("{\"year\": 1e999}"),
            "filter: is not valid JSON: column 10: 1e999 is a number that 64 bits do not hold");
  EXPECT_EQ(JsonError("[]"),
            "filter: expected an object such as {\"year\": {\">=\": 2020}}; found an array");
  EXPECT_EQ(JsonError(R"({"lang": 5})"), "filter: field lang holds strings; found a number");
  EXPECT_EQ(JsonError(R"({"year": "5"})"), "filter: field year holds numbers; found a string");
  EXPECT_EQ(JsonError(R"({"year": [5]})"), "filter: field year holds numbers; found an array");
  EXPECT_EQ(JsonError(R"({"year": null})"), "filter: field year holds numbers; found null");
  EXPECT_EQ(JsonError(R"({"year": {"=": true}})"),
            "filter: field year holds numbers; found a boolean");
  EXPECT_EQ(JsonError(R"({"year": {"=": {}}})"),
            "filter: field year holds numbers; found an object");
  EXPECT_EQ(JsonError(R"({"year": {"gte": 5}})"),
            "filter: field year: \"gte\" is none of = != < <= > >=");
  EXPECT_EQ(JsonError(R"({"year": {">=x": 5}})"),
            "filter: field year: \">=x\" is none of = != < <= > >=");
  EXPECT_EQ(JsonError(R"({"year": {}})"), "filter: field year has no condition");
  EXPECT_EQ(JsonError(R"({"year": 1, "year": 2})"),
            "filter: field year comes twice; write its conditions as one object");
  EXPECT_THAT(JsonError(R"({"language": "en"})"),
              testing::StartsWith("filter: the index has no field language"));
}

TEST(FilterFromJson, BoundsDepthSizeAndCount) {
  std::string deep;
  for (int i = 0; i < 1000; ++i) deep += R"({"year":)";
  EXPECT_THAT(JsonError(deep), testing::StartsWith("filter: is not valid JSON"));
  EXPECT_THAT(JsonError(R"({"year": {"=": [[[[[[[[1]]]]]]]]}})"),
              testing::StartsWith("filter: is not valid JSON"));
  EXPECT_EQ(JsonError("{\"lang\": \"" + std::string(70'000, 'x') + "\"}"),
            "filter: 70012 bytes of JSON; at most 65536 are read");
  std::string many = R"({"year": {"=": 1)";
  for (int i = 1; i < 100; ++i) many += R"(, "=": 1)";
  EXPECT_EQ(FilterFromJson(many + "}}", Fields()).size(), 100);
  EXPECT_EQ(JsonError(many + R"(, "<": 2}})"), "filter: more than 100 conditions");
}

TEST(Holds, ComparesNumbers) {
  const auto holds = [](std::string_view condition, double year) {
    return Holds(ParseCondition(condition, Fields()), Year(year));
  };
  for (const double year : {2019.0, 2020.0, 2021.0}) {
    EXPECT_EQ(holds("year=2020", year), year == 2020);
    EXPECT_EQ(holds("year!=2020", year), year != 2020);
    EXPECT_EQ(holds("year<2020", year), year < 2020);
    EXPECT_EQ(holds("year<=2020", year), year <= 2020);
    EXPECT_EQ(holds("year>2020", year), year > 2020);
    EXPECT_EQ(holds("year>=2020", year), year >= 2020);
  }
  EXPECT_TRUE(holds("year<10", 9));  // as strings it would not be
}

TEST(Holds, ComparesStringsByteByByte) {
  const auto holds = [](std::string_view condition, std::string_view lang) {
    return Holds(ParseCondition(condition, Fields()), Lang(lang));
  };
  EXPECT_TRUE(holds("lang>=2024-02-29", "2024-03-01"));
  EXPECT_FALSE(holds("lang>=2024-02-29", "2024-02-28"));
  EXPECT_TRUE(holds("lang<b", "B"));
  EXPECT_TRUE(holds("lang>z", "\u00e9"));  // bytes have no sign
  EXPECT_FALSE(holds("lang=en", "EN"));
}

TEST(Holds, ADocumentWithoutTheFieldMeetsNoCondition) {
  EXPECT_FALSE(Holds(ParseCondition("year!=5", Fields()), {}));
  EXPECT_FALSE(Holds(ParseCondition("year=0", Fields()), {}));
  EXPECT_FALSE(Holds(ParseCondition("lang=", Fields()), {}));
}

}  // namespace
}  // namespace tandem::index
