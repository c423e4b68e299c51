#include "search/encoding/embedding_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/hashes/running_hash.h"
#include "base/hashes/text_hash.h"
#include "base/log.h"
#include "embeddings/layouts/cache_file.h"
#include "search/agree_on_inputs.h"
#include "search/encoding/distinct_texts.h"
#include "search/encoding/encoding_source.h"
#include "search/encoding/mapped_tensor.h"
#include "tensor/core/make.h"
#include "tensor/core/parallel.h"
#include "tensor/core/tensor.h"

namespace tandem::search {
namespace {

// Texts that are sorted by length and encoded together, and what an interruption can lose. More
// would make batches of more equal length, which this many already are but for 1 % of their time.
constexpr size_t kBlockRows = 4096;

// Everything that decides the bytes. Prompts of their own are in the hash of the texts.
embeddings::Provenance ProvenanceOf(model::DualEncoder& model, model::TextKind kind,
                                    const DistinctTexts& distinct, const EncodeOptions& options) {
  embeddings::Provenance provenance;
  provenance.Add("texts", fmt::format("{:016x}", distinct.hash));
  return provenance.Add(EncodingSource(model, kind, options));
}

// Encodes the distinct texts of a call, some blocks at a time.
class BlockEncoder {
 public:
  BlockEncoder(model::DualEncoder& model, model::TextKind kind, const TextSource& text,
               const DistinctTexts& distinct, const CacheOptions& options)
      : model_(model),
        kind_(kind),
        text_(text),
        distinct_(distinct),
        options_(options),
        encode_(options.encode) {
    encode_.window_texts = kBlockRows;
    encode_.compare_inputs = false;  // once for all blocks (EmbedDistinct)
    // A block is finished and kept, so that nothing of it is lost.
    if (!options.folder.empty()) encode_.stop = nullptr;
    if (!options.encode.prompt) return;
    encode_.prompt = [this](size_t i) { return options_.encode.prompt(distinct_.first[at_ + i]); };
  }

  // Rank 0 of a group tells the others what it encodes, so that they take their shares (Follow).
  void Encode(size_t first, size_t count, const EmbeddingSink& sink) {
    if (shared()) Tell(first, count);
    EncodeOwn(first, count, sink);
  }
  bool shared() const { return dist::IsShared(encode_.group); }
  bool leads() const { return encode_.group->leads(); }

  // Rank 0 calls it when it has all rows: gives the others those that they have not seen.
  void Complete(const tensor::Tensor& rows) {
    Tell(0, 0);
    for (const auto& [first, count] : Unseen(static_cast<size_t>(rows.size(0)))) {
      encode_.group->Broadcast(
          rows.narrow(0, static_cast<int64_t>(first), static_cast<int64_t>(count)));
    }
  }
  // All other ranks call it: they take part in what rank 0 encodes, until that has all rows, which
  // it returns.
  tensor::Tensor Follow(size_t count, int64_t width) {
    const tensor::Tensor all = tensor::Empty({static_cast<int64_t>(count), width}, tensor::kFloat);
    while (true) {
      const tensor::Tensor range = tensor::Zeros({2}, tensor::kLong);
      encode_.group->Broadcast(range);
      const auto* told = range.data_ptr<int64_t>();
      if (told[1] == 0) break;
      const auto first = static_cast<size_t>(told[0]), size = static_cast<size_t>(told[1]);
      seen_[first] = size;
      EncodeOwn(first, size, [&](size_t at, const tensor::Tensor& rows) {
        all.narrow(0, static_cast<int64_t>(at), rows.size(0)).copy_(rows);
      });
    }
    for (const auto& [first, size] : Unseen(count)) {
      encode_.group->Broadcast(
          all.narrow(0, static_cast<int64_t>(first), static_cast<int64_t>(size)));
    }
    return all;
  }

  const EncodeCounts& counts() const { return counts_; }

