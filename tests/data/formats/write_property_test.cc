// Any data set comes back from every format, as far as the format holds it.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "data/formats/dataset_writer.h"
#include "data/judgements/grades.h"
#include "data/lines/json_text.h"
#include "data/read_dataset.h"
#include "data/texts/empty_text.h"
#include "support/temporary_folder.h"

namespace tandem::data {
namespace {

// Texts with everything that JSON, lines and Unicode make difficult. Short, so that copies occur.
std::string AnyText() {
  static const std::vector<std::string> kParts = {
      "a", "b",  " ",    "\n", "\r\n", "\"",           "\\",           "\t",
      "é", "語", "😀",    "€",  "—",    "\xE2\x80\xA8", "\xE2\x80\xA9", std::string(1, '\0'),
      "}", "{",  "\x7F", "/",  "\\n",  "\\u2028",      "\x1F"};
  std::string text;
  for (const std::string& part : *rc::gen::resize(
           4, rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(kParts)))) {
    text += part;
  }
  return text;
}

struct Shape {
  bool distinct_texts = true;
  std::vector<double> grades;
};

Texts AnyTexts(std::string_view prefix, uint32_t count, const Shape& shape) {
  Texts texts;
  for (uint32_t i = 0; i < count; ++i) {
    const std::string title = *rc::gen::arbitrary<bool>() ? AnyText() : "";
    std::string text = title.empty() ? "" : title + " ";
    text += AnyText();
    if (shape.distinct_texts) text += std::to_string(i);
    texts.Add(std::string(prefix) + std::to_string(i), text, prefix == "d" ? title.size() : 0);
  }
  return texts;
}

Dataset AnyDataset(const Shape& shape) {
  const auto documents = *rc::gen::inRange<uint32_t>(1, 12);
  const auto queries = *rc::gen::inRange<uint32_t>(1, 6);
  Dataset dataset{.documents = AnyTexts("d", documents, shape),
                  .queries = AnyTexts("q", queries, shape),
                  .has_grades = true};
  dataset.file = "any";
  for (uint32_t query = 0; query < queries; ++query) {
    JudgedQuery judged{query, {}};
    for (uint32_t document = 0; document < documents; ++document) {
      if (*rc::gen::inRange(0, 3) == 0) continue;
      judged.judgements.push_back(
          {.document = document, .grade = *rc::gen::elementOf(shape.grades)});
    }
    if (!judged.judgements.empty()) dataset.judged.push_back(std::move(judged));
  }
  return dataset;
}

// Grades by the texts of query and document; of copies the highest.
using Pairs = std::map<std::pair<std::string, std::string>, double>;

// `of_lines`: without negatives that have no text, which lines leave out.
Pairs PairsOf(const Dataset& dataset, bool positives_needed, bool of_lines = false) {
  Pairs pairs;
  for (const JudgedQuery& judged : dataset.judged) {
    const bool has_positive =
        std::any_of(judged.judgements.begin(), judged.judgements.end(),
                    [](const Judgement& judgement) { return judgement.grade > 0; });
    if (positives_needed && !has_positive) continue;
    for (const Judgement& judgement : judged.judgements) {
      if (judgement.grade < 0) continue;
      const bool is_empty = IsEmptyText(dataset.documents.text(judgement.document));
      if (of_lines && judgement.grade == 0 && is_empty) continue;
      const auto key = std::pair(std::string(dataset.queries.text(judged.query)),
                                 std::string(dataset.documents.text(judgement.document)));
      const auto [at, is_new] = pairs.try_emplace(key, judgement.grade);
      if (!is_new) at->second = std::max(at->second, judgement.grade);
    }
  }
  return pairs;
}

bool OnlyZeroAndOne(const Dataset& dataset) {
  const Pairs pairs = PairsOf(dataset, false);
  return std::all_of(pairs.begin(), pairs.end(),
                     [](const auto& pair) { return pair.second == 0 || pair.second == 1; });
}

// Written in `format` and read again, its scores taken as grades.
Dataset Again(const Dataset& dataset, const DatasetWriter& writer,
              const std::filesystem::path& path) {
  Warnings warnings;
  WriteDataset(dataset, writer.format, path, {}, &warnings);
  Dataset again = ReadDataset(path, "auto", "train", &warnings);
  if (again.scores != ScoreKind::kNone) ApplyScores(again, ScoreUse::kGrades);
  return again;
}

std::string BytesOf(const std::filesystem::path& path) {
  if (std::filesystem::is_regular_file(path)) return ReadFile(path);
  return ReadFile(path / "corpus.jsonl") + ReadFile(path / "queries.jsonl") +
         ReadFile(path / "qrels" / "train.tsv");
}

// Says whether some queries with a positive have negatives and others none: columns cannot hold
// both.
bool HasUnevenNegatives(const Dataset& dataset) {
  bool some = false;
  bool none = false;
  for (const JudgedQuery& judged : dataset.judged) {
    size_t positives = 0;
    size_t negatives = 0;
    for (const Judgement& judgement : judged.judgements) {
      const bool is_empty = IsEmptyText(dataset.documents.text(judgement.document));
      if (judgement.grade == 0 && is_empty) continue;
      ++(judgement.grade > 0 ? positives : negatives);
    }
    if (positives > 0) (negatives > 0 ? some : none) = true;
  }
  return some && none;
}

RC_GTEST_PROP(WriteDataset, GivesBackEveryPairOfPositivesAndNegatives, ()) {
  const Dataset dataset =
      AnyDataset({.distinct_texts = *rc::gen::arbitrary<bool>(), .grades = {0, 1}});
  const TemporaryFolder folder;
  for (const DatasetWriter* writer : DatasetWriters()) {
    const Pairs expected = PairsOf(dataset, !writer->is_folder, !writer->is_folder);
    const std::filesystem::path path = folder.path() / std::string(writer->format);
    if (expected.empty()) {
      RC_ASSERT_THROWS_AS(Again(dataset, *writer, path), DataError);
    } else if (writer->has_negatives_option && HasUnevenNegatives(dataset)) {
      RC_ASSERT_THROWS_AS(Again(dataset, *writer, path), UsageError);
    } else {
      RC_ASSERT(PairsOf(Again(dataset, *writer, path), false) == expected);
      continue;
    }
    RC_ASSERT(!std::filesystem::exists(path));
  }
}

// The judgements as lists of documents with labels, or as pairs with one.
std::string LabelledLines(const Dataset& dataset, bool as_lists) {
  std::string lines;
  for (const JudgedQuery& judged : dataset.judged) {
    std::string query = "{\"query\": ", documents, labels;
    AppendJsonString(query, dataset.queries.text(judged.query), "");
    for (const Judgement& judgement : judged.judgements) {
      std::string document;
      AppendJsonString(document, dataset.documents.text(judgement.document), "");
      const char* label = judgement.grade > 0 ? "1" : "0";
      if (!as_lists) {
        lines += query + ", \"answer\": " + document + ", \"label\": " + label + "}\n";
        continue;
      }
      documents += (documents.empty() ? "" : ", ") + document;
      labels += std::string(labels.empty() ? "" : ", ") + label;
    }
    if (as_lists) {
      lines += query + ", \"answer\": [" + documents + "], \"labels\": [" + labels + "]}\n";
    }
  }
  return lines;
}

// Nobody has to say what labels are: what is read again has the same positives and negatives.
RC_GTEST_PROP(WriteDataset, GivesBackWhatLabelsSay, ()) {
  const Dataset any = AnyDataset({.distinct_texts = *rc::gen::arbitrary<bool>(), .grades = {0, 1}});
  if (PairsOf(any, false, true).empty()) return;
  const bool as_lists = *rc::gen::arbitrary<bool>();
  const TemporaryFolder folder;
  WriteFileAtomically(folder.path() / "labels.jsonl", LabelledLines(any, as_lists));
  Warnings warnings;
  const Dataset dataset = ReadDataset(folder.path() / "labels.jsonl", "auto", "", &warnings);
  RC_ASSERT(dataset.meaning == ScoreMeaning::kLabels);
  RC_ASSERT(PairsOf(dataset, false, true) == PairsOf(any, false, true));
  for (const DatasetWriter* writer : DatasetWriters()) {
    const bool holds_all = writer->is_folder || (writer->has_negatives_option && !as_lists);
    const Pairs expected = PairsOf(dataset, !holds_all, true);
    if (expected.empty()) continue;
    if (writer->has_negatives_option && as_lists && HasUnevenNegatives(dataset)) continue;
    const std::filesystem::path path = folder.path() / std::string(writer->format);
    WriteDataset(dataset, writer->format, path, {}, &warnings);
    RC_ASSERT(PairsOf(ReadDataset(path, "auto", "train", &warnings), false, true) == expected);
  }
}

RC_GTEST_PROP(WriteDataset, GivesBackEveryGrade, ()) {
  Dataset dataset = AnyDataset({.grades = {-1, 0, 1e-7, 0.1, 1, 2, 3.25, 1e20}});
  if (OnlyZeroAndOne(dataset)) dataset.judged = {{0, {{.document = 0, .grade = 0.5}}}};
  const TemporaryFolder folder;
  for (const DatasetWriter* writer : DatasetWriters()) {
    const bool holds_all = writer->is_folder || writer->has_negatives_option;
    const Pairs expected = PairsOf(dataset, !holds_all);
    const Dataset again = Again(dataset, *writer, folder.path() / std::string(writer->format));
    RC_ASSERT(PairsOf(again, false) == expected);
  }
}

RC_GTEST_PROP(WriteDataset, OfWhatItWroteMakesTheSameBytes, ()) {
  const Dataset dataset =
      AnyDataset({.grades = *rc::gen::arbitrary<bool>() ? std::vector<double>{0, 1}
                                                        : std::vector<double>{0, 1, 2}});
  const TemporaryFolder folder;
  for (const DatasetWriter* writer : DatasetWriters()) {
    if (PairsOf(dataset, true).empty()) continue;
    if (writer->has_negatives_option && OnlyZeroAndOne(dataset) && HasUnevenNegatives(dataset)) {
      continue;
    }
    const std::filesystem::path first = folder.path() / (std::string(writer->format) + "1");
    const std::filesystem::path second = folder.path() / (std::string(writer->format) + "2");
    const Dataset again = Again(dataset, *writer, first);
    Again(again, *writer, second);
    RC_ASSERT(BytesOf(first) == BytesOf(second));
  }
}

}  // namespace
}  // namespace tandem::data
