// The masks against a second implementation of the rules that decides cell by cell.
#include "sampling/masks.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

namespace tandem::sampling {
namespace {

// Few texts and documents, so that copies, shared positives and repeated queries are common.
struct World {
  Examples examples;
  Batch batch;
};

World AnyWorld() {
  const auto documents = *rc::gen::inRange<uint32_t>(1, 12);
  std::vector<uint64_t> hashes;  // some are those of queries
  for (uint32_t d = 0; d < documents; ++d) hashes.push_back(*rc::gen::inRange<uint64_t>(3, 12));
  World world{Examples(1, hashes), {}};
  const auto queries = *rc::gen::inRange<uint32_t>(1, 7);
  for (uint32_t q = 0; q < queries; ++q) {
    std::vector<Judged> judged{{*rc::gen::inRange<uint32_t>(0, documents), 1}};
    for (uint32_t d = 0; d < documents; ++d) {
      const int fate = *rc::gen::inRange(0, 8);
      if (d != judged[0].document && fate < 3) judged.push_back({d, fate * 0.5});
    }
    world.examples.Add(*rc::gen::inRange<uint64_t>(0, 5), judged);
  }
  for (uint32_t q = 0; q < queries; ++q) {
    if (q > 0 && *rc::gen::arbitrary<bool>()) continue;
    const auto positives = world.examples.positives(q);
    world.batch.queries.push_back(q);
    world.batch.documents.push_back(
        positives[*rc::gen::inRange<size_t>(0, positives.size())].document);
  }
  world.batch.extra_starts.push_back(static_cast<uint32_t>(world.batch.columns()));
  for (const uint32_t q : world.batch.queries) {
    const size_t positives = world.examples.positives(q).size();
    for (const Judged& one : world.examples.judged(q).Behind(positives)) {
      if (*rc::gen::arbitrary<bool>()) world.batch.documents.push_back(one.document);
    }
    world.batch.extra_starts.push_back(static_cast<uint32_t>(world.batch.columns()));
  }
  return world;
}

// Says whether the column's document is `document` or (where copies count) reads the same.
bool Same(const World& w, const MaskRules& rules, uint32_t document, size_t column) {
  const uint32_t other = w.batch.documents[column];
  return document == other ||
         (rules.copies && w.examples.document_hash(document) == w.examples.document_hash(other));
}

bool RelevantToRow(const World& w, const MaskRules& rules, size_t row, size_t column) {
  if (column == row) return true;
  if (rules.copies && Same(w, rules, w.batch.documents[row], column)) return true;
  if (!rules.known_positives) return false;
  const auto judged = w.examples.judged(w.batch.queries[row]);
  return std::any_of(judged.begin(), judged.end(), [&](const Judged& one) {
    return one.grade > 0 && Same(w, rules, one.document, column);
  });
}

bool SameQuery(const World& w, size_t i, size_t j) {
  return w.examples.query_hash(w.batch.queries[i]) == w.examples.query_hash(w.batch.queries[j]);
}

bool HasQueryText(const World& w, size_t row, size_t column) {
  return w.examples.query_hash(w.batch.queries[row]) ==
         w.examples.document_hash(w.batch.documents[column]);
}

// Returns true where the row brought the column's document as an extra one.
bool IsExtra(const World& w, size_t row, size_t column) {
  return column >= w.batch.extra_starts[row] && column < w.batch.extra_starts[row + 1];
}

RC_GTEST_PROP(Masks, EqualThePageCellByCell, ()) {
  const World w = AnyWorld();
  const MaskRules rules{.copies = *rc::gen::arbitrary<bool>(),
                        .known_positives = *rc::gen::arbitrary<bool>(),
                        .same_query = *rc::gen::arbitrary<bool>(),
                        .query_text = *rc::gen::arbitrary<bool>(),
                        .in_batch = *rc::gen::inRange(0, 4) > 0};
  const Masks masks = MakeMasks(w.examples, w.batch, rules);
  const size_t rows = w.batch.rows(), columns = w.batch.columns();
  RC_ASSERT(masks.negative.size() == rows * columns);
  RC_ASSERT(masks.query_negative.size() == rows * rows);
  for (size_t i = 0; i < rows; ++i) {
    for (size_t j = 0; j < columns; ++j) {
      bool masked = RelevantToRow(w, rules, i, j);
      for (size_t k = 0; k < rows; ++k) {
        masked =
            masked || (rules.same_query && SameQuery(w, i, k) && RelevantToRow(w, rules, k, j));
      }
      masked = masked || (rules.query_text && HasQueryText(w, i, j)) ||
               (!rules.in_batch && !IsExtra(w, i, j));
      RC_ASSERT(masks.negative[i * columns + j] == !masked);
    }
    for (size_t j = 0; j < rows; ++j) {
      const bool query = i == j || (rules.same_query && SameQuery(w, i, j)) || !rules.in_batch;
      RC_ASSERT(masks.query_negative[i * rows + j] == !query);
      const bool document =
          i == j || (rules.copies && Same(w, rules, w.batch.documents[i], j)) || !rules.in_batch;
      RC_ASSERT(masks.document_negative[i * rows + j] == !document);
    }
  }
}

RC_GTEST_PROP(Masks, OfSomeRowsAreThoseOfAll, ()) {
  const World w = AnyWorld();
  const size_t rows = w.batch.rows(), columns = w.batch.columns();
  const size_t begin = *rc::gen::inRange<size_t>(0, rows + 1);
  const size_t end = *rc::gen::inRange<size_t>(begin, rows + 1);
  const Masks all = MakeMasks(w.examples, w.batch, {});
  const Masks some = MakeMasks(w.examples, w.batch, {}, begin, end);
  const auto part = [&](const std::vector<uint8_t>& mask, size_t width) {
    return std::vector<uint8_t>(mask.begin() + static_cast<int64_t>(begin * width),
                                mask.begin() + static_cast<int64_t>(end * width));
  };
  RC_ASSERT(some.negative == part(all.negative, columns));
  RC_ASSERT(some.query_negative == part(all.query_negative, rows));
  RC_ASSERT(some.document_negative == part(all.document_negative, rows));
}

// Query 0: positives 0 and 1, document 2 of grade 1 of 2, document 3 judged irrelevant. Query 1
// has document 4, a copy of 0; query 2 asks the same as query 0 and has document 5.
struct Demo {
  Examples examples{2, {10, 11, 12, 13, 10, 15, 16}};
  Batch batch{
      .queries = {0, 1, 2, 3}, .documents = {0, 4, 5, 6, 1, 2, 3}, .extra_starts = {4, 7, 7, 7, 7}};
  Demo() {
    examples.Add(100, std::vector<Judged>{{0, 2}, {1, 2}, {2, 1}, {3, 0}});
    examples.Add(101, std::vector<Judged>{{4, 2}});
    examples.Add(100, std::vector<Judged>{{5, 2}});
    examples.Add(103, std::vector<Judged>{{6, 2}});
  }
  std::vector<uint8_t> Row(MaskRules rules, size_t row) const {
    const Masks masks = MakeMasks(examples, batch, rules);
    return {masks.negative.begin() + static_cast<ptrdiff_t>(row * 7),
            masks.negative.begin() + static_cast<ptrdiff_t>(row * 7 + 7)};
  }
};

TEST(Masks, EachRuleMasksItsOwnCells) {
  const Demo demo;
  using Cells = std::vector<uint8_t>;
  EXPECT_EQ(demo.Row({}, 0), (Cells{0, 0, 0, 1, 0, 0, 1}));
  EXPECT_EQ(demo.Row({.copies = false}, 0), (Cells{0, 1, 0, 1, 0, 0, 1}));
  EXPECT_EQ(demo.Row({.known_positives = false}, 0), (Cells{0, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(demo.Row({.same_query = false}, 0), (Cells{0, 0, 1, 1, 0, 0, 1}));
  EXPECT_EQ(demo.Row({false, false, false}, 0), (Cells{0, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(demo.Row({}, 3), (Cells{1, 1, 1, 0, 1, 1, 1}));
  EXPECT_EQ(demo.Row({.in_batch = false}, 0), (Cells{0, 0, 0, 0, 0, 0, 1}));
  EXPECT_EQ(demo.Row({.in_batch = false}, 3), (Cells{0, 0, 0, 0, 0, 0, 0}));
}

// Query 0 has the text of document 1, the positive of query 1, and of document 2, which is judged
// irrelevant for it; query 2 is its own positive.
TEST(Masks, ADocumentWithTheQuerysTextIsNoNegative) {
  Examples examples(1, {10, 100, 100, 102});
  examples.Add(100, std::vector<Judged>{{0, 1}, {2, 0}});
  examples.Add(101, std::vector<Judged>{{1, 1}});
  examples.Add(102, std::vector<Judged>{{3, 1}});
  const Batch batch{.queries = {0, 1, 2}, .documents = {0, 1, 3, 2}, .extra_starts = {3, 4, 4, 4}};
  using Cells = std::vector<uint8_t>;
  // Document 2 is a copy of row 1's own.
  EXPECT_EQ(MakeMasks(examples, batch, {}).negative, (Cells{0, 0, 1, 0, 1, 0, 1, 0, 1, 1, 0, 1}));
  EXPECT_EQ(MakeMasks(examples, batch, {.query_text = false}).negative,
            (Cells{0, 1, 1, 1, 1, 0, 1, 0, 1, 1, 0, 1}));
  EXPECT_EQ(MakeMasks(examples, batch, {.copies = false}).negative,
            (Cells{0, 0, 1, 0, 1, 0, 1, 1, 1, 1, 0, 1}));
}

// Rows 0 and 1 ask the same; row 0's paired document is judged irrelevant, row 1's is relevant.
TEST(Masks, AnIrrelevantPairedDocumentIsANegativeOfOthersWithItsQuery) {
  Examples examples(1, {10, 11, 12});
  examples.Add(100, std::vector<Judged>{{0, 0}});
  examples.Add(100, std::vector<Judged>{{1, 1}});
  examples.Add(101, std::vector<Judged>{{2, 1}});
  const Batch batch{.queries = {0, 1, 2}, .documents = {0, 1, 2}, .extra_starts = {3, 3, 3, 3}};
  const Masks masks = MakeMasks(examples, batch, {});
  EXPECT_EQ(masks.negative, (std::vector<uint8_t>{0, 0, 1, 1, 0, 1, 1, 1, 0}));
}

TEST(Masks, WhatIsLeftOutOfTrainingIsStillKnown) {
  Examples examples(1, {10, 11, 12});
  examples.Add(100, std::vector<Judged>{{0, 1}}, std::vector<Judged>{{1, 0.5}, {2, 0}});
  examples.Add(101, std::vector<Judged>{{1, 1}});
  examples.Add(102, std::vector<Judged>{{2, 1}});
  const Batch batch{.queries = {0, 1, 2}, .documents = {0, 1, 2}, .extra_starts = {3, 3, 3, 3}};
  const Masks masks = MakeMasks(examples, batch, {});
  EXPECT_EQ(masks.negative, (std::vector<uint8_t>{0, 0, 1, 1, 0, 1, 1, 1, 0}));
}

}  // namespace
}  // namespace tandem::sampling
