#include "search/retrieval/model_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/log.h"
#include "search/encoding/encoding_source.h"
#include "tensor/core/make.h"
#include "tensor/core/tensor.h"

namespace tandem::search {

embeddings::EmbeddingParts OpenPartsFor(const std::filesystem::path& folder,
                                        model::DualEncoder& model, model::TextKind kind,
                                        const EncodeOptions& options) {
  embeddings::EmbeddingParts parts(folder);
  embeddings::Provenance wanted;
  wanted.Add("width", fmt::format("{}", model.embedding_width()));
  parts.CheckMadeWith(wanted.Add(EncodingSource(model, kind, options)));
  return parts;
}

embeddings::ExpectedTexts ExpectedOf(const data::Texts& texts) {
  return {.count = texts.size(),
          .id = [&texts](size_t i) { return texts.id(i); },
          .text = [&texts](size_t i) { return texts.text(i); }};
}

void PartReader::GoTo(size_t row) {
  while (!part_ || row >= part_->record().first_row + part_->record().rows) {
    part_.reset();  // before the next is mapped
    part_.emplace(parts_.Open(next_++, threads_));
    part_->CheckTexts(texts_);
  }
}

tensor::Tensor PartReader::RowsHere(size_t first, size_t count) const {
  const embeddings::PartRecord& record = part_->record();
  const size_t skipped = first - record.first_row;
  return tensor::FromBlob(const_cast<float*>(part_->values().data()) + skipped * record.width,
                          {static_cast<int64_t>(std::min(count, record.rows - skipped)),
                           static_cast<int64_t>(record.width)},
                          tensor::kFloat);
}

tensor::Tensor PartReader::Rows(size_t first, size_t count) {
  GoTo(first);
  const tensor::Tensor here = RowsHere(first, count);
  if (here.size(0) == static_cast<int64_t>(count)) return here;
  const tensor::Tensor rows =
      tensor::Empty({static_cast<int64_t>(count), here.size(1)}, tensor::kFloat);
  for (size_t done = 0; done < count;) {
    GoTo(first + done);
    const tensor::Tensor some = RowsHere(first + done, count - done);
    rows.narrow(0, static_cast<int64_t>(done), some.size(0)).copy_(some);
    done += static_cast<size_t>(some.size(0));
  }
  return rows;
}

std::vector<RowBlock> RowBlocksOf(const embeddings::EmbeddingParts& parts, const data::Texts& texts,
                                  std::string_view what, int threads) {
  parts.CheckCount(texts.size(), what);
  NoteParts(parts);
  std::vector<RowBlock> blocks;
  for (size_t i = 0; i < parts.size(); ++i) {
    auto part = std::make_shared<const embeddings::EmbeddingPart>(parts.Open(i, threads));
    part->CheckTexts(ExpectedOf(texts));
    blocks.push_back({.values = part->values().data(), .rows = part->record().rows});
    blocks.back().owner = std::move(part);
  }
  return blocks;
}

void NoteParts(const embeddings::EmbeddingParts& parts) {
  Note(fmt::format("{} embeddings are from {}, in {} part{}", parts.rows(), parts.folder().native(),
                   parts.size(), parts.size() == 1 ? "" : "s"));
}

}  // namespace tandem::search
