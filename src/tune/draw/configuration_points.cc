#include "tune/draw/configuration_points.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "config/recipe/recipe_text.h"

namespace tandem::tune {
namespace {

constexpr double kLengthScale = 0.7;
constexpr double kOtherValue = 0.7;

std::optional<double> NumberOfText(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && std::isfinite(number) ? std::optional(number) : std::nullopt;
}

// Where the numbers of a key lie.
class KeyScale {
 public:
  explicit KeyScale(const config::SearchKey& key) {
    low_ = key.range.minimum;
    high_ = key.range.maximum;
    logarithmic_ = key.logarithmic;
    ordered_ = true;
    if (!key.values.empty()) ReadList(key.values);
  }

  Coordinate Of(const std::string& value) const {
    const std::optional<double> number = ordered_ ? NumberOfText(value) : std::nullopt;
    if (!number || (logarithmic_ && *number <= 0)) return {.number = {}, .text = value};
    if (high_ == low_) return {.number = 0.0, .text = ""};
    return {.number = (Scaled(*number) - Scaled(low_)) / (Scaled(high_) - Scaled(low_)),
            .text = ""};
  }

 private:
  double Scaled(double number) const { return logarithmic_ ? std::log(number) : number; }

  void ReadList(const std::vector<std::string>& values) {
    std::vector<double> numbers;
    for (const std::string& value : values) {
      if (const std::optional<double> number = NumberOfText(value)) numbers.push_back(*number);
    }
    ordered_ = numbers.size() == values.size();
    if (!ordered_) return;
    const auto [low, high] = std::minmax_element(numbers.begin(), numbers.end());
    low_ = *low;
    high_ = *high;
    constexpr double kWide = 10;
    logarithmic_ = low_ > 0 && high_ >= kWide * low_;
  }

  double low_ = 0;
  double high_ = 0;
  bool logarithmic_ = false;
  bool ordered_ = false;
};

}  // namespace

std::vector<ConfigurationPoint> PointsOf(const config::LoadedTune& tune,
                                         const std::vector<config::Assignment>& configurations) {
  std::vector<KeyScale> scales;
  for (const config::SearchKey& key : tune.tune.keys) scales.emplace_back(key);
  std::vector<ConfigurationPoint> points;
  for (const config::Assignment& configuration : configurations) {
    config::Assignment values = configuration;
    const config::LoadedRecipe loaded = config::MakeTrialRecipe(tune, "a configuration", &values);
    ConfigurationPoint point(tune.tune.keys.size());
    for (const config::RecipeKey& key : config::RecipeKeys(loaded.recipe, tune.recipe.catalogues)) {
      if (!key.idle.empty()) continue;
      const std::string path = key.path();
      for (size_t i = 0; i < scales.size(); ++i) {
        if (tune.tune.keys[i].path != path) continue;
        const std::string value = config::FormatValue(key.value);
        point[i] = scales[i].Of(value.empty() ? "not set" : value);
      }
    }
    points.push_back(std::move(point));
  }
  return points;
}

double Likeness(const ConfigurationPoint& a, const ConfigurationPoint& b) {
  double squares = 0, likeness = 1;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].number && b[i].number) {
      squares += (*a[i].number - *b[i].number) * (*a[i].number - *b[i].number);
    } else if (a[i] != b[i]) {
      likeness *= kOtherValue;
    }
  }
  return likeness * std::exp(-squares / (2 * kLengthScale * kLengthScale));
}

}  // namespace tandem::tune
