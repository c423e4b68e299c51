#include "sampling/masks.h"

#include <algorithm>
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
      const uint32_t document = batch.documents[column];
      columns_[Key(document)].push_back(column);
      if (rules.query_text && !rules.copies) {
        by_text_[examples.document_hash(document)].push_back(column);
      }
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
      MaskQueryText(row, cells);
      MaskSameQuery(row, cells);
      MaskInBatch(row, cells);
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

  // The paired document of `row` may have grade 0 in graded objectives.
  bool OwnIsRelevant(size_t row) const {
    for (const Judged& one : examples_.judged(batch_.queries[row])) {
      if (one.document == batch_.documents[row]) return IsRelevant(one);
    }
    return true;  // nobody judged it: the sampler chose it as a positive
  }

  // Clears the columns of the paired document of `row`.
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

  // Clears what is masked for the other rows with the text of this row's query.
  void MaskSameQuery(size_t row, uint8_t* cells) const {
    if (!rules_.same_query) return;
    for (const uint32_t other : SameQuery(row)) {
      if (OwnIsRelevant(other)) MaskOwn(other, cells);
      MaskKnownPositives(other, cells);
    }
  }

  // Clears the columns of documents with the text of the query of `row`.
  void MaskQueryText(size_t row, uint8_t* cells) const {
    if (!rules_.query_text) return;
    MaskColumns(rules_.copies ? columns_ : by_text_, examples_.query_hash(batch_.queries[row]),
                cells);
  }

  // Clears all columns but those of the extra documents of `row`.
  void MaskInBatch(size_t row, uint8_t* cells) const {
    if (rules_.in_batch) return;
    std::fill(cells, cells + batch_.extra_starts[row], 0);
    std::fill(cells + batch_.extra_starts[row + 1], cells + batch_.columns(), 0);
  }

  void MaskDocument(uint32_t document, uint8_t* cells) const {
    MaskColumns(columns_, Key(document), cells);
  }

  static void MaskColumns(const Columns& columns, uint64_t key, uint8_t* cells) {
    const auto found = columns.find(key);
    if (found == columns.end()) return;
    for (const uint32_t column : found->second) cells[column] = 0;
  }

  std::vector<uint8_t> AllButDiagonal() const {
    std::vector<uint8_t> mask((end_ - begin_) * batch_.rows(), rules_.in_batch ? 1 : 0);
    for (size_t row = begin_; row < end_; ++row) mask[SquareCell(row, row)] = 0;
    return mask;
  }

  // The place in a matrix that has a column for each row of the batch.
  size_t SquareCell(size_t row, size_t column) const {
    return (row - begin_) * batch_.rows() + column;
  }

  const Examples& examples_;
  const Batch& batch_;
  const MaskRules& rules_;
  size_t begin_, end_;  // the rows that have masks
  Columns columns_;     // by Key
  Columns by_text_;     // by hash of the document's text, where Key is another one
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
