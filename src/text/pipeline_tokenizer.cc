#include "text/pipeline_tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/utf8.h"

namespace tandem::text {
namespace {

// A text is worked on in parts of about this many bytes, so that its normal form and its words stay
// in the first-level cache and a long text is not normalised far beyond the limit.
constexpr size_t kPartBytes = 4096;
constexpr size_t kMinPartBytes = 256;
constexpr size_t kBytesPerId = 6;  // a little more than in English
// Ids of a text that nothing cuts; sums of two such numbers do not overflow.
constexpr size_t kUnlimited = std::numeric_limits<size_t>::max() / 2;

bool CutsAfterAscii(std::string_view text, size_t place) {
  return text[place] == ' ' && text[place - 1] > ' ' && text[place - 1] <= '~';
}

// The first part of `text`, about `bytes` long. The rest, where there is one, starts with a space.
std::string_view FirstPart(std::string_view text, size_t bytes, Cuts cuts) {
  if (text.size() <= bytes || cuts == Cuts::kNowhere) return text;
  if (cuts == Cuts::kAfterAscii) {
    for (size_t place = bytes; place > 0; --place) {
      if (CutsAfterAscii(text, place)) return text.substr(0, place);
    }
    while (++bytes < text.size() && !CutsAfterAscii(text, bytes)) continue;
    return text.substr(0, bytes);
  }
  const size_t before = text.substr(0, bytes + 1).rfind(' ');
  if (before != std::string_view::npos && before > 0) return text.substr(0, before);
  return text.substr(0, text.find(' ', bytes));
}

}  // namespace

struct PipelineTokenizer::Scratch {
  std::string normalized;
  std::vector<TextPiece> pieces;
  std::vector<TextPiece> normalized_pieces;
  Words words;
  WordCache cache;
};

class PipelineTokenizer::ScratchLease {
 public:
  explicit ScratchLease(const PipelineTokenizer& tokenizer) : tokenizer_(tokenizer) {
    {
      const std::scoped_lock lock(tokenizer_.pool_mutex_);
      if (!tokenizer_.pool_.empty()) {
        scratch_ = std::move(tokenizer_.pool_.back());
        tokenizer_.pool_.pop_back();
      }
    }
    if (!scratch_) scratch_ = std::make_unique<Scratch>();
  }
  ScratchLease(const ScratchLease&) = delete;
  ScratchLease& operator=(const ScratchLease&) = delete;
  ~ScratchLease() {
    const std::scoped_lock lock(tokenizer_.pool_mutex_);
    tokenizer_.pool_.push_back(std::move(scratch_));
  }

  Scratch* get() const { return scratch_.get(); }

