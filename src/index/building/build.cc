#include "index/building/build.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/files/files.h"
#include "base/log.h"
#include "base/progress.h"
#include "embeddings/layouts/staged_rows.h"
#include "index/building/model_copy.h"
#include "index/folder/index_folder.h"
#include "index/folder/index_info.h"
#include "index/folder/removal.h"
#include "index/segments/segment.h"
#include "search/encoding/block_encoder.h"
#include "search/encoding/embedding_cache.h"
#include "search/encoding/encoding_source.h"
#include "search/retrieval/exact.h"
#include "search/retrieval/model_parts.h"
#include "tensor/core/tensor.h"

namespace tandem::index {
namespace {

// Texts that are sorted by length and encoded together, and what an interruption can lose. Those of
// the cache, so that what is taken from it has the bytes that are encoded without it.
using search::kBlockRows;

// Returns the lines that decide the bytes of the segment, besides the kind, which is built anew in
// any case.
std::string SourceLines(const IndexEncoder& encoder, const DocumentSource& source,
                        std::string_view change) {
  return fmt::format(
      "{}\ndocuments {:016x} with titles\n{}block {}\n{}", change, source.hash,
      encoder.parts == nullptr ? "" : fmt::format("parts {:016x}\n", encoder.parts->hash()),
      kBlockRows,
      search::EncodingSource(encoder.model, model::TextKind::kDocument, encoder.encode).lines());
}

// Reads the documents into `work`, unless they are there.
StagedDocuments Stage(const std::filesystem::path& work, const DocumentSource& source,
                      const std::vector<data::MetadataField>& fields,
                      const ChangeOptions& options) {
  RemoveUnfinishedFiles(work);
  if (!StagedDocuments::AreIn(work)) {
    Progress progress({.label = "read documents", .unit = "documents"});
    StageDocuments(work, source.next,
                   {.fields = fields,
                    .progress = [&](uint64_t rows) { progress.Update(rows); },
                    .stop = options.stop});
  }
  return StagedDocuments(work);
}

void CheckFinite(std::span<const float> values, size_t width, const StagedDocuments& staged,
                 size_t first) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) continue;
    throw NumericError(fmt::format("the embedding of document {} has numbers that are not finite",
                                   staged.id(first + i / width)));
  }
}

// Gives `vectors` the next block.
void AppendBlock(const IndexEncoder& encoder, const tensor::Tensor& embeddings,
                 const StagedDocuments& staged, embeddings::StagedRows& vectors) {
  const tensor::Tensor rows = search::RowsFor(embeddings, encoder.description.similarity);
  const std::span<const float> values(rows.data_ptr<float>(), static_cast<size_t>(rows.numel()));
  CheckFinite(values, encoder.description.width, staged, vectors.whole_rows());
  vectors.Append(values);
  staged.ReleasePages();
}

// Takes the vectors that are missing from the parts, in the same blocks.
void TakeFromParts(const IndexEncoder& encoder, const StagedDocuments& staged,
                   const ChangeOptions& options, embeddings::StagedRows& vectors) {
  Progress progress({.label = "read embeddings",
                     .unit = "documents",
                     .total = staged.rows(),
                     .first = vectors.whole_rows()});
  search::PartReader reader(*encoder.parts,
                            {.count = staged.rows(),
                             .id = [&staged](size_t i) { return staged.id(i); },
                             .text = [&staged](size_t i) { return staged.text(i); }},
                            options.threads);
  while (vectors.whole_rows() < staged.rows()) {
    const size_t first = vectors.whole_rows();
    AppendBlock(encoder, reader.Rows(first, std::min(kBlockRows, staged.rows() - first)), staged,
                vectors);
    progress.Update(vectors.whole_rows());
    ThrowIfStopped(options.stop);
  }
}

// Takes the vectors that are missing from the cache. Returns false where it has not all of them.
bool TakeFromCache(const IndexEncoder& encoder, const search::EncodeOptions& encode,
                   const StagedDocuments& staged, const ChangeOptions& options,
                   embeddings::StagedRows& vectors) {
  const auto found = search::FindInCache(encoder.model, model::TextKind::kDocument, staged.rows(),
                                         [&](size_t i) {
                                           if (i % kBlockRows == 0) {
                                             ThrowIfStopped(options.stop);
                                             staged.ReleasePages();
                                           }
                                           return staged.text(i);
                                         },
                                         {.folder = encoder.cache, .encode = encode});
  if (!found) return false;
  while (vectors.whole_rows() < staged.rows()) {
    const size_t first = vectors.whole_rows();
    AppendBlock(encoder, found->RowsOf(first, std::min(kBlockRows, staged.rows() - first)), staged,
                vectors);
    ThrowIfStopped(options.stop);
  }
  return true;
}

// Who may stop the encoding of a block: nobody where it is finished and kept (ThrowIfStopped).
StopRequest StopWithinBlocks(const DocumentSource& source, const ChangeOptions& options) {
  return source.hash != 0 ? nullptr : options.stop;
}