 private:
  void Tell(size_t first, size_t count) {
    const tensor::Tensor range = tensor::Empty({2}, tensor::kLong);
    range.data_ptr<int64_t>()[0] = static_cast<int64_t>(first);
    range.data_ptr<int64_t>()[1] = static_cast<int64_t>(count);
    encode_.group->Broadcast(range);
    if (count > 0) seen_[first] = count;
  }

  // The ranges of rows that were not encoded by all together: first row and number of rows.
  std::vector<std::pair<size_t, size_t>> Unseen(size_t count) const {
    std::vector<std::pair<size_t, size_t>> ranges;
    size_t next = 0;
    for (const auto& [first, size] : seen_) {
      if (first > next) ranges.emplace_back(next, first - next);
      next = first + size;
    }
    if (next < count) ranges.emplace_back(next, count - next);
    return ranges;
  }

  // Encodes texts first to first + count - 1, where `first` is a block's first text, and gives the
  // rows of one block after the other to `sink`.
  void EncodeOwn(size_t first, size_t count, const EmbeddingSink& sink) {
    at_ = first;
    const EncodeCounts counted = EncodeTexts(
        model_, kind_, count, [&](size_t i) { return text_(distinct_.first[first + i]); }, encode_,
        [&](size_t at, const tensor::Tensor& rows) {
          sink(first + at, rows);
          done_ += static_cast<size_t>(rows.size(0));
          if (options_.progress) options_.progress(done_);
          if (options_.between_blocks) options_.between_blocks();
          ThrowIfStopped();
          if (shared() && options_.between_shared_blocks) options_.between_shared_blocks();
        });
    counts_ += counted;
  }

  void ThrowIfStopped() const {
    if (const int signal = StopSignal(options_.encode.stop)) {
      throw Interrupted(signal, "interrupted");
    }
  }

  model::DualEncoder& model_;
  model::TextKind kind_;
  const TextSource& text_;
  const DistinctTexts& distinct_;
  const CacheOptions& options_;
  EncodeOptions encode_;
  size_t at_ = 0;  // the distinct text with which the call under way began
  EncodeCounts counts_;
  size_t done_ = 0;                // texts
  std::map<size_t, size_t> seen_;  // ranges that all processes have encoded: first, count
};

tensor::Tensor EncodeInMemory(BlockEncoder& encoder, size_t count, int64_t width) {
  const tensor::Tensor all = tensor::Empty({static_cast<int64_t>(count), width}, tensor::kFloat);
  encoder.Encode(0, count, [&](size_t first, const tensor::Tensor& rows) {
    all.narrow(0, static_cast<int64_t>(first), rows.size(0)).copy_(rows);
  });
  return all;
}

// Encodes the blocks that the file lacks, neighbours together.
void FillMissing(BlockEncoder& encoder, const embeddings::BlockShape& shape,
                 embeddings::CacheFileWriter& writer) {
  for (size_t block = 0; block < shape.blocks();) {
    if (writer.has(block)) {
      ++block;
      continue;
    }
    size_t end = block + 1;
    while (end < shape.blocks() && !writer.has(end)) ++end;
    const size_t first = block * kBlockRows, last = std::min(end * kBlockRows, shape.rows);
    encoder.Encode(first, last - first, [&](size_t at, const tensor::Tensor& rows) {
      writer.Write(at / kBlockRows, {rows.data_ptr<float>(), static_cast<size_t>(rows.numel())});
    });
    block = end;
  }
}

// Reads from the file, which is filled where it is not complete.
tensor::Tensor FromFile(BlockEncoder& encoder, const embeddings::CacheLayout& layout,
                        const std::filesystem::path& path, const CacheOptions& options) {
  const auto from_cache = [&](size_t rows) {
    Note(fmt::format("{}{} of {} embeddings are from {}",
                     options.encode.label.empty() ? "" : options.encode.label + ": ", rows,
                     layout.shape.rows, path.native()));
  };
  if (auto found = embeddings::ReadCacheFile(path, layout)) {
    from_cache(layout.shape.rows);
    return TensorOf(std::move(*found));
  }
  {
    embeddings::CacheFileWriter writer(path, layout, options.between_blocks);
    if (writer.kept_rows() > 0) from_cache(writer.kept_rows());
    FillMissing(encoder, layout.shape, writer);
  }
  if (auto made = embeddings::ReadCacheFile(path, layout)) return TensorOf(std::move(*made));
  throw DataError(path.native(), 0, "",
                  "does not hold what was just written; something else changes it, or the disk is "
                  "broken. TANDEM_CACHE names another folder for the cache");
}

// The file of a set of texts in the cache, and what it holds.
struct CacheFile {
  embeddings::CacheLayout layout;
  std::filesystem::path path;
};

CacheFile FileOf(model::DualEncoder& model, model::TextKind kind, const DistinctTexts& distinct,
                 const CacheOptions& options) {
  CacheFile file{.layout = {.provenance = ProvenanceOf(model, kind, distinct, options.encode),
                            .shape = {.rows = distinct.size(), .block_rows = kBlockRows},
                            .columns = static_cast<size_t>(model.embedding_width()),
                            .threads = options.encode.threads}};
  file.path = options.folder / "embeddings" /
              fmt::format("{:016x}.embeddings", TextHash(file.layout.provenance.lines()));
  return file;
}

}  // namespace

tensor::Tensor CachedEmbeddings::RowsOf(size_t first, size_t count) const {
  const auto width = static_cast<size_t>(rows.size(1));
  const tensor::Tensor of_texts =
      tensor::Empty({static_cast<int64_t>(count), rows.size(1)}, tensor::kFloat);
  const auto* from = rows.data_ptr<float>();
  auto* to = of_texts.data_ptr<float>();
  tensor::ParallelFor(0, static_cast<int64_t>(count), 256, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
      std::copy_n(from + row_of[first + i] * width, width, to + i * width);
    }
  });
  return of_texts;
}

