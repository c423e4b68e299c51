// A pattern that PCRE2 has compiled. Only source files of this room include it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace tandem::text {

class Pcre2Code {
 public:
  struct Match {
    size_t begin, end;
  };

  // Compiles with PCRE2_UTF, PCRE2_UCP and PCRE2_MULTILINE, to machine code where PCRE2 can; lines
  // end at U+000A. Throws PatternError with PCRE2's message.
  explicit Pcre2Code(const std::string& pattern);
  ~Pcre2Code();
  Pcre2Code(Pcre2Code&&) noexcept;
  Pcre2Code& operator=(Pcre2Code&&) noexcept;

  // Finds the first match in `text` (valid UTF-8) that starts at byte `from`, which starts a
  // character, or after it. Safe on several threads at once. Throws DataError when the search takes
  // more than kMaxSteps steps or kMaxHeapMiB of memory.
  bool Find(std::string_view text, size_t from, Match* match) const;

  // A search of a text of 100 MB by the patterns of known tokenizers takes fewer; a pattern whose
  // time is exponential ends within seconds.
  static constexpr unsigned kMaxSteps = 100'000'000;
  static constexpr unsigned kMaxHeapMiB = 1024;

 private:
  struct Compiled;
  std::unique_ptr<const Compiled> compiled_;
};

}  // namespace tandem::text
