#include "report/tables/table.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>

namespace tandem::report {
namespace {

Table Systems() {
  Table table({{.name = "system"},
               {.name = "ndcg@10", .best = Best::kHighest},
               {.name = "log loss", .decimals = 2, .best = Best::kLowest},
               {.name = "queries"},
               {.name = "usable"}});
  table.Add({"bm25", 0.67891234, 0.5, size_t{300}, true});
  table.Add({"ours", Interval{0.75, 0.70, 0.80}, std::optional<double>(), 12, false});
  table.Add({"theirs\t", 0.74998, 0.501, -1});
  return table;
}

TEST(Table, AsText) {
  EXPECT_EQ(Systems().Text({.columns = 100}),
            "system    ndcg@10                  log loss  queries  usable\n"
            "bm25      0.6789                       0.50      300  yes\n"
            "ours      0.7500 [0.7000, 0.8000]         -       12  no\n"
            "theirs\\t  0.7500                       0.50       -1  -\n");
}

// What looks the same as the best is as good, for all that the table shows.
TEST(Table, TheBestIsBoldOnATerminal) {
  const std::string text = Systems().Text({.columns = 100, .bold = true});
  EXPECT_EQ(
      text,
      "system    ndcg@10                  log loss  queries  usable\n"
      "bm25      0.6789                       \033[1m0.50\033[0m      300  yes\n"
      "ours      \033[1m0.7500 [0.7000, 0.8000]\033[0m         -       12  no\n"
      "theirs\\t  \033[1m0.7500                 \033[0m      \033[1m0.50\033[0m       -1  -\n");
}

TEST(Table, TheBestOfARow) {
  Table table({{.name = "measure"}, {.name = "a"}, {.name = "b"}});
  table.Add({"mrr", 0.5, 0.25}, Best::kHighest);
  table.Add({"loss", 0.5, 0.25}, Best::kLowest);
  table.Add({"auc", std::nullopt, 0.25}, Best::kHighest);  // nothing to compare with
  table.Add({"nan", std::numeric_limits<double>::quiet_NaN(), 0.25}, Best::kHighest);
  EXPECT_EQ(table.Text({.bold = true}),
            "measure       a       b\n"
            "mrr      \033[1m0.5000\033[0m  0.2500\n"
            "loss     0.5000  \033[1m0.2500\033[0m\n"
            "auc           -  0.2500\n"
            "nan       nan    0.2500\n");
}

TEST(Table, WhatIsNoNumberIsNotCompared) {
  Table table({{.name = "x", .best = Best::kHighest}}, {.heading = false});
  for (const double value : {std::numeric_limits<double>::quiet_NaN(), 0.25, 0.5})
    table.Add({value});
  EXPECT_EQ(table.Text({.bold = true}), " nan\n0.2500\n\033[1m0.5000\033[0m\n");
}

TEST(Table, AsTsv) {
  EXPECT_EQ(Systems().Tsv(),
            "system\tndcg@10\tndcg@10_low\tndcg@10_high\tlog_loss\tqueries\tusable\n"
            "bm25\t0.67891234\t-\t-\t0.5\t300\ttrue\n"
            "ours\t0.75\t0.7\t0.8\t-\t12\tfalse\n"
            "theirs \t0.74998\t-\t-\t0.501\t-1\t-\n");
}

TEST(Table, AsJson) {
  const auto rows = nlohmann::json::parse(Systems().Format("json", {}));
  EXPECT_EQ(rows, nlohmann::json::parse(R"([
    {"system": "bm25", "ndcg@10": 0.67891234, "ndcg@10_low": null, "ndcg@10_high": null,
     "log_loss": 0.5, "queries": 300, "usable": true},
    {"system": "ours", "ndcg@10": 0.75, "ndcg@10_low": 0.7, "ndcg@10_high": 0.8,
     "log_loss": null, "queries": 12, "usable": false},
    {"system": "theirs\t", "ndcg@10": 0.74998, "ndcg@10_low": null, "ndcg@10_high": null,
     "log_loss": 0.501, "queries": -1, "usable": null}])"));
  Table odd({{.name = "x"}});
  odd.Add({std::numeric_limits<double>::infinity()});
  odd.Add({"\xff"});
  EXPECT_EQ(odd.Format("json", {}),
            "[\n  {\n    \"x\": null\n  },\n  {\n    \"x\": \"\ufffd\"\n  }\n]\n");
}

TEST(Table, OwnTextsOfNumbersAndNoHeading) {
  Table table({{.name = "what"},
               {.name = "error",
                .key = "loss_error",
                .show = [](double value) { return Scientific(value, 1); }}},
              {.heading = false, .indent = 2, .gap = 1});
  table.Add({"a", 0.00012});
  EXPECT_EQ(table.Text({}), "  a 1.2e-04\n");
  EXPECT_EQ(table.Tsv(), "a\t0.00012\n");
  EXPECT_EQ(table.Json()[0].Dump(), R"({"what":"a","loss_error":0.00012})");
}

TEST(Table, ARowOfTooManyCellsIsAnError) {
  Table table({{.name = "a"}});
  EXPECT_THROW(table.Add({1, 2}), std::logic_error);
}

}  // namespace
}  // namespace tandem::report
