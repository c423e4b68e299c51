#include "app/flags.h"

#include <CLI/CLI.hpp>

namespace tandem::app {
namespace {

template <typename T>
Flag AddTo(CLI::App& app, std::string_view name, T& value, std::string_view help) {
  return Flag(app.add_option(std::string(name), value, std::string(help)));
}

}  // namespace

Flag Flag::Required() {
  option_->required();
  return *this;
}

Flag Flag::OneOf(std::initializer_list<std::string_view> words) {
  option_->check(CLI::IsMember(std::vector<std::string>(words.begin(), words.end())));
  return *this;
}

Flag Flag::Between(int64_t lowest, int64_t highest) {
  option_->check(CLI::Range(lowest, highest));
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
  return AddTo(app_, name, values, help);
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

Flag Flags::AddSwitch(std::string_view name, bool& value, std::string_view help) {
  return Flag(app_.add_flag(std::string(name), value, std::string(help)));
}

void Flags::SetFooter(std::string_view text) { app_.footer(std::string(text)); }

}  // namespace tandem::app
