#include "search/encoding/embedding_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files/cache_folder.h"
#include "base/hashes/running_hash.h"
#include "base/hashes/text_hash.h"
#include "base/log.h"
#include "base/process/interrupt.h"
#include "embeddings/layouts/cache_file.h"
#include "embeddings/layouts/cache_room.h"
#include "search/agree_on_inputs.h"
#include "search/encoding/block_encoder.h"
#include "search/encoding/cache_candidates.h"
#include "search/encoding/distinct_texts.h"
#include "search/encoding/encoding_source.h"
#include "search/encoding/in_order.h"
#include "search/encoding/mapped_tensor.h"
#include "tensor/core/make.h"
#include "tensor/core/parallel.h"
#include "tensor/core/tensor.h"

namespace tandem::search {
namespace {

// Everything that decides the bytes. Prompts of their own are in the hash of the texts.
embeddings::Provenance ProvenanceOf(model::DualEncoder& model, model::TextKind kind,
                                    uint64_t distinct_hash, const EncodeOptions& options) {
  embeddings::Provenance provenance;
  provenance.Add("texts", fmt::format("{:016x}", distinct_hash));
  return provenance.Add(EncodingSource(model, kind, options));
}

tensor::Tensor EncodeInMemory(BlockEncoder& encoder, size_t count, int64_t width) {
  const tensor::Tensor all = tensor::Empty({static_cast<int64_t>(count), width}, tensor::kFloat);
  encoder.Announce(count);
  encoder.Encode(0, count, [&](size_t first, const tensor::Tensor& rows) {
    all.narrow(0, static_cast<int64_t>(first), rows.size(0)).copy_(rows);
  });
  return all;
}

// The file of a set of texts in the cache, and what it holds.
struct CacheFile {
  embeddings::CacheLayout layout;
  std::filesystem::path path;
};

std::filesystem::path FolderOfFiles(const CacheOptions& options) {
  return options.folder / "embeddings";
}

CacheFile FileOf(model::DualEncoder& model, model::TextKind kind, size_t distinct,
                 uint64_t distinct_hash, const CacheOptions& options) {
  CacheFile file{.layout = {.provenance = ProvenanceOf(model, kind, distinct_hash, options.encode),
                            .shape = {.rows = distinct, .block_rows = kBlockRows},
                            .columns = static_cast<size_t>(model.embedding_width()),
                            .threads = options.encode.threads}};
  file.path =
      FolderOfFiles(options) /
      fmt::format("{:016x}{}", TextHash(file.layout.provenance.lines()), embeddings::kCacheSuffix);
  return file;
}

CacheFile FileOf(model::DualEncoder& model, model::TextKind kind, const DistinctTexts& distinct,
                 const CacheOptions& options) {
  return FileOf(model, kind, distinct.size(), distinct.hash, options);
}

// "encode documents: ", the start of a message.
std::string LabelOf(const CacheOptions& options) {
  return options.encode.label.empty() ? "" : options.encode.label + ": ";
}

// `counts` are those of the `rows` texts that came from the cache.
void TellFromCache(const model::DualEncoder& model, model::TextKind kind, const CacheFile& file,
                   size_t rows, const EncodeCounts& counts, const CacheOptions& options) {
  Note(fmt::format("{}{} of {} embeddings are from {}", LabelOf(options), rows,
                   file.layout.shape.rows, file.path.native()));
  ReportCounts(
      counts,
      kind == model::TextKind::kQuery ? "queries from the cache" : "documents from the cache",
      model.max_tokens(kind));
}

// Explains why other numbers count fewer texts than there are.
void TellCopies(size_t count, size_t distinct, const CacheOptions& options) {
  if (options.encode.label.empty() || count == distinct) return;
  Note(fmt::format("{}{} of {} texts are copies of others and share their embeddings: {} are left",
                   LabelOf(options), count - distinct, count, distinct));
}

// `kept` is the number of rows in a file of these texts that was not filled to its end.
void TellWhyNotFromCache(size_t count, const CacheCandidates& candidates, size_t kept,
                         const CacheOptions& options) {
  std::string why;
  if (kept > 0) {
    why = fmt::format("has {} of their embeddings, of a command that was stopped", kept);
  } else if (!candidates.texts.empty()) {
    why = "has embeddings by this model of other texts";
  } else if (!candidates.made_otherwise.empty()) {
    why = fmt::format("has embeddings by this model that were made in another way ({})",
                      candidates.made_otherwise);
  } else {
    return;  // the cache knows nothing of this model
  }
  Note(fmt::format("{}all {} texts are encoded: the cache {}", LabelOf(options), count, why));
}

std::string NotKept(const Error& error) {
  return fmt::format("embeddings are not kept: {}", error.what());
}

// Fills a file of the cache with the blocks that it lacks. Where one cannot be written any more,
// the rows go on in memory, so that nothing is encoded twice.
class Filling {
 public:
  Filling(BlockEncoder& encoder, const CacheFile& file, embeddings::CacheFileWriter& writer)
      : encoder_(encoder), file_(file), layout_(file.layout), writer_(writer) {}

