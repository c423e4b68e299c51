#include "index/query/document_answers.h"

#include <algorithm>
#include <span>
#include <stdexcept>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "data/texts/passage_groups.h"

namespace tandem::index {
namespace {

// Passages of all queries that are searched for together, 48 bytes each: of a large index that
// holds few documents, all passages may be asked for.
constexpr size_t kMostAnswers = size_t{1} << 20;

// The best passage of each document, of equal ones the first in the index.
std::vector<Answer> BestPassages(const DocumentIndex& index, const std::vector<Answer>& answers) {
  std::vector<Answer> best;
  std::unordered_map<std::string_view, size_t> places;  // in `best`
  for (const Answer& answer : answers) {
    const auto [place, is_new] =
        places.emplace(data::DocumentOfPassage(index.id(answer.document)), best.size());
    if (is_new) {
      best.push_back(answer);
    } else if (Answer& kept = best[place->second];
               answer.score == kept.score && answer.document < kept.document) {
      kept = answer;
    }
  }
  std::stable_sort(best.begin(), best.end(), [&](const Answer& a, const Answer& b) {
    if (a.score != b.score) return a.score > b.score;
    return data::DocumentOfPassage(index.id(a.document)) >
           data::DocumentOfPassage(index.id(b.document));
  });
  return best;
}

// All passages that could count were seen; or the last one scores below the last document.
bool IsCertain(const DocumentIndex& index, const std::vector<Answer>& answers, size_t asked,
               const std::vector<Answer>& best, size_t documents) {
  return answers.size() < asked || asked >= index.info().documents ||
         (best.size() >= documents && answers.back().score < best[documents - 1].score);
}

// What is asked: the queries [count, E], and how many documents.
struct Question {
  const DocumentIndex& index;
  const float* queries;
  size_t documents;
  const weights::Calibration* calibration;
};

// Sets (*found)[q] for the queries q among `some` whose documents are certain from their first
// deeper.k passages. Returns the others.
std::vector<size_t> FindCertain(const Question& question, std::span<const size_t> some,
                                const AnswerOptions& deeper,
                                std::vector<std::vector<Answer>>* found) {
  const size_t width = question.index.info().model.width;
  std::vector<float> rows;
  for (const size_t q : some) {
    rows.insert(rows.end(), question.queries + q * width, question.queries + (q + 1) * width);
  }
  const auto answers =
      FindAnswers(question.index, rows.data(), some.size(), deeper, question.calibration, nullptr);
  std::vector<size_t> open;
  for (size_t i = 0; i < some.size(); ++i) {
    std::vector<Answer> best = BestPassages(question.index, answers[i]);
    if (!IsCertain(question.index, answers[i], deeper.k, best, question.documents)) {
      open.push_back(some[i]);
      continue;
    }
    if (best.size() > question.documents) best.resize(question.documents);
    (*found)[some[i]] = std::move(best);
  }
  return open;
}

}  // namespace

std::vector<std::vector<Answer>> FindDocuments(const DocumentIndex& index, const float* queries,
                                               size_t count, const AnswerOptions& options,
                                               const weights::Calibration* calibration) {
  if (options.highlight) throw std::logic_error("FindDocuments highlights nothing");
  std::vector<std::vector<Answer>> found(count);
  std::vector<size_t> open(count);  // queries whose documents are not certain
  for (size_t q = 0; q < count; ++q) open[q] = q;
  AnswerOptions deeper = options;
  const Question question{index, queries, options.k, calibration};
  for (size_t depth = 2 * options.k; !open.empty(); depth *= 4) {
    deeper.k = std::min(depth, std::max<size_t>(index.info().documents, 1));
    const size_t together = std::max<size_t>(1, kMostAnswers / deeper.k);
    std::vector<size_t> still_open;
    for (size_t first = 0; first < open.size(); first += together) {
      const size_t some = std::min(together, open.size() - first);
      const std::vector<size_t> left =
          FindCertain(question, std::span(open).subspan(first, some), deeper, &found);
      still_open.insert(still_open.end(), left.begin(), left.end());
    }
    open = std::move(still_open);
  }
  return found;
}

}  // namespace tandem::index
