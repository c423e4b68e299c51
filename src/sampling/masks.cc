#include "sampling/masks.h"

#include <unordered_map>
#include <utility>

namespace tandem::sampling {
namespace {

using Columns = std::unordered_map<uint64_t, std::vector<uint32_t>>;

class MaskMaker {
 public:
  MaskMaker(const Examples& examples, const Batch& batch, const MaskRules& rules, size_t begin,
            size_t end)
      : examples_(examples), batch_(batch), rules_(rules), begin_(begin), end_(end) {
    for (uint32_t column = 0; column < batch.columns(); ++column) {
      columns_[Key(batch.documents[column])].push_back(column);
    }
    for (uint32_t row = 0; row < batch.rows(); ++row) {
      rows_[examples.query_hash(batch.queries[row])].push_back(row);
    }
  }

  std::vector<uint8_t> Negative() const {
    std::vector<uint8_t> mask((end_ - begin_) * batch_.columns(), 1);
    for (size_t row = begin_; row < end_; ++row) {
      uint8_t* cells = mask.data() + (row - begin_) * batch_.columns();
      MaskOwn(row, cells);
      MaskKnownPositives(row, cells);
      if (!rules_.same_query) continue;
      for (const uint32_t other : SameQuery(row)) {
        if (OwnIsRelevant(other)) MaskOwn(other, cells);
        MaskKnownPositives(other, cells);
      }
    }
    return mask;
  }

  std::vector<uint8_t> QueryNegative() const {
    std::vector<uint8_t> mask = AllButDiagonal();
    for (size_t row = begin_; rules_.same_query && row < end_; ++row) {
      for (const uint32_t other : SameQuery(row)) mask[SquareCell(row, other)] = 0;
    }
    return mask;
  }

  std::vector<uint8_t> DocumentNegative() const {
    std::vector<uint8_t> mask = AllButDiagonal();
    for (size_t row = begin_; rules_.copies && row < end_; ++row) {
      for (const uint32_t column : columns_.at(Key(batch_.documents[row]))) {
        if (column < batch_.rows()) mask[SquareCell(row, column)] = 0;
      }
    }
    return mask;
  }

 private:
  // Columns with equal keys have the same document. Where copies count, the key is the hash of its
  // text.
  uint64_t Key(uint32_t document) const {
    return rules_.copies ? examples_.document_hash(document) : document;
  }

  const std::vector<uint32_t>& SameQuery(size_t row) const {
    return rows_.at(examples_.query_hash(batch_.queries[row]));
  }

  bool IsRelevant(const Judged& one) const {
    return one.grade > 0 || one.grade >= examples_.positive_grade();
  }

  // The own document of `row` may have grade 0 in graded objectives.
  bool OwnIsRelevant(size_t row) const {
    for (const Judged& one : examples_.judged(batch_.queries[row])) {
      if (one.document == batch_.documents[row]) return IsRelevant(one);
    }
    return true;  // nobody judged it: the sampler chose it as a positive
  }

  // Clears the columns of the own document of `row`.
  void MaskOwn(size_t row, uint8_t* cells) const {
    if (rules_.copies) {
      MaskDocument(batch_.documents[row], cells);
    } else {
      cells[row] = 0;
    }
  }

  // Clears the columns of the documents that are judged relevant for the query of `row`.
  void MaskKnownPositives(size_t row, uint8_t* cells) const {
    if (!rules_.known_positives) return;
    for (const Judged& one : examples_.known(batch_.queries[row])) {
      if (IsRelevant(one)) MaskDocument(one.document, cells);
    }
  }

  void MaskDocument(uint32_t document, uint8_t* cells) const {
    const auto found = columns_.find(Key(document));
    if (found == columns_.end()) return;
    for (const uint32_t column : found->second) cells[column] = 0;
  }

  std::vector<uint8_t> AllButDiagonal() const {
    std::vector<uint8_t> mask((end_ - begin_) * batch_.rows(), 1);
    for (size_t row = begin_; row < end_; ++row) mask[SquareCell(row, row)] = 0;
    return mask;
  }

  // Of a matrix that has a column for each row of the batch.
  size_t SquareCell(size_t row, size_t column) const {
    return (row - begin_) * batch_.rows() + column;
  }

  const Examples& examples_;
  const Batch& batch_;
  const MaskRules& rules_;
  size_t begin_, end_;  // the rows that have masks
  Columns columns_;     // by Key
  Columns rows_;        // by hash of the query's text
};

}  // namespace

Masks MakeMasks(const Examples& examples, const Batch& batch, const MaskRules& rules) {
  return MakeMasks(examples, batch, rules, 0, batch.rows());
}

Masks MakeMasks(const Examples& examples, const Batch& batch, const MaskRules& rules, size_t begin,
                size_t end) {
  const MaskMaker maker(examples, batch, rules, begin, end);
  return {.negative = maker.Negative(),
          .query_negative = maker.QueryNegative(),
          .document_negative = maker.DocumentNegative()};
}

}  // namespace tandem::sampling
