// Patterns of known tokenizers, and where a text may be cut for them.
#pragma once

#include <span>
#include <string_view>

#include "text/pre_tokenizers/cuts.h"

namespace tandem::text {

// The pattern at which ByteLevel cuts: GPT-2, RoBERTa, ModernBERT.
inline constexpr std::string_view kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

// Qwen 2 and Qwen 3.
inline constexpr std::string_view kQwen2Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

// See PreTokenizer for what the two mean.
struct PatternCuts {
  Cuts cuts = Cuts::kNowhere;
  Cuts cuts_if_later = Cuts::kNowhere;
};

// Patterns of words, as kGpt2Pattern is one, and of characters that are no spaces.
std::span<const std::string_view> KnownWordPatterns();
std::span<const std::string_view> KnownSpacelessPatterns();

// The cuts of a Split that makes each match a word; kNowhere for a pattern that is not known.
PatternCuts CutsOf(std::string_view pattern);

}  // namespace tandem::text
