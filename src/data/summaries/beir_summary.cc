#include "data/summaries/beir_summary.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <string_view>

#include "base/hashes/text_hash.h"
#include "data/formats/beir.h"
#include "data/formats/qrels_file.h"
#include "data/summaries/hash_sample.h"
#include "data/texts/empty_text.h"
#include "data/texts/passage_groups.h"
#include "data/texts/texts_file.h"

namespace tandem::data {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostSplits = 32;  // bits of a SplitSet
using SplitSet = uint32_t;

// Judgements of one file as they pass.
class JudgementCounter {
 public:
  void Add(const QrelsLine& line) {
    ++summary_.judgements;
    const uint64_t query = TextHash(line.query), document = TextHash(line.document);
    documents_.At(document);
    uint64_t* relevant = queries_.At(query);
    bool is_new = false;
    const double* grade = nullptr;
    if (double* known = pairs_.At(PairHash(query, document), &is_new)) {
      if (is_new) *known = line.grade;
      grade = known;
    }
    if (grade != nullptr && !is_new) {
      ++(*grade == line.grade ? repeated_ : contradicting_);
      return;
    }
    if (line.grade > 0 && relevant != nullptr) ++*relevant;
    CountGrade(line.grade);
  }

  JudgementSummary Finish() {
    summary_.queries = queries_.Estimate(queries_.size());
    summary_.documents = documents_.Estimate(documents_.size());
    summary_.is_exact = queries_.is_exact() && documents_.is_exact() && pairs_.is_exact();
    summary_.repeated = pairs_.Estimate(repeated_);
    summary_.contradicting = pairs_.Estimate(contradicting_);
    queries_.ForEach([&](uint64_t relevant) { summary_.relevant_per_query.Add(relevant); });
    if (summary_.grades.size() > JudgementSummary::kMostGrades) summary_.grades.clear();
    return std::move(summary_);
  }

 private:
  void CountGrade(double grade) {
    const bool first = summary_.above_zero + summary_.zero + summary_.below_zero == 0;
    ++(grade > 0 ? summary_.above_zero : grade < 0 ? summary_.below_zero : summary_.zero);
    summary_.lowest_grade = first ? grade : std::min(summary_.lowest_grade, grade);
    summary_.highest_grade = first ? grade : std::max(summary_.highest_grade, grade);
    if (summary_.grades.size() <= JudgementSummary::kMostGrades) ++summary_.grades[grade];
  }