 private:
  const PipelineTokenizer& tokenizer_;
  std::unique_ptr<Scratch> scratch_;
};

PipelineTokenizer::PipelineTokenizer(TokenizerStages stages)
    : stages_(std::move(stages)),
      cuts_(stages_.added_tokens.normalized.CutsAtSpaces()
                ? Both(stages_.normalizer->cuts(), stages_.pre_tokenizer->cuts())
                : Cuts::kNowhere) {}

PipelineTokenizer::~PipelineTokenizer() = default;

bool PipelineTokenizer::Encode(std::string_view text, size_t max_length,
                               std::vector<int32_t>* ids) const {
  const ScratchLease scratch(*this);
  return EncodeWith(scratch.get(), text, max_length, ids);
}

void PipelineTokenizer::EncodeBlock(std::span<const std::string_view> texts, size_t max_length,
                                    EncodedTexts* encoded) const {
  const ScratchLease scratch(*this);
  for (const std::string_view text : texts) {
    if (EncodeWith(scratch.get(), text, max_length, &encoded->ids)) ++encoded->truncated;
    encoded->starts.push_back(static_cast<int64_t>(encoded->ids.size()));
  }
}

bool PipelineTokenizer::EncodePair(const TextPair& pair, size_t max_length,
                                   std::vector<int32_t>* ids, std::vector<int32_t>* types) const {
  const PairTemplate& form = stages_.special_tokens.pair;
  if (form.empty()) return Tokenizer::EncodePair(pair, max_length, ids, types);
  const ScratchLease scratch(*this);
  const size_t start = ids->size(), special = form.special_tokens();
  const size_t most = max_length == 0 ? kUnlimited : max_length - std::min(max_length, special);
  std::vector<int32_t> first, second;
  const size_t enough = stages_.cuts_left ? kUnlimited : most;
  EncodePlain(scratch.get(), pair.first, enough, &first);
  EncodePlain(scratch.get(), pair.second, enough, &second);
  if (!stages_.cuts_left && first.size() > most && second.size() > most && most % 2 == 1) {
    // Which of the two is the longer one decides who has one id more, so that all ids count.
    first.clear();
    second.clear();
    EncodePlain(scratch.get(), pair.first, kUnlimited, &first);
    EncodePlain(scratch.get(), pair.second, kUnlimited, &second);
  }
  bool cut = first.size() + second.size() > most;
  const auto [of_first, of_second] = LongestFirst(first.size(), second.size(), most);
  AppendPair(form, Kept(first, of_first), Kept(second, of_second), ids, types);
  if (max_length != 0 && ids->size() - start > max_length) {  // fewer than the special tokens
    ids->resize(start + max_length);
    types->resize(start + max_length);
    cut = true;
  }
  return cut;
}

std::span<const int32_t> PipelineTokenizer::Kept(std::span<const int32_t> ids, size_t most) const {
  const size_t count = std::min(most, ids.size());
  return stages_.cuts_left ? ids.last(count) : ids.first(count);
}

bool PipelineTokenizer::EncodeWith(Scratch* scratch, std::string_view text, size_t max_length,
                                   std::vector<int32_t>* ids) const {
  const SpecialTokens& special = stages_.special_tokens;
  const size_t first = ids->size();
  ids->insert(ids->end(), special.before.begin(), special.before.end());
  const size_t reserved = std::min(max_length, special.size());
  const size_t max_ids = max_length == 0 ? kUnlimited : ids->size() + (max_length - reserved);
  EncodePlain(scratch, text, stages_.cuts_left ? kUnlimited : max_ids, ids);
  bool cut = ids->size() > max_ids;
  if (cut && stages_.cuts_left) {
    const auto begin = ids->begin() + static_cast<ptrdiff_t>(first + special.before.size());
    ids->erase(begin, begin + static_cast<ptrdiff_t>(ids->size() - max_ids));
  }
  if (cut) ids->resize(max_ids);
  ids->insert(ids->end(), special.after.begin(), special.after.end());
  if (max_length != 0 && ids->size() - first > max_length) {  // fewer than the special tokens
    ids->resize(first + max_length);
    cut = true;
  }
  return cut;
}

void PipelineTokenizer::AddId(int32_t id, std::vector<int32_t>* ids) const {
  if (static_cast<size_t>(id) >= stages_.usable_ids) {
    throw DataError("text", 0, "",
                    fmt::format("has the token \"{}\", which the tokenizer's settings name and the "
                                "model has no embedding for: its id is {}, and the model knows {}",
                                stages_.vocabulary.token(id), id, stages_.usable_ids));
  }
  ids->push_back(id);
}

void PipelineTokenizer::EncodePlain(Scratch* scratch, std::string_view text, size_t max_ids,
                                    std::vector<int32_t>* ids) const {
  if (!IsUtf8(text)) return EncodePlain(scratch, RepairUtf8(text), max_ids, ids);
  scratch->pieces.clear();
  stages_.added_tokens.plain.Split(text, &scratch->pieces);
  for (const TextPiece& piece : scratch->pieces) {
    if (ids->size() > max_ids) break;
    if (piece.id != TextPiece::kText) {
      AddId(piece.id, ids);
    } else {
      const bool starts = piece.text.data() == text.data();
      EncodePiece(scratch, {piece.text, starts}, max_ids, ids);
    }
  }
}

void PipelineTokenizer::EncodePiece(Scratch* scratch, Piece piece, size_t max_ids,
                                    std::vector<int32_t>* ids) const {
  while (!piece.text.empty() && ids->size() <= max_ids) {
    const size_t wanted = std::min(kPartBytes, max_ids - ids->size()) * kBytesPerId;
    const std::string_view part =
        FirstPart(piece.text, std::clamp(wanted, kMinPartBytes, kPartBytes), cuts_);
    piece.text.remove_prefix(part.size());
    scratch->normalized.clear();
    stages_.normalizer->Normalize(part, &scratch->normalized);
    EncodeNormalized(scratch, piece.starts, max_ids, ids);
    piece.starts = false;
  }
}

void PipelineTokenizer::EncodeNormalized(Scratch* scratch, bool starts, size_t max_ids,
                                         std::vector<int32_t>* ids) const {
  const size_t size = scratch->normalized.size();
  scratch->normalized.append(kWordPadding, '\0');
  scratch->normalized_pieces.clear();
  stages_.added_tokens.normalized.Split({scratch->normalized.data(), size},
                                        &scratch->normalized_pieces);
  for (const TextPiece& piece : scratch->normalized_pieces) {
    if (ids->size() > max_ids) return;
    if (piece.id != TextPiece::kText) {
      AddId(piece.id, ids);
      continue;
    }
    scratch->words.Clear();
    const bool first = starts && piece.text.data() == scratch->normalized.data();
    stages_.pre_tokenizer->Split(piece.text, first, &scratch->words);
    stages_.model->Tokenize(scratch->words.views(), max_ids, &scratch->cache, ids);
  }
}

}  // namespace tandem::text
