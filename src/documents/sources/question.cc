// A question, and the answer that follows it.
#include <algorithm>
#include <optional>

#include "documents/masking.h"
#include "documents/pair_source.h"
#include "documents/passages/sentences.h"
#include "documents/passages/words.h"

namespace tandem::documents {
namespace {

constexpr size_t kLeastQuestionWords = 3;

// The text without "Q:" or "A:" before it.
std::string_view WithoutMark(std::string_view text) {
  for (const std::string_view mark : {"Q:", "A:", "Q.", "A.", "Question:", "Answer:"}) {
    if (!text.starts_with(mark)) continue;
    const Span rest = Trimmed(text, {mark.size(), text.size()});
    return text.substr(rest.begin, rest.size());
  }
  return text;
}

bool IsQuestion(std::string_view sentence) {
  return (sentence.ends_with('?') || sentence.ends_with("？") || sentence.ends_with("؟")) &&
         WordCount(sentence) >= kLeastQuestionWords;
}

class Questions {
 public:
  Questions(const Document& document, const PairSink& found) : document_(document), found_(found) {}

  void Find() {
    for (const Section& section : SectionsOf(document_)) {
      const Span heading = document_.blocks[section.heading].span;
      if (IsQuestion(document_.Of(heading))) Add(heading, section.body);
    }
    for (size_t b = 0; b < document_.blocks.size(); ++b) {
      const BlockKind kind = document_.blocks[b].kind;
      if (kind == BlockKind::kParagraph || kind == BlockKind::kListItem) InBlock(b);
    }
  }

 private:
  // A question that is a block is answered by those up to the next question or heading; one in a
  // block by the sentences up to the next one there.
  void InBlock(size_t block) {
    const Span span = document_.blocks[block].span;
    const std::vector<Span> sentences = SentencesOf(document_.text, span);
    for (size_t s = 0; s < sentences.size(); ++s) {
      if (!IsQuestion(document_.Of(sentences[s]))) continue;
      if (sentences.size() == 1) {
        Add(span, {span.end, EndOfAnswer(block + 1)});
        return;
      }
      const auto next =
          std::find_if(sentences.begin() + static_cast<std::ptrdiff_t>(s) + 1, sentences.end(),
                       [&](Span one) { return IsQuestion(document_.Of(one)); });
      Add(sentences[s], {sentences[s].end, next == sentences.end() ? span.end : next->begin});
    }
  }

  size_t EndOfAnswer(size_t block) const {
    for (; block < document_.blocks.size(); ++block) {
      const Block& one = document_.blocks[block];
      if (one.kind == BlockKind::kHeading || IsQuestion(document_.Of(one.span))) {
        return one.span.begin;
      }
    }
    return document_.text.size();
  }

  void Add(Span question, Span answer) {
    const std::string query(WithoutMark(document_.Of(question)));
    answer = Trimmed(document_.text, answer);
    found_(
        {.query = query, .text = std::string(WithoutMark(MaskedText(document_, answer, query)))});
  }

  const Document& document_;
  const PairSink& found_;
};

void FindQuestions(const Document& document, const PairSink& found) {
  Questions(document, found).Find();
}

}  // namespace

extern const PairSource kQuestion{
    {.name = "question",
     .summary = "a heading, a paragraph or a sentence that asks -> the answer below or after it",
     .source = "questions and answers of web pages (CCQA, Huber et al. 2022)"},
    5,
    FindQuestions};

}  // namespace tandem::documents
