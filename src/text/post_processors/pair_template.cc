#include "text/post_processors/pair_template.h"

#include <algorithm>

namespace tandem::text {

using PieceKind = PairPiece::Kind;

size_t PairTemplate::special_tokens() const {
  return static_cast<size_t>(
      std::count_if(pieces.begin(), pieces.end(),
                    [](const PairPiece& piece) { return piece.kind == PieceKind::kSpecial; }));
}

PairTemplate BertPair(int32_t cls, int32_t sep) {
  return {{{PieceKind::kSpecial, cls, 0},
           {PieceKind::kFirst, 0, 0},
           {PieceKind::kSpecial, sep, 0},
           {PieceKind::kSecond, 0, 1},
           {PieceKind::kSpecial, sep, 1}}};
}

PairTemplate RobertaPair(int32_t cls, int32_t sep) {
  return {{{PieceKind::kSpecial, cls, 0},
           {PieceKind::kFirst, 0, 0},
           {PieceKind::kSpecial, sep, 0},
           {PieceKind::kSpecial, sep, 0},
           {PieceKind::kSecond, 0, 0},
           {PieceKind::kSpecial, sep, 0}}};
}

std::pair<size_t, size_t> LongestFirst(size_t first, size_t second, size_t most) {
  if (first + second <= most) return {first, second};
  const bool swapped = first > second;
  size_t shorter = std::min(first, second);
  size_t longer = shorter > most ? shorter : std::max(shorter, most - shorter);
  if (shorter + longer > most) {
    shorter = most / 2;
    longer = shorter + most % 2;
  }
  return swapped ? std::pair(longer, shorter) : std::pair(shorter, longer);
}

void AppendPair(const PairTemplate& pair, std::span<const int32_t> first,
                std::span<const int32_t> second, std::vector<int32_t>* ids,
                std::vector<int32_t>* types) {
  for (const PairPiece& piece : pair.pieces) {
    if (piece.kind == PieceKind::kSpecial) {
      ids->push_back(piece.id);
    } else {
      const std::span<const int32_t> text = piece.kind == PieceKind::kFirst ? first : second;
      ids->insert(ids->end(), text.begin(), text.end());
    }
    types->resize(ids->size(), piece.type);
  }
}

}  // namespace tandem::text
