#include "base/json/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "base/json/json_double.h"

namespace tandem {
namespace {

std::string Digits(double number) {
  std::string text;
  AppendJsonDouble(number, &text);
  return text;
}

TEST(Json, BracesSpellObjectsAndArrays) {
  const Json row = {{"id", "q1"}, {"list", {1, -2, 0.5}}, {"none", nullptr}, {"in", {{"a", true}}}};
  EXPECT_EQ(row.Dump(), R"({"id":"q1","list":[1,-2,0.5],"none":null,"in":{"a":true}})");
  EXPECT_EQ(Json::array({{"a", 1}}).Dump(), R"([["a",1]])");
  EXPECT_EQ(Json(std::vector<double>{1, 2}).Dump(), "[1.0,2.0]");
  EXPECT_EQ(Json(std::map<std::string, int>{{"b", 1}, {"a", 2}}).Dump(), R"({"a":2,"b":1})");
  EXPECT_EQ(Json(std::vector<bool>{true, false}).Dump(), "[true,false]");
}

TEST(Json, MembersKeepTheirOrderAndAreSortedByBytes) {
  Json object;
  object["b"] = 1;
  object["a"]["x"] = 2;
  object["é"] = 3;
  object["b"] = 4;
  EXPECT_EQ(object.Dump(), R"({"b":4,"a":{"x":2},"é":3})");
  Json list = Json::array({object});
  list.SortMembers();
  EXPECT_EQ(list.Dump(), R"([{"a":{"x":2},"b":4,"é":3}])");
  EXPECT_EQ(list[0], object);  // whatever the order
  object.erase("a");
  EXPECT_NE(list[0], object);
  object.Update({{"é", 5}, {"z", 6}});
  EXPECT_EQ(object.Dump(), R"({"b":4,"é":5,"z":6})");
}

TEST(Json, WhatIsMissingOrOfAnotherKindIsAnErrorInWords) {
  const Json row = {{"step", 3}, {"in", {{"x", 1.5}}}};
  const auto error_of = [](const auto& read) -> std::string {
    try {
      read();
    } catch (const JsonError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(error_of([&] { row.at("loss"); }), "`loss` is missing");
  EXPECT_EQ(error_of([&] { row.at("step").get<std::string>(); }),
            "a string is expected, not number");
  EXPECT_EQ(error_of([&] { row.at("in").get<double>(); }), "a number is expected, not object");
  EXPECT_EQ(row.value("step", int64_t{0}), 3);
  EXPECT_EQ(row.value("other", int64_t{7}), 7);
  EXPECT_TRUE(row.contains({"in", "x"}));
  EXPECT_FALSE(row.contains({"in", "y"}));
  EXPECT_EQ(row.value({"in", "x"}, 0.0), 1.5);
  EXPECT_EQ(row.value({"in", "y"}, 0.25), 0.25);
  EXPECT_EQ(row.value({"step", "y"}, 0.25), 0.25);
}

TEST(Json, NumbersAreEqualByTheirValues) {
  EXPECT_EQ(Json(1), Json(1U));
  EXPECT_EQ(Json(1), Json(1.0));
  EXPECT_NE(Json(-1), Json(UINT64_MAX));
  EXPECT_NE(Json(1), Json(true));
  EXPECT_NE(Json(0), Json(nullptr));
}

TEST(Json, IndentedTextHasALineForEachValue) {
  const Json value = {{"a", {1, {{"b", Json::array()}}}}, {"c", Json::object()}};
  EXPECT_EQ(value.Dump(1), "{\n \"a\": [\n  1,\n  {\n   \"b\": []\n  }\n ],\n \"c\": {}\n}");
}

TEST(Json, NumbersThatAreNotFiniteAreNull) {
  EXPECT_EQ(Json({NAN, INFINITY, -INFINITY}).Dump(), "[null,null,null]");
}

// nlohmann/json wrote our files before.
TEST(Json, StringsHaveTheBytesOfEarlierVersions) {
  using nlohmann::json;
  std::mt19937_64 random(5);
  const std::string_view parts[] = {
      "a",    "\"",           "\\",           "\n",       "\x1f",
      "\x7f", "\xC3\xA9",     "\xE2\x80\xA8", "\xC0",     "\xF0\x9F\x98\x80",
      "\xFF", "\xED\xA0\x80", "\xE0\x9F",     "\xF4\x90", "\xF0\x9F\x98",
      "\x80", "\xE2\x82"};
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (uint64_t n = random() % 10; n > 0; --n) text += parts[random() % std::size(parts)];
    const std::string replaced = json(text).dump(-1, ' ', false, json::error_handler_t::replace);
    ASSERT_EQ(Json(text).Dump(-1, JsonBytes::kReplace), replaced);
    bool is_valid = true;
    try {
      ASSERT_EQ(json(text).dump(), replaced);
    } catch (const json::exception&) {
      is_valid = false;
    }
    if (is_valid) {
      ASSERT_EQ(Json(text).Dump(), replaced);
    } else {
      ASSERT_THROW(Json(text).Dump(), JsonError);
    }
  }
}

TEST(JsonDouble, HasTheDigitsOfEarlierVersions) {
  const auto expect = [](double number) {
    if (!std::isfinite(number)) return;
    ASSERT_EQ(Digits(number), nlohmann::json(number).dump());
  };
  for (const double number : {0.0, -0.0, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308,
                              1e15, 1e16, 123456789012345.0, 1e-4, 1e-5, 0.1, 300.0, -1.5e20}) {
    expect(number);
  }
  std::mt19937_64 random(7);
  for (int i = 0; i < 20'000; ++i) {
    const uint64_t bits = random();
    expect(std::bit_cast<double>(bits));
    expect(std::bit_cast<double>(bits >> 12 >> random() % 52));  // denormal
    expect(static_cast<double>(bits >> 11) / 0x1p53);
    expect(static_cast<double>(bits % 1'000'000) / 1000);
    expect(std::ldexp(1.0, static_cast<int>(bits % 2098) - 1074));
    expect(std::pow(10.0, static_cast<int>(bits % 600) - 300));
  }
}

}  // namespace
}  // namespace tandem
