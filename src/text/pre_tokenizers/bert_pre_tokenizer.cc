#include "text/pre_tokenizers/bert_pre_tokenizer.h"

#include <array>
#include <cstdint>

#include "base/utf8.h"
#include "text/unicode/unicode.h"

namespace tandem::text {
namespace {

enum ByteClass : uint8_t { kLetter, kWhite, kMark, kBeyondAscii };

std::array<ByteClass, 256> MakeByteClasses() {
  std::array<ByteClass, 256> classes;
  classes.fill(kBeyondAscii);
  for (char32_t c = 0; c < 128; ++c) {
    classes[c] = Has(c, kSpace) ? kWhite : Has(c, kPunctuation) ? kMark : kLetter;
  }
  return classes;
}

ByteClass ByteClassOf(char32_t code_point) {
  const uint16_t flags = PropertyOf(code_point).flags;
  return (flags & kSpace) != 0 ? kWhite : (flags & kPunctuation) != 0 ? kMark : kLetter;
}

}  // namespace

void BertPreTokenizer::Split(std::string_view text, bool, Words* words) const {
  static const std::array<ByteClass, 256> byte_classes = MakeByteClasses();
  const ByteClass* const classes = byte_classes.data();
  const char* p = text.data();
  const char* const end = p + text.size();
  const char* word = p;  // start of the current word; p where there is none
  const auto finish = [&](const char* behind) {
    if (word < behind) words->Add(word, behind);
  };
  while (p < end) {
    ByteClass byte_class = classes[static_cast<unsigned char>(*p)];
    if (byte_class == kLetter) {
      ++p;
      continue;
    }
    const char* next = p + 1;
    if (byte_class == kBeyondAscii) {
      next = p;
      byte_class = ByteClassOf(NextCodePoint(next));
    }
    if (byte_class != kLetter) {
      finish(p);
      if (byte_class == kMark) words->Add(p, next);
      word = next;
    }
    p = next;
  }
  finish(end);
}

}  // namespace tandem::text
