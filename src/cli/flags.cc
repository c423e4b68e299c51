#include "cli/flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <system_error>
#include <type_traits>

#include "base/error.h"

namespace tandem::app {
namespace {

constexpr int64_t kNoUpperBound = 1'000'000'000;  // help and messages do not show a bound this high

// CLI11 passes values as words. Its versions differ in which words they take for numbers and in
// their messages about other words, so that both are decided here.

[[noreturn]] void ThrowWrongValue(std::string_view flag, std::string_view word,
                                  std::string_view expected) {
  throw UsageError(
      fmt::format("{} is {}; expected {}", flag, word.empty() ? "empty" : word, expected));
}

// Reads decimal digits, after a minus at most. Returns false for other words and for numbers that
// `Number` cannot hold.
template <typename Number>
bool ReadNumber(std::string_view word, Number& value) {
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, value);
  return error == std::errc() && stop == end;
}

void Read(std::string_view, const std::string& word, std::string& value) { value = word; }

void Read(std::string_view flag, const std::string& word, double& value) {
  if (!ReadNumber(word, value)) ThrowWrongValue(flag, word, "a number");
}

template <typename Integer>
requires std::is_integral_v<Integer>
void Read(std::string_view flag, const std::string& word, Integer& value) {
  if (ReadNumber(word, value)) return;
  ThrowWrongValue(flag, word,
                  std::is_signed_v<Integer> ? "a whole number" : "a whole number of at least 0");
}

template <typename T>
void Read(std::string_view flag, const std::string& word, std::optional<T>& value) {
  T read{};
  Read(flag, word, read);
  value = read;
}

std::string RangeText(int64_t lowest, int64_t highest) {
  if (highest >= kNoUpperBound) return fmt::format("at least {}", lowest);
  return fmt::format("{} to {}", lowest, highest);
}

// --- Flags ---------------------------------------------------------------------------------------

std::string DefaultText(const std::string& value) { return value; }
template <typename T>
requires std::is_arithmetic_v<T> std::string DefaultText(T value) {
  return fmt::format("{}", value);
}
template <typename T>
std::string DefaultText(const std::optional<T>& value) {
  return value ? DefaultText(*value) : std::string();
}

template <typename T>
constexpr const char* kTypeName = std::is_integral_v<T> ? "INT" : "TEXT";
template <>
constexpr const char* kTypeName<double> = "NUMBER";
template <typename T>
constexpr const char* kTypeName<std::optional<T>> = kTypeName<T>;

// Adds a flag with one value.
template <typename T>
Flag AddTo(CLI::App& app, std::string_view name, T& value, std::string_view help) {
  const std::string flag(name);
  CLI::Option* option = app.add_option(
      flag,
      [flag, &value](const CLI::results_t& words) {
        if (words.size() != 1) {
          throw UsageError(fmt::format("{} takes one value and got {}: {}", flag, words.size(),
                                       fmt::join(words, ", ")));
        }
        Read(flag, words.front(), value);
        return true;
      },
      std::string(help), false, [&value] { return DefaultText(value); });
  option->type_name(kTypeName<T>);
  option->type_size(1)->expected(1);
  option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);  // the callback counts the values
  return Flag(option);
}

}  // namespace

Flag Flag::Required() {
  option_->required();
  return *this;
}

Flag Flag::OneOf(std::initializer_list<std::string_view> words) {
  const std::vector<std::string> known(words.begin(), words.end());
  option_->type_name(fmt::format("{}", fmt::join(known, "|")));
  option_->check([known, flag = option_->get_name()](const std::string& word) {
    if (std::find(known.begin(), known.end(), word) == known.end()) {
      const std::vector<std::string> first(known.begin(), known.end() - 1);
      ThrowWrongValue(flag, word, fmt::format("{} or {}", fmt::join(first, ", "), known.back()));
    }
    return std::string();
  });
  return *this;
}

Flag Flag::Between(int64_t lowest, int64_t highest) {
  const std::string range = RangeText(lowest, highest);
  option_->description(fmt::format("{} [{}]", option_->get_description(), range));
  option_->check([lowest, highest, range, flag = option_->get_name()](const std::string& word) {
    int64_t value = 0;
    if (!ReadNumber(word, value) || value < lowest || value > highest) {
      ThrowWrongValue(flag, word, fmt::format("a whole number, {}", range));
    }
    return std::string();
  });
  return *this;
}

Flag Flag::Folder(std::string_view what_it_holds) {
  option_->type_name("FOLDER");
  option_->check(
      [what = std::string(what_it_holds), flag = option_->get_name()](const std::string& word) {
        if (word == "-") {
          throw UsageError(fmt::format("{} - is no folder; {}: give a folder", flag, what));
        }
        return std::string();
      });
  return *this;
}

Flag Flag::Takes(std::string_view what) {
  option_->type_name(std::string(what));
  return *this;
}

Flag Flag::Excludes(Flag other) {
  option_->excludes(other.option_);
  return *this;
}

Flag Flag::OneValueEachTime() {
  option_->allow_extra_args(false);
  return *this;
}

Flag Flag::ShowDefault() {
  option_->capture_default_str();
  return *this;
}

Flag Flag::ShowDefault(std::string_view text) {
  option_->default_str(std::string(text));
  return *this;
}

Flag Flags::Add(std::string_view name, std::string& value, std::string_view help) {
  return AddTo(app_, name, value, help);
}

Flag Flags::Add(std::string_view name, std::vector<std::string>& values, std::string_view help) {
  return Flag(app_.add_option(std::string(name), values, std::string(help)));
}

Flag Flags::Add(std::string_view name, int& value, std::string_view help) {
  return AddTo(app_, name, value, help);
}

Flag Flags::Add(std::string_view name, int64_t& value, std::string_view help) {
  return AddTo(app_, name, value, help);
}

Flag Flags::Add(std::string_view name, size_t& value, std::string_view help) {
  return AddTo(app_, name, value, help);
}

Flag Flags::Add(std::string_view name, double& value, std::string_view help) {
  return AddTo(app_, name, value, help);
}

Flag Flags::Add(std::string_view name, std::optional<int64_t>& value, std::string_view help) {
  return AddTo(app_, name, value, help);
}

Flag Flags::Add(std::string_view name, std::optional<size_t>& value, std::string_view help) {
  return AddTo(app_, name, value, help);
}

Flag Flags::Add(std::string_view name, std::optional<double>& value, std::string_view help) {
  return AddTo(app_, name, value, help);
}

Flag Flags::Add(std::string_view name, std::optional<std::string>& value, std::string_view help) {
  return AddTo(app_, name, value, help);
}

Flag Flags::AddSwitch(std::string_view name, bool& value, std::string_view help) {
  CLI::Option* option = app_.add_flag(std::string(name), value, std::string(help));
  option->disable_flag_override();  // --name=value is an error
  return Flag(option);
}

void Flags::SetFooter(std::string_view text) { app_.footer(std::string(text)); }

}  // namespace tandem::app
