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

}  // namespace

std::vector<std::vector<Answer>> FindDocuments(const DocumentIndex& index, const float* queries,
                                               size_t count, const AnswerOptions& options,
                                               const weights::Calibration* calibration) {
  if (options.highlight) throw std::logic_error("FindDocuments highlights nothing");
  const size_t width = index.info().model.width, all = index.info().documents;
  std::vector<std::vector<Answer>> found(count);
  std::vector<size_t> open(count);  // queries whose documents are not certain
  for (size_t q = 0; q < count; ++q) open[q] = q;
  AnswerOptions deeper = options;
  for (size_t depth = 2 * options.k; !open.empty(); depth *= 4) {
    deeper.k = std::min(depth, std::max<size_t>(all, 1));
    std::vector<size_t> still_open;
    const size_t together = std::max<size_t>(1, kMostAnswers / deeper.k);
    for (size_t first = 0; first < open.size(); first += together) {
      const std::span<const size_t> some =
          std::span(open).subspan(first, std::min(together, open.size() - first));
      std::vector<float> rows;
      for (const size_t q : some)
        rows.insert(rows.end(), queries + q * width, queries + (q + 1) * width);
      const auto answers =
          FindAnswers(index, rows.data(), some.size(), deeper, calibration, nullptr);
      for (size_t i = 0; i < some.size(); ++i) {
        std::vector<Answer> best = BestPassages(index, answers[i]);
        // All passages that could count were seen; or the last one scores below the last document.
        const bool certain =
            answers[i].size() < deeper.k || deeper.k >= all ||
            (best.size() >= options.k && answers[i].back().score < best[options.k - 1].score);
        if (!certain) {
          still_open.push_back(some[i]);
          continue;
        }
        if (best.size() > options.k) best.resize(options.k);
        found[some[i]] = std::move(best);
      }
    }
    open = std::move(still_open);
  }
  return found;
}

}  // namespace tandem::index
