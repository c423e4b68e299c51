// `Replace` and `Prepend`: normalizers that write something into a text.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "text/normalizers/normalizer.h"

namespace tandem::text {

// The pattern that `Replace` looks for.
class TextPattern {
 public:
  virtual ~TextPattern() = default;

  // Appends `text` to `out` with `content` in place of each match, from left to right.
  virtual void AppendReplaced(std::string_view text, std::string_view content,
                              std::string* out) const = 0;

  // Cuts for a `Replace` of this pattern by `content`.
  virtual Cuts CutsWith(std::string_view content) const = 0;
};

// {"String": "..."}, which is not empty.
std::unique_ptr<const TextPattern> MakeStringPattern(std::string_view string);

// {"Regex": "..."}: those of the kind that SentencePiece's models have, one character or \s
// repeated by + or {n,}, are searched without PCRE2, every other one as text/regex/regex.h says.
// Throws PatternError for one that is not supported.
std::unique_ptr<const TextPattern> MakeRegexPattern(std::string_view regex);

// Writes `content` for each match, from left to right.
class Replace final : public Normalizer {
 public:
  Replace(std::unique_ptr<const TextPattern> pattern, std::string content)
      : pattern_(std::move(pattern)), content_(std::move(content)) {}

  void Normalize(std::string_view text, std::string* out) const override {
    pattern_->AppendReplaced(text, content_, out);
  }
  Cuts cuts() const override { return pattern_->CutsWith(content_); }

 private:
  std::unique_ptr<const TextPattern> pattern_;
  std::string content_;
};

// Writes `prepend` before a text that is not empty.
class Prepend final : public Normalizer {
 public:
  explicit Prepend(std::string prepend) : prepend_(std::move(prepend)) {}

  void Normalize(std::string_view text, std::string* out) const override {
    if (text.empty()) return;
    out->append(prepend_).append(text);
  }
  Cuts cuts() const override { return Cuts::kNowhere; }

 private:
  std::string prepend_;
};

}  // namespace tandem::text
