#include "index/query/answers.h"

#include <cmath>
#include <stdexcept>

#include "base/error.h"
#include "index/query/hit_filter.h"

namespace tandem::index {
namespace {

// Passages are looked for in this many first bytes of a text. Embeddings of documents are those of
// their first few hundred tokens, two or three kilobytes, and every passage costs its encoding.
constexpr size_t kHighlightedBytes = size_t{16} << 10;

// Whole characters of the text's beginning.
std::string_view HighlightedPart(std::string_view text) {
  if (text.size() <= kHighlightedBytes) return text;
  constexpr size_t kMostContinuationBytes = 3;
  size_t end = kHighlightedBytes;
  while (end > kHighlightedBytes - kMostContinuationBytes &&
         (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) {
    --end;
  }
  return text.substr(0, end);
}

double Dot(const float* a, const float* b, size_t width) {
  double sum = 0;
  for (size_t i = 0; i < width; ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

// Highlights the answers of one query.
class Highlighter {
 public:
  Highlighter(const DocumentIndex& index, const EmbedDocuments& embed)
      : index_(index), embed_(embed), width_(index.info().model.width) {}

  void Highlight(const float* query, std::vector<Answer>* answers) const {
    std::vector<std::vector<Passage>> passages;  // of each answer
    std::vector<std::string_view> texts;         // of those that have a choice
    for (Answer& answer : *answers) {
      const std::string_view text = index_.text(answer.document);
      passages.push_back(SplitPassages(HighlightedPart(text)));
      if (passages.back().size() == 1) answer.highlight = passages.back().front();
      if (passages.back().size() < 2) continue;
      for (const Passage& passage : passages.back()) {
        texts.push_back(text.substr(passage.begin, passage.end - passage.begin));
      }
    }
    if (texts.empty()) return;
    const std::vector<float> rows = embed_(texts);
    if (rows.size() != texts.size() * width_) {
      throw std::logic_error("embeddings of passages have another width than the index");
    }
    const float* row = rows.data();
    for (size_t a = 0; a < answers->size(); ++a) {
      if (passages[a].size() < 2) continue;
      (*answers)[a].highlight = passages[a][Nearest(query, row, passages[a].size())];
      row += passages[a].size() * width_;
    }
  }

 private:
  // The first of the rows with the highest similarity to the query.
  size_t Nearest(const float* query, const float* rows, size_t count) const {
    size_t best = 0;
    double highest = -INFINITY;
    for (size_t i = 0; i < count; ++i) {
      const double similarity = SimilarityTo(query, rows + i * width_);
      if (similarity > highest) {
        highest = similarity;
        best = i;
      }
    }
    return best;
  }

  // Leaves out the query's length, which is the same for all rows. A row of zeros has cosine 0.
  double SimilarityTo(const float* query, const float* row) const {
    const double dot = Dot(query, row, width_);
    if (index_.info().model.similarity != "cosine") return dot;
    const double length = std::sqrt(Dot(row, row, width_));
    return length > 0 ? dot / length : 0;
  }

  const DocumentIndex& index_;
  const EmbedDocuments& embed_;
  size_t width_;
};

}  // namespace

std::vector<std::vector<Answer>> FindAnswers(const DocumentIndex& index, const float* queries,
                                             size_t count, const AnswerOptions& options,
                                             const weights::Calibration* calibration,
                                             const EmbedDocuments& embed) {
  if (options.min_probability && calibration == nullptr) {
    throw UsageError(
        "a least probability needs a model with a calibration, and this one has none; fit it to "
        "judgements with tandem calibrate");
  }
  const HitFilter filter{.min_score = options.min_score,
                         .min_probability = options.min_probability,
                         .calibration = calibration};
  const std::vector<std::vector<DocumentHit>> found =
      index.Search({.queries = queries,
                    .count = count,
                    .k = options.k,
                    .filter = options.filter.empty() ? nullptr : &options.filter,
                    .threads = options.threads,
                    .effort = options.effort});
  const Highlighter highlighter(index, embed);
  std::vector<std::vector<Answer>> answers(count);
  if (options.best_scores != nullptr) options.best_scores->assign(count, std::nanf(""));
  for (size_t q = 0; q < count; ++q) {
    if (options.best_scores != nullptr && !found[q].empty()) {
      (*options.best_scores)[q] = found[q].front().score;
    }
    for (const DocumentHit& hit : found[q]) {
      if (!filter.Keeps(hit.score)) continue;
      answers[q].push_back({.document = hit.document,
                            .score = hit.score,
                            .probability = filter.Probability(hit.score)});
    }
    if (options.highlight) {
      highlighter.Highlight(queries + q * index.info().model.width, &answers[q]);
    }
  }
  return answers;
}

}  // namespace tandem::index
