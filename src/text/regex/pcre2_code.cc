#include "text/regex/pcre2_code.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <fmt/format.h>
#include <pcre2.h>

#include <array>
#include <new>

#include "base/error.h"
#include "text/regex/regex_pattern.h"

namespace tandem::text {
namespace {

// Machine code runs on a stack of its own: this much at first, at most the other. Where that is not
// enough, PCRE2's interpreter runs, which takes memory from the heap.
constexpr size_t kFirstStackBytes = size_t{64} << 10;
constexpr size_t kMaxStackBytes = size_t{8} << 20;

template <auto kFree>
struct Freer {
  template <typename T>
  void operator()(T* object) const {
    kFree(object);
  }
};
template <typename T, auto kFree>
using Owned = std::unique_ptr<T, Freer<kFree>>;

// `new`'s promise for PCRE2's own makers, which return null where memory runs out.
template <typename T>
T* NotNull(T* made) {
  if (made == nullptr) throw std::bad_alloc();
  return made;
}

// The memory that a search needs besides the pattern, one for each thread.
struct SearchMemory {
  Owned<pcre2_match_data, pcre2_match_data_free> data{NotNull(pcre2_match_data_create(1, nullptr))};
  Owned<pcre2_match_context, pcre2_match_context_free> context{
      NotNull(pcre2_match_context_create(nullptr))};
  Owned<pcre2_jit_stack, pcre2_jit_stack_free> stack{
      pcre2_jit_stack_create(kFirstStackBytes, kMaxStackBytes, nullptr)};

  SearchMemory() {
    pcre2_set_match_limit(context.get(), Pcre2Code::kMaxSteps);
    pcre2_set_depth_limit(context.get(), Pcre2Code::kMaxSteps);
    pcre2_set_heap_limit(context.get(), Pcre2Code::kMaxHeapMiB << 10);
    if (stack) pcre2_jit_stack_assign(context.get(), nullptr, stack.get());
  }
};

std::string MessageOf(int code) {
  std::array<PCRE2_UCHAR, 256> message{};
  pcre2_get_error_message(code, message.data(), message.size());
  return reinterpret_cast<const char*>(message.data());
}

Owned<pcre2_code, pcre2_code_free> Compile(const std::string& pattern) {
  const Owned<pcre2_compile_context, pcre2_compile_context_free> context(
      NotNull(pcre2_compile_context_create(nullptr)));
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  int error = 0;
  PCRE2_SIZE offset = 0;
  Owned<pcre2_code, pcre2_code_free> code(
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                    PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE, &error, &offset, context.get()));
  if (!code) throw PatternError(MessageOf(error));
  return code;
}

}  // namespace

struct Pcre2Code::Compiled {
  explicit Compiled(const std::string& text)
      : code(Compile(text)), jit(pcre2_jit_compile(code.get(), PCRE2_JIT_COMPLETE) == 0) {}

  Owned<pcre2_code, pcre2_code_free> code;
  bool jit;
};

Pcre2Code::Pcre2Code(const std::string& pattern) : compiled_(std::make_unique<Compiled>(pattern)) {}
Pcre2Code::~Pcre2Code() = default;
Pcre2Code::Pcre2Code(Pcre2Code&&) noexcept = default;
Pcre2Code& Pcre2Code::operator=(Pcre2Code&&) noexcept = default;

bool Pcre2Code::Find(std::string_view text, size_t from, Match* match) const {
  static thread_local const SearchMemory memory;
  const auto* const subject = reinterpret_cast<PCRE2_SPTR>(text.data());
  pcre2_match_data* const data = memory.data.get();
  pcre2_match_context* const context = memory.context.get();
  const pcre2_code* const code = compiled_->code.get();
  int found = PCRE2_ERROR_JIT_STACKLIMIT;
  if (compiled_->jit) {
    found = pcre2_jit_match(code, subject, text.size(), from, PCRE2_NO_UTF_CHECK, data, context);
  }
  if (found == PCRE2_ERROR_JIT_STACKLIMIT) {
    found = pcre2_match(code, subject, text.size(), from, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, data,
                        context);
  }
  if (found == PCRE2_ERROR_NOMATCH) return false;
  if (found < 0) {
    throw DataError("text", 0, "",
                    fmt::format("the tokenizer's regular expression cannot search {} bytes: {}",
                                text.size(), MessageOf(found)));
  }
  const PCRE2_SIZE* const ends = pcre2_get_ovector_pointer(data);
  *match = {ends[0], ends[1]};
  return true;
}

}  // namespace tandem::text