  // Encodes neighbours together. Returns all rows if they are in memory, else an undefined tensor.
  tensor::Tensor Run() {
    const embeddings::BlockShape& shape = layout_.shape;
    encoder_.Announce(shape.rows - writer_.kept_rows());
    for (size_t block = 0; block < shape.blocks();) {
      if (writer_.has(block)) {
        ++block;
        continue;
      }
      size_t end = block + 1;
      while (end < shape.blocks() && !writer_.has(end)) ++end;
      const size_t first = block * kBlockRows, last = std::min(end * kBlockRows, shape.rows);
      encoder_.Encode(first, last - first,
                      [&](size_t at, const tensor::Tensor& rows) { Take(at, rows); });
      block = end;
    }
    return memory_;
  }

 private:
  // `rows` are those of a block, of which row `at` is the first.
  void Take(size_t at, const tensor::Tensor& rows) {
    if (!memory_.defined()) {
      try {
        writer_.Write(at / kBlockRows, {rows.data_ptr<float>(), static_cast<size_t>(rows.numel())},
                      encoder_.block_counts());
        return;
      } catch (const OutputError& error) {
        Warn(NotKept(error));
        MoveToMemory();
      }
    }
    memory_.narrow(0, static_cast<int64_t>(at), rows.size(0)).copy_(rows);
  }

  void MoveToMemory() {
    const embeddings::BlockShape& shape = layout_.shape;
    memory_ = tensor::Empty(
        {static_cast<int64_t>(shape.rows), static_cast<int64_t>(layout_.columns)}, tensor::kFloat);
    for (size_t block = 0; block < shape.blocks(); ++block) {
      if (!writer_.has(block)) continue;
      float* const to = memory_.data_ptr<float>() + shape.first_row(block) * layout_.columns;
      if (!writer_.Read(block, {to, shape.rows_of(block) * layout_.columns})) {
        throw DataError(file_.path.native(), 0, "",
                        "can neither be written nor read any more; --no-cache does without it");
      }
    }
  }

  BlockEncoder& encoder_;
  const CacheFile& file_;
  const embeddings::CacheLayout& layout_;
  embeddings::CacheFileWriter& writer_;
  tensor::Tensor memory_;  // all rows, once the file cannot be written
};

std::optional<embeddings::CacheFileWriter> WriterOf(const CacheFile& file,
                                                    const CacheOptions& options) {
  const auto waiting = [&options] {  // for another process that fills the file
    if (options.between_blocks) options.between_blocks();
    ThrowIfStopped(options.encode.stop);
  };
  try {
    return std::optional<embeddings::CacheFileWriter>(
        std::in_place, file.path, file.layout, waiting,
        options.limit ? *options.limit : CacheLimit());
  } catch (const OutputError& error) {
    Warn(NotKept(error));
    return std::nullopt;
  }
}

// The rows of the file, which is filled where it is not complete; none where it cannot be made.
std::optional<tensor::Tensor> FromFile(const model::DualEncoder& model, model::TextKind kind,
                                       BlockEncoder& encoder, const CacheFile& file,
                                       const CacheOptions& options) {
  if (auto found = embeddings::ReadCacheFile(file.path, file.layout)) {
    TellFromCache(model, kind, file, file.layout.shape.rows,
                  embeddings::CountsOf(file.path, file.layout), options);
    return TensorOf(std::move(*found));
  }
  auto writer = WriterOf(file, options);
  if (!writer) return std::nullopt;
  if (writer->kept_rows() > 0) {
    TellFromCache(model, kind, file, writer->kept_rows(), writer->kept_counts(), options);
  }
  const tensor::Tensor in_memory = Filling(encoder, file, *writer).Run();
  if (in_memory.defined()) return in_memory;
  // The lock is still held, so that no other process takes the file away for its own.
  if (auto made = embeddings::ReadCacheFile(file.path, file.layout)) {
    return TensorOf(std::move(*made));
  }
  Warn(
      fmt::format("{}: does not hold what was just written, so that the texts are encoded again; "
                  "something else changes it, or the disk is broken",
                  file.path.native()));
  return std::nullopt;
}

void AgreeOnTexts(model::DualEncoder& model, model::TextKind kind, size_t count,
                  const DistinctTexts& distinct, const EncodeOptions& options) {
  if (!options.compare_inputs) return;
  RunningHash texts;
  texts.Add(distinct.hash);
  for (const uint32_t row : distinct.row_of) texts.Add(uint64_t{row});
  AgreeOnInputs(model, kind, count, texts.value(), options);
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
      const size_t row = row_of.empty() ? first + i : row_of[first + i];
      std::copy_n(from + row * width, width, to + i * width);
    }
  });
  return of_texts;
}

