// Draws every query once per epoch, in random order.
//
// The paired document of a query is uniform among its positives, or with `graded_own` among all
// that are judged for it. The order of epoch e is the shuffle of stream (seed, "sampling order",
// e), and what is drawn for query q comes from its own stretch of stream (seed, "sampling
// documents", e) (sampling/extra_documents.h).
// Source: common practice; the papers' "random batches".
#include <memory>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"
#include "sampling/catalogue.h"
#include "sampling/paired_document.h"

namespace tandem::sampling {
namespace {

class Uniform final : public PlannedOrder {
 public:
  Uniform(const Pairs& pairs, uint64_t seed) : pairs_(pairs), seed_(seed) {}

  size_t draws() const override { return pairs_.queries(); }
  size_t DrawsIn(uint64_t /*epoch*/) const override { return pairs_.queries(); }

  bool prunes() const override { return false; }
  std::vector<float> Probabilities() const override {
    std::vector<float> probabilities(pairs_.size());
    for (size_t query = 0; query < pairs_.queries(); ++query) {
      for (size_t i = 0; i < pairs_.count(query); ++i) {
        probabilities[pairs_.first(query) + i] = 1.0F / static_cast<float>(pairs_.count(query));
      }
    }
    return probabilities;
  }

  std::vector<Draw> Plan(uint64_t epoch) const override {
    std::vector<uint32_t> queries(pairs_.queries());
    std::iota(queries.begin(), queries.end(), 0);
    RandomStream({seed_, "sampling order", epoch}).Shuffle(std::span(queries));
    RandomStream documents = DocumentStream(seed_, epoch);
    std::vector<Draw> draws;
    draws.reserve(queries.size());
    for (const uint32_t query : queries) {
      draws.push_back({.query = query, .document = DrawPairedDocument(pairs_, query, documents)});
    }
    return draws;
  }

 private:
  const Pairs& pairs_;
  uint64_t seed_;
};

constexpr std::string_view kUniformFormula =
    R"(An epoch has each of the n queries once, in random order:

  P(d | q) = 1/m_q

m_q = the positives of query q; for graded objectives all documents that are judged for it.)";

}  // namespace

extern const SamplerInfo kUniform{
    {.name = "uniform",
     .summary = "every query once per epoch in random order, its positive uniform among its own",
     .source = "common practice",
     .params = {},
     .studies = "pruning opera-pruning opera-levels opera-noise opera-intervals "
                "opera-passes opera-regime"},
    kUniformFormula,
    /*differs=*/std::string_view(),
    [](Pairs& pairs, const OrderOptions& options) -> std::unique_ptr<Order> {
      return std::make_unique<Uniform>(pairs, options.seed);
    }};

}  // namespace tandem::sampling
