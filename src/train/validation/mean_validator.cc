#include "train/validation/mean_validator.h"

#include <algorithm>
#include <utility>

namespace tandem::train {
namespace {

class MeanValidator final : public Validator {
 public:
  explicit MeanValidator(std::vector<ValidatorOfSource> sources) : sources_(std::move(sources)) {}

  std::optional<Validated> Measure(model::DualEncoder& model, const ObjectiveStates& states,
                                   const ValidationProgress& progress) override {
    Validated all;
    double done = 0;
    for (const ValidatorOfSource& source : sources_) {
      const double work = WorkOf(*source.validator) / Work();
      std::optional<Validated> found = source.validator->Measure(
          model, states, [&](double share) { return progress(done + share * work); });
      if (!found) return std::nullopt;
      done += work;
      Add(source.name, *found, all);
    }
    const auto count = static_cast<double>(sources_.size());
    all.value /= count;
    for (MeasuredValue& measure : all.further) measure.value /= count;
    return all;
  }

  // That of the largest one takes the most memory.
  void TryBeginning(model::DualEncoder& model, const ObjectiveStates& states) override {
    const auto largest = std::max_element(
        sources_.begin(), sources_.end(),
        [](const ValidatorOfSource& one, const ValidatorOfSource& other) {
          return one.validator->ranked().documents < other.validator->ranked().documents;
        });
    largest->validator->TryBeginning(model, states);
  }

  double EstimateSeconds(model::DualEncoder& model, const ObjectiveStates& states) override {
    double sum = 0;
    for (const ValidatorOfSource& source : sources_) {
      sum += source.validator->EstimateSeconds(model, states);
    }
    return sum;
  }

  std::string name() const override { return sources_.front().validator->name(); }
  bool Better(double value, double other) const override {
    return sources_.front().validator->Better(value, other);
  }
  RankedCorpus ranked() const override {
    RankedCorpus sum;
    for (const ValidatorOfSource& source : sources_) {
      const RankedCorpus one = source.validator->ranked();
      sum.documents += one.documents;
      sum.corpus += one.corpus;
      sum.judged += one.judged;
    }
    return sum;
  }
  size_t queries() const override {
    size_t sum = 0;
    for (const ValidatorOfSource& source : sources_) sum += source.validator->queries();
    return sum;
  }

 private:
  // Texts that a validation encodes.
  static double WorkOf(const Validator& validator) {
    return static_cast<double>(validator.ranked().documents + validator.queries());
  }
  double Work() const { return static_cast<double>(ranked().documents + queries()); }

  // Adds the values of one data set to the sums in `all`.
  static void Add(const std::string& name, const Validated& found, Validated& all) {
    all.value += found.value;
    all.sources.push_back({name, found.value});
    all.further.resize(found.further.size());
    for (size_t i = 0; i < found.further.size(); ++i) {
      all.further[i].measure = found.further[i].measure;
      all.further[i].value += found.further[i].value;
    }
  }

  std::vector<ValidatorOfSource> sources_;
};

}  // namespace

std::unique_ptr<Validator> MakeMeanValidator(std::vector<ValidatorOfSource> sources) {
  return std::make_unique<MeanValidator>(std::move(sources));
}

}  // namespace tandem::train