CachedEmbeddings EmbedDistinct(model::DualEncoder& model, model::TextKind kind, size_t count,
                               const TextSource& text, const CacheOptions& options) {
  DistinctTexts distinct = FindDistinct(count, text, options.encode.prompt);
  AgreeOnTexts(model, kind, count, distinct, options.encode);
  const int64_t width = model.embedding_width();
  BlockEncoder encoder(model, kind, text, distinct, options);
  CachedEmbeddings cached;
  if (distinct.size() == 0) {
    cached.rows = tensor::Empty({0, width}, tensor::kFloat);
    return cached;
  }
  TellCopies(count, distinct.size(), options);
  std::optional<tensor::Tensor> rows;
  if (encoder.shared() && !encoder.leads()) {
    rows = encoder.Follow(distinct.size(), width);
  } else if (!options.folder.empty()) {
    const CacheFile file = FileOf(model, kind, distinct, options);
    rows = FromFile(model, kind, encoder, file, options);
    if (rows) cached.file = file.path;
  }
  cached.rows = rows ? *std::move(rows) : EncodeInMemory(encoder, distinct.size(), width);
  if (encoder.shared() && encoder.leads()) encoder.Complete(cached.rows);
  cached.counts = encoder.counts();
  cached.row_of = std::move(distinct.row_of);
  return cached;
}

EncodeCounts EmbedInOrder(model::DualEncoder& model, model::TextKind kind, size_t count,
                          const TextSource& text, const CacheOptions& options,
                          const EmbeddingSink& sink) {
  CachedEmbeddings cached;
  {
    DistinctTexts distinct = FindDistinct(count, text, options.encode.prompt);
    AgreeOnTexts(model, kind, count, distinct, options.encode);
    if (distinct.size() == 0) return {};
    TellCopies(count, distinct.size(), options);
    BlockEncoder encoder(model, kind, text, distinct, options);
    std::optional<tensor::Tensor> kept;
    if (!encoder.shared() && !options.folder.empty()) {
      kept = FromFile(model, kind, encoder, FileOf(model, kind, distinct, options), options);
    }
    if (!kept) {
      encoder.Announce(distinct.size());
      RowsInOrder in_order(distinct, options.encode.window_texts, model.embedding_width(), sink);
      encoder.EncodeTogether(0, distinct.size(), [&](size_t first, const tensor::Tensor& rows) {
        in_order.Add(first, rows);
      });
      return encoder.counts();
    }
    cached = {.rows = *std::move(kept),
              .row_of = std::move(distinct.row_of),
              .counts = encoder.counts(),
              .file = {}};
  }
  const size_t window = std::max<size_t>(1, options.encode.window_texts);
  for (size_t first = 0; first < count; first += window) {
    ThrowIfStopped(options.encode.stop);
    sink(first, cached.RowsOf(first, std::min(window, count - first)));
  }
  return cached.counts;
}

std::optional<CachedEmbeddings> FindInCache(model::DualEncoder& model, model::TextKind kind,
                                            size_t count, const TextSource& text,
                                            const CacheOptions& options) {
  if (options.folder.empty() || count == 0) return std::nullopt;
  const CacheCandidates candidates =
      CandidatesIn(FolderOfFiles(options), EncodingSource(model, kind, options.encode), count);
  const auto [fewest, most] = std::minmax_element(candidates.texts.begin(), candidates.texts.end());
  size_t kept = 0;
  const auto take = [&](const CacheFile& file) -> std::optional<CachedEmbeddings> {
    auto found = embeddings::ReadCacheFile(file.path, file.layout);
    if (!found) {
      kept = std::max(kept, embeddings::WholeRowsOf(file.path, file.layout));
      return std::nullopt;
    }
    TellCopies(count, file.layout.shape.rows, options);
    TellFromCache(model, kind, file, file.layout.shape.rows,
                  embeddings::CountsOf(file.path, file.layout), options);
    return CachedEmbeddings{
        .rows = TensorOf(std::move(*found)), .row_of = {}, .counts = {}, .file = file.path};
  };
  if (most != candidates.texts.end() && *most == count) {
    const uint64_t hash = HashOfDistinct(count, text, options.encode.prompt);
    if (auto found = take(FileOf(model, kind, count, hash, options))) return found;
  }
  if (fewest != candidates.texts.end() && *fewest < count) {
    DistinctTexts distinct = FindDistinct(count, text, options.encode.prompt);
    if (auto found = take(FileOf(model, kind, distinct, options))) {
      found->row_of = std::move(distinct.row_of);
      return found;
    }
  }
  TellWhyNotFromCache(count, candidates, kept, options);
  return std::nullopt;
}

CacheState LookIntoCache(model::DualEncoder& model, model::TextKind kind, size_t count,
                         const TextSource& text, const CacheOptions& options) {
  const DistinctTexts distinct = FindDistinct(count, text, options.encode.prompt);
  CacheState state{.distinct = distinct.size()};
  if (options.folder.empty() || distinct.size() == 0) return state;
  const CacheFile file = FileOf(model, kind, distinct, options);
  state.file = file.path;
  state.kept = embeddings::WholeRowsOf(file.path, file.layout);
  if (state.kept == state.distinct) return state;
  try {
    embeddings::CheckRoom(file.path, file.layout);
  } catch (const OutputError& error) {
    Warn(NotKept(error));
  }
  return state;
}

}  // namespace tandem::search