// Makes the vectors that `work` has not yet.
void Encode(IndexEncoder& encoder, const StagedDocuments& staged, const std::filesystem::path& work,
            const ChangeOptions& options, BuildReport* report) {
  if (encoder.parts != nullptr) encoder.parts->CheckCount(staged.rows(), "documents");
  embeddings::StagedRows vectors(work / kVectorsName,
                                 {staged.rows(), encoder.description.width, kBlockRows});
  const size_t before = vectors.whole_rows();
  report->resumed = before;
  if (before > 0) {
    Note(fmt::format("{} of {} documents have been encoded before", before, staged.rows()));
  }
  if (encoder.parts != nullptr) return TakeFromParts(encoder, staged, options, vectors);
  const std::shared_ptr<void> held = encoder.hold ? encoder.hold() : nullptr;
  search::EncodeOptions encode = encoder.encode;
  encode.window_texts = kBlockRows;
  encode.label = "encode documents";
  encode.encoded_before = before;
  if (before < staged.rows() && TakeFromCache(encoder, encode, staged, options, vectors)) return;
  report->counts = search::EncodeTexts(
      encoder.model, model::TextKind::kDocument, staged.rows() - before,
      [&](size_t i) { return staged.text(before + i); }, encode,
      [&](size_t, const tensor::Tensor& embeddings) {
        AppendBlock(encoder, embeddings, staged, vectors);
        ThrowIfStopped(options.stop);
      });
}

// Checks before hours of work what can be known then.
void CheckChoice(const KindChoice& choice, size_t width) {
  if (choice.kind->check != nullptr) choice.kind->check(width, choice.params);
}

// Documents whose id the index has: errors, or rows to mark.
void FindIdsThatAreThere(const StagedDocuments& staged, bool update, RemovalMarks* marks) {
  for (size_t row = 0; row < staged.rows(); ++row) {
    const auto there = marks->Find(staged.id(row));
    if (!there) continue;
    if (!update) {
      const StagedDocuments::Place place = staged.place(row);
      throw DataError(place.file, place.line, staged.id(row),
                      "the index has a document with this id; --update puts this one in its place");
    }
    marks->Mark(*there);
  }
}

}  // namespace

BuildReport BuildIndex(IndexEncoder encoder, const std::filesystem::path& folder,
                       const DocumentSource& source, const NewIndex& index,
                       const ChangeOptions& options) {
  CheckOnlyIndexFiles(folder);
  if (!index.copy_model) CheckModelIsElsewhere(folder, encoder.description.path);
  IndexLock lock(folder);
  UnfinishedChange unfinished(source.hash != 0, &lock);
  encoder.encode.stop = StopWithinBlocks(source, options);
  CheckReplaceable(folder, index.replace);
  const Manifest before = IsIndex(folder) ? ReadManifest(folder) : Manifest();
  Manifest manifest{.generation = before.generation + 1,
                    .model = encoder.description,
                    .fields = index.fields,
                    .texts = index.texts,
                    .min_probability = index.min_probability,
                    .segments = {},
                    .model_files = {}};
  const std::filesystem::path work =
      TakeWorkFolder(folder, SourceLines(encoder, source, "build"), source.hash != 0, before);
  unfinished.Made(work);
  BuildReport report;
  {
    const StagedDocuments staged = Stage(work, source, index.fields, options);
    report.documents = staged.rows();
    manifest.choice = index.choose(staged.rows(), manifest.model.width);
    CheckChoice(manifest.choice, manifest.model.width);
    Encode(encoder, staged, work, options, &report);
  }
  report.choice = manifest.choice;
  if (index.copy_model) {
    unfinished.Made(folder / ModelName(manifest.generation));
    CopyModel(folder, encoder.description.path, &manifest, options.threads);
  }
  unfinished.Made(folder / SegmentName(manifest.generation));
  manifest.segments.push_back(
      FinishSegment(folder, work, manifest, {report.documents, manifest.choice}, options));
  WriteManifest(folder, manifest);
  unfinished.Finish();
  RemoveUnnamed(folder, manifest);
  RemoveWork(folder);
  return report;
}

BuildReport AddDocuments(IndexEncoder encoder, const std::filesystem::path& folder,
                         const DocumentSource& source, bool update, const ChangeOptions& options) {
  ReadManifest(folder);  // throws where there is no index, so that the lock makes no folder
  IndexLock lock(folder);
  UnfinishedChange unfinished(source.hash != 0, &lock);
  encoder.encode.stop = StopWithinBlocks(source, options);
  const Manifest before = ReadManifest(folder);
  CheckModel(InfoOf(folder, before), encoder.description);
  Manifest manifest = before;
  ++manifest.generation;
  const std::filesystem::path work =
      TakeWorkFolder(folder, SourceLines(encoder, source, "add"), source.hash != 0, before);
  unfinished.Made(work);
  RemovalMarks marks(folder, before);
  BuildReport report;
  {
    const StagedDocuments staged = Stage(work, source, manifest.fields, options);
    report.documents = staged.rows();
    if (before.rows() + staged.rows() > kMostRows) {
      throw DataError(folder.native(), 0, "",
                      fmt::format("an index can have {} documents, removed ones counted; this one "
                                  "has {}, and {} are to be added: build several",
                                  kMostRows, before.rows(), staged.rows()));
    }
    FindIdsThatAreThere(staged, update, &marks);
    Encode(encoder, staged, work, options, &report);
  }
  report.updated = marks.marked();
  report.choice = ChoiceForSegment(manifest.choice, report.documents);
  unfinished.Made(folder / SegmentName(manifest.generation));
  SegmentRecord record =
      FinishSegment(folder, work, manifest, {report.documents, report.choice}, options);
  marks.Write(&manifest);
  manifest.segments.push_back(std::move(record));
  WriteManifest(folder, manifest);
  unfinished.Finish();
  RemoveUnnamed(folder, manifest);
  RemoveWork(folder);
  return report;
}

}  // namespace tandem::index
