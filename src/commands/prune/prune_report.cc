#include "commands/prune/prune_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/json/json.h"
#include "report/tables/one_line.h"
#include "report/tables/table.h"
#include "text/width/display_width.h"

namespace tandem::app {
namespace {

constexpr double kCosineBins = 20;  // bins for each unit of cosine: steps of 0.05

std::vector<HistogramBin> CosineBins() {
  std::vector<HistogramBin> bins;
  for (int i = -20; i < 20; ++i) bins.push_back({i / kCosineBins, (i + 1) / kCosineBins});
  return bins;
}

// Returns the bins of ranks: 1, 2, 3 to 5, 6 to 10, 11 to 20, ...
std::vector<HistogramBin> RankBins() {
  std::vector<HistogramBin> bins;
  double last = 0;
  for (double power = 1; power <= 10'000; power *= 10) {
    for (const double step : {1, 2, 5}) {
      bins.push_back({last + 1, step * power});
      last = step * power;
    }
  }
  return bins;
}

size_t RankOf(float reciprocal) { return static_cast<size_t>(std::lround(1 / reciprocal)); }

// Removes empty bins before the first and after the last one with pairs.
void CutEmptyEnds(std::vector<HistogramBin>& bins) {
  while (!bins.empty() && bins.back().pairs == 0) bins.pop_back();
  const auto has_pairs = [](const HistogramBin& bin) { return bin.pairs > 0; };
  bins.erase(bins.begin(), std::find_if(bins.begin(), bins.end(), has_pairs));
}

// `bin_of(p)` returns the number of pair p's bin.
template <typename BinOf>
Histogram Count(std::string name, std::vector<HistogramBin> bins, const PrunedPairs& pairs,
                const BinOf& bin_of) {
  for (size_t p = 0; p < pairs.pairs.size(); ++p) {
    HistogramBin& bin = bins[std::min<size_t>(bin_of(p), bins.size() - 1)];
    ++bin.pairs;
    bin.kept += pairs.kept[p];
  }
  CutEmptyEnds(bins);
  return {std::move(name), std::move(bins)};
}

std::string BinName(const Histogram& histogram, const HistogramBin& bin) {
  if (histogram.name != "rank") return fmt::format("{:5.2f} to {:5.2f}", bin.from, bin.to);
  if (bin.from == bin.to) return fmt::format("{}", bin.from);
  return fmt::format("{} to {}", bin.from, bin.to);
}

// Draws kept pairs as # and removed ones as -; a bin with pairs has at least one mark.
std::string Bar(const HistogramBin& bin, size_t most, size_t columns) {
  const auto marks = [&](size_t count) {
    return static_cast<size_t>(std::ceil(static_cast<double>(count) * static_cast<double>(columns) /
                                         static_cast<double>(std::max<size_t>(1, most))));
  };
  const size_t all = marks(bin.pairs), kept = std::min(all, marks(bin.kept));
  return std::string(kept, '#') + std::string(all - kept, '-');
}

std::string HistogramText(const Histogram& histogram, const report::TextStyle& style) {
  constexpr size_t kName = 16, kCount = 9;  // columns
  constexpr size_t kTaken = kName + 2 * (kCount + 2) + 2;
  const size_t bar_columns =
      style.columns > kTaken + 10 ? std::min<size_t>(40, style.columns - kTaken) : 10;
  size_t most = 0;
  for (const HistogramBin& bin : histogram.bins) most = std::max(most, bin.pairs);
  report::Table table({{.name = histogram.name, .least_width = kName},
                       {.name = "pairs", .least_width = kCount},
                       {.name = "kept", .least_width = kCount},
                       {.name = ""}});
  for (const HistogramBin& bin : histogram.bins) {
    table.Add({BinName(histogram, bin), bin.pairs, bin.kept, Bar(bin, most, bar_columns)});
  }
  return table.Text(style);
}

// The ids and texts of a pair.
struct PairTexts {
  std::string_view query, query_text, document, document_text;
};

PairTexts TextsOf(const PrunedPairs& pairs, uint32_t p) {
  const data::JudgedQuery& judged = pairs.dataset.judged[pairs.pairs[p].judged];
  const uint32_t document = judged.judgements[pairs.pairs[p].judgement].document;
  const data::Texts &queries = pairs.dataset.queries, &documents = pairs.dataset.documents;
  return {queries.id(judged.query), queries.text(judged.query), documents.id(document),
          documents.text(document)};
}

std::string PairText(const PrunedPairs& pairs, uint32_t p, size_t columns) {
  const PairTexts texts = TextsOf(pairs, p);
  const auto line = [&](std::string_view what, std::string_view id, std::string_view text) {
    const std::string head = fmt::format("    {:<8} {}  ", what, report::OneLine(id, columns));
    const size_t taken = text::DisplayWidth(head);
    return head + report::OneLine(text, columns > taken + 20 ? columns - taken : 20) + "\n";
  };
  const std::string rank = pairs.reciprocal_ranks.empty()
                               ? ""
                               : fmt::format("rank {}, ", RankOf(pairs.reciprocal_ranks[p]));
  return fmt::format("  {}cosine {:.4f}\n", rank, pairs.cosines[p]) +
         line("query", texts.query, texts.query_text) +
         line("document", texts.document, texts.document_text);
}

std::string ReviewText(const PrunedPairs& pairs, std::string_view title,
                       std::span<const uint32_t> which, size_t columns) {
  if (which.empty()) return "";
  std::string text = fmt::format("\n{}\n", title);
  for (const uint32_t p : which) text += PairText(pairs, p, columns);
  return text;
}

Json ReviewJson(const PrunedPairs& pairs, std::span<const uint32_t> which) {
  Json list = Json::array();
  for (const uint32_t p : which) {
    const PairTexts texts = TextsOf(pairs, p);
    Json one = {{"query", texts.query}, {"document", texts.document}, {"cosine", pairs.cosines[p]}};
    if (!pairs.reciprocal_ranks.empty()) one["rank"] = RankOf(pairs.reciprocal_ranks[p]);
    one["query_text"] = texts.query_text;
    one["document_text"] = texts.document_text;
    list.push_back(std::move(one));
  }
  return list;
}

}  // namespace

std::vector<Histogram> HistogramsOf(const PrunedPairs& pairs) {
  std::vector<Histogram> histograms;
  if (!pairs.reciprocal_ranks.empty()) {
    std::vector<HistogramBin> bins = RankBins();
    const auto bin_of = [&](size_t p) {
      const auto rank = static_cast<double>(RankOf(pairs.reciprocal_ranks[p]));
      const auto ends = [](const HistogramBin& bin, double value) { return bin.to < value; };
      return static_cast<size_t>(std::lower_bound(bins.begin(), bins.end(), rank, ends) -
                                 bins.begin());
    };
    histograms.push_back(Count("rank", bins, pairs, bin_of));
  }
  histograms.push_back(Count("cosine", CosineBins(), pairs, [&](size_t p) {
    return static_cast<size_t>(
        std::max(0.0, std::floor((static_cast<double>(pairs.cosines[p]) + 1) * kCosineBins)));
  }));
  return histograms;
}

sampling::PairRanking RankingOf(std::span<const float> cosines,
                                std::span<const float> reciprocal_ranks) {
  if (reciprocal_ranks.empty()) return {cosines};
  return {reciprocal_ranks, cosines};
}

Review ReviewOf(const PrunedPairs& pairs, size_t count) {
  std::vector<uint32_t> all(pairs.pairs.size());
  std::iota(all.begin(), all.end(), 0);
  const sampling::PairRanking higher = RankingOf(pairs.cosines, pairs.reciprocal_ranks);
  const auto lower = [&](uint32_t a, uint32_t b) { return higher(b, a); };
  const auto first = [&](std::vector<uint32_t> from, const auto& before) {
    const size_t size = std::min(count, from.size());
    std::partial_sort(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(size), from.end(),
                      before);
    from.resize(size);
    return from;
  };
  const auto of_kind = [&](bool kept) {
    std::vector<uint32_t> some;
    std::copy_if(all.begin(), all.end(), std::back_inserter(some),
                 [&](uint32_t p) { return pairs.kept[p] == kept; });
    return some;
  };
  return {.lowest = first(all, lower),
          .border_kept = first(of_kind(true), lower),
          .border_left_out = first(of_kind(false), higher)};
}

std::string HistogramTsv(std::span<const Histogram> histograms) {
  report::Table table(
      {{.name = "score"}, {.name = "from"}, {.name = "to"}, {.name = "pairs"}, {.name = "kept"}});
  for (const Histogram& histogram : histograms) {
    for (const HistogramBin& bin : histogram.bins) {
      table.Add({histogram.name, bin.from, bin.to, bin.pairs, bin.kept});
    }
  }
  return table.Tsv();
}

std::string PruneText(const PrunedPairs& pairs, const data::PairLoss& loss, size_t review,
                      const report::TextStyle& style) {
  std::string text = fmt::format(
      "pairs     {}\n  kept    {}\n  left out {}\nqueries   {}\n  that lost some pairs {}\n"
      "  that lost all pairs  {}\n",
      loss.pairs, loss.kept_pairs, loss.pairs - loss.kept_pairs, loss.queries, loss.shrunk_queries,
      loss.lost_queries);
  for (const Histogram& histogram : HistogramsOf(pairs)) {
    text += '\n';
    text += HistogramText(histogram, style);
  }
  const Review chosen = ReviewOf(pairs, review);
  return text + ReviewText(pairs, "The lowest pairs", chosen.lowest, style.columns) +
         ReviewText(pairs, "Just kept", chosen.border_kept, style.columns) +
         ReviewText(pairs, "Just left out", chosen.border_left_out, style.columns);
}

std::string PruneJson(const PrunedPairs& pairs, const data::PairLoss& loss, size_t review) {
  Json histograms = Json::object();
  for (const Histogram& histogram : HistogramsOf(pairs)) {
    Json bins = Json::array();
    for (const HistogramBin& bin : histogram.bins) {
      bins.push_back(
          {{"from", bin.from}, {"to", bin.to}, {"pairs", bin.pairs}, {"kept", bin.kept}});
    }
    histograms[histogram.name] = std::move(bins);
  }
  const Review chosen = ReviewOf(pairs, review);
  const Json all = {{"pairs", loss.pairs},
                    {"kept_pairs", loss.kept_pairs},
                    {"queries", loss.queries},
                    {"queries_that_lost_some", loss.shrunk_queries},
                    {"queries_that_lost_all", loss.lost_queries},
                    {"histograms", std::move(histograms)},
                    {"lowest", ReviewJson(pairs, chosen.lowest)},
                    {"just_kept", ReviewJson(pairs, chosen.border_kept)},
                    {"just_left_out", ReviewJson(pairs, chosen.border_left_out)}};
  return report::JsonText(all);
}

}  // namespace tandem::app