  JudgementSummary summary_;
  HashSample<uint64_t> queries_;  // documents with a grade above 0
  HashSample<Nothing> documents_;
  HashSample<double> pairs_;  // the first grade
  uint64_t repeated_ = 0;     // in the sample of pairs
  uint64_t contradicting_ = 0;
};

JudgementSummary CountJudgements(const fs::path& path, Warnings& warnings,
                                 const std::function<void(const QrelsLine&)>& also) {
  LineReader reader(path, warnings);
  QrelsStream stream(reader);
  JudgementCounter counter;
  QrelsLine line;
  while (stream.Next(&line)) {
    counter.Add(line);
    if (also) also(line);
  }
  return counter.Finish();
}

TextSummary CountTexts(const fs::path& path, TextRole role, Warnings& warnings,
                       const std::function<void(std::string_view id, uint64_t text)>& also) {
  LineReader reader(path, warnings);
  TextStream stream(reader, role);
  TextSummary summary;
  HashSample<Nothing> ids, texts;
  uint64_t repeated_ids = 0, copies = 0;
  std::string_view id, text;
  while (stream.Next(&id, &text)) {
    ++summary.texts;
    summary.bytes += text.size();
    summary.empty += IsEmptyText(text) ? 1 : 0;
    const uint64_t id_hash = TextHash(id), text_hash = TextHash(text);
    bool is_new = false;
    if (ids.At(id_hash, &is_new) != nullptr && !is_new) ++repeated_ids;
    if (texts.At(text_hash, &is_new) != nullptr && !is_new) ++copies;
    if (also) also(id, text_hash);
  }
  summary.repeated_ids = ids.Estimate(repeated_ids);
  summary.copies = texts.Estimate(copies);
  summary.is_exact = ids.is_exact() && texts.is_exact();
  return summary;
}

// Counts what is judged in which splits.
struct Judged {
  SplitSet splits = 0;
  SplitSet relevant = 0;      // with a grade above 0
  bool is_known = false;      // the folder has the text
  bool has_passages = false;  // the corpus has passages of the document
};

struct JudgedIds {
  HashSample<Judged> queries;
  HashSample<Judged> documents;
};

uint64_t CountUnknown(const HashSample<Judged>& ids, SplitSet split) {
  return ids.EstimateIf(
      [&](const Judged& judged) { return (judged.splits & split) != 0 && !judged.is_known; });
}

SplitOverlap OverlapOf(const JudgedIds& ids, const HashSample<SplitSet>& query_texts,
                       SplitSet both) {
  const auto all = [both](SplitSet splits) { return (splits & both) == both; };
  SplitOverlap overlap;
  overlap.queries = ids.queries.EstimateIf([&](const Judged& q) { return all(q.splits); });
  overlap.query_texts = query_texts.EstimateIf(all);
  overlap.documents = ids.documents.EstimateIf([&](const Judged& d) { return all(d.relevant); });
  return overlap;
}

void CompareSplits(const JudgedIds& ids, const HashSample<SplitSet>& query_texts,
                   BeirSummary& summary) {
  const size_t count = std::min(summary.splits.size(), kMostSplits);
  for (size_t a = 0; a < count; ++a) {
    const SplitSet split = SplitSet{1} << a;
    summary.splits[a].unknown_queries = CountUnknown(ids.queries, split);
    summary.splits[a].unknown_documents = CountUnknown(ids.documents, split);
    summary.splits[a].documents_of_passages = ids.documents.EstimateIf([&](const Judged& judged) {
      return (judged.splits & split) != 0 && !judged.is_known && judged.has_passages;
    });
    for (size_t b = a + 1; b < count; ++b) {
      SplitOverlap overlap = OverlapOf(ids, query_texts, split | SplitSet{1} << b);
      overlap.first = summary.splits[a].name;
      overlap.second = summary.splits[b].name;
      summary.overlaps.push_back(std::move(overlap));
    }
  }
}

}  // namespace

JudgementSummary SummarizeJudgements(const fs::path& path, Warnings& warnings) {
  return CountJudgements(path, warnings, nullptr);
}

TextSummary SummarizeTexts(const fs::path& path, Warnings& warnings) {
  return CountTexts(path, TextRole::kDocument, warnings, nullptr);
}

BeirSummary SummarizeBeir(const fs::path& folder, Warnings& warnings) {
  const BeirFiles files = FindBeirFiles(folder);
  BeirSummary summary;
  JudgedIds ids;
  for (const BeirSplit& split : files.splits) {
    const size_t place = summary.splits.size();
    const SplitSet bit = place < kMostSplits ? SplitSet{1} << place : 0;
    const auto keep = [&](const QrelsLine& line) {
      for (Judged* judged :
           {ids.queries.At(TextHash(line.query)), ids.documents.At(TextHash(line.document))}) {
        if (judged == nullptr) continue;
        judged->splits |= bit;
        if (line.grade > 0) judged->relevant |= bit;
      }
    };
    summary.splits.push_back({split.name, CountJudgements(split.file, warnings, keep)});
  }
  HashSample<SplitSet> query_texts;
  summary.queries = CountTexts(files.queries, TextRole::kQuery, warnings,
                               [&](std::string_view id, uint64_t text) {
                                 Judged* judged = ids.queries.Find(TextHash(id));
                                 if (judged == nullptr) return;
                                 judged->is_known = true;
                                 if (SplitSet* splits = query_texts.At(text))
                                   *splits |= judged->splits;
                               });
  summary.corpus =
      CountTexts(files.corpus, TextRole::kDocument, warnings, [&](std::string_view id, uint64_t) {
        if (Judged* judged = ids.documents.Find(TextHash(id))) judged->is_known = true;
        const std::string_view document = DocumentOfPassage(id);
        if (document.size() == id.size()) return;
        if (Judged* judged = ids.documents.Find(TextHash(document))) judged->has_passages = true;
      });
  CompareSplits(ids, query_texts, summary);
  return summary;
}

}  // namespace tandem::data