CachedEmbeddings EmbedDistinct(model::DualEncoder& model, model::TextKind kind, size_t count,
                               const TextSource& text, const CacheOptions& options) {
  DistinctTexts distinct = FindDistinct(count, text, options.encode.prompt);
  if (options.encode.compare_inputs) {
    RunningHash texts;
    texts.Add(distinct.hash);
    for (const uint32_t row : distinct.row_of) texts.Add(uint64_t{row});
    AgreeOnInputs(model, kind, count, texts.value(), options.encode);
  }
  const int64_t width = model.embedding_width();
  BlockEncoder encoder(model, kind, text, distinct, options);
  CachedEmbeddings cached;
  if (distinct.size() == 0) {
    cached.rows = tensor::Empty({0, width}, tensor::kFloat);
    return cached;
  }
  if (encoder.shared() && !encoder.leads()) {
    cached.rows = encoder.Follow(distinct.size(), width);
  } else if (options.folder.empty()) {
    cached.rows = EncodeInMemory(encoder, distinct.size(), width);
  } else {
    const CacheFile file = FileOf(model, kind, distinct, options);
    cached.file = file.path;
    cached.rows = FromFile(encoder, file.layout, file.path, options);
  }
  if (encoder.shared() && encoder.leads()) encoder.Complete(cached.rows);
  cached.counts = encoder.counts();
  cached.row_of = std::move(distinct.row_of);
  return cached;
}

CacheState LookIntoCache(model::DualEncoder& model, model::TextKind kind, size_t count,
                         const TextSource& text, const CacheOptions& options) {
  const DistinctTexts distinct = FindDistinct(count, text, options.encode.prompt);
  CacheState state{.distinct = distinct.size()};
  if (options.folder.empty() || distinct.size() == 0) return state;
  const CacheFile file = FileOf(model, kind, distinct, options);
  state.file = file.path;
  state.kept = embeddings::WholeRowsOf(file.path, file.layout);
  if (state.kept < state.distinct) embeddings::CheckRoom(file.path, file.layout);
  return state;
}

}  // namespace tandem::search
