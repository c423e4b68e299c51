#include "search/embeddings/kept_embeddings.h"

#include <ATen/ops/from_blob.h>
#include <fmt/format.h>

#include <memory>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "base/files/npy.h"
#include "base/hashes/running_hash.h"
#include "base/log.h"
#include "model/fingerprint.h"
#include "model/prompt_lengths.h"

namespace tandem::search {
namespace {

constexpr const char* kEmbeddings = "embeddings.npy";
constexpr const char* kIds = "ids.txt";
constexpr const char* kSource = "source.txt";

// A hash of the texts' ids, of their token ids and, where the prompt is left out of pooling, of its
// length. Token ids are what the model sees of a text, so that another tokenizer gives another
// hash.
uint64_t HashTexts(const model::DualEncoder& model, model::TextKind kind,
                   const data::Texts& texts) {
  RunningHash hash;
  if (!model.include_prompt(kind)) {
    model::PromptLengths lengths(model.tokenizer(kind), model.max_tokens(kind));
    hash.Add(static_cast<uint64_t>(lengths.Of(model.prompt(kind))));
  }
  std::vector<int32_t> ids;
  for (size_t i = 0; i < texts.size(); ++i) {
    ids.clear();
    model.tokenizer(kind).Encode(model.prompt(kind) + std::string(texts.text(i)),
                                 model.max_tokens(kind), &ids);
    hash.Add(texts.id(i));
    hash.AddBytes(ids.data(), ids.size() * sizeof(int32_t));
  }
  return hash.value();
}

}  // namespace

std::string SourceOf(model::DualEncoder& model, model::TextKind kind, const data::Texts& texts,
                     tensor::Precision precision) {
  return fmt::format("model {:016x}\ntexts {:016x}\n{}\n", model::Fingerprint(model),
                     HashTexts(model, kind, texts), tensor::PrecisionName(precision));
}

void CheckUsableForKept(const std::filesystem::path& folder) {
  if (!std::filesystem::exists(folder / kEmbeddings)) return;
  if (std::filesystem::exists(folder / kSource)) return;
  throw UsageError(
      fmt::format("{} holds embeddings that were not kept by a search; they would be overwritten. "
                  "Give another folder, remove that one, or encode with --shard 0/1: parts are "
                  "searched as they are",
                  folder.native()));
}

std::optional<at::Tensor> ReadKept(const std::filesystem::path& folder, const std::string& source,
                                   size_t texts, int64_t width) {
  if (!std::filesystem::exists(folder / kSource)) return std::nullopt;
  if (ReadFile(folder / kSource) != source) {
    Note(fmt::format("{}: made from another model or other documents; encoding again",
                     folder.native()));
    return std::nullopt;
  }
  const auto held = std::make_shared<const NpyMatrix>(ReadNpy(folder / kEmbeddings));
  const NpyMatrix& matrix = *held;
  if (matrix.rows != texts || matrix.columns != static_cast<size_t>(width)) {
    throw DataError(
        (folder / kEmbeddings).native(), 0, "",
        fmt::format("has {} rows of {} values; expected {} rows, one for each document, "
                    "of {} values. Remove the folder, and the next search makes it again",
                    matrix.rows, matrix.columns, texts, width));
  }
  // The tensor is a view of the file's pages and keeps them: no second copy.
  return at::from_blob(
      const_cast<float*>(matrix.values.data()), {static_cast<int64_t>(texts), width},
      [held](void*) {}, at::kFloat);
}

void CheckWritableForKept(const std::filesystem::path& folder) {
  MakeFolder(folder);
  for (const char* name : {kEmbeddings, kIds, kSource}) const AtomicFile writable(folder / name);
}

void ForgetKept(const std::filesystem::path& folder) {
  std::error_code ignored;  // there may be no such file
  std::filesystem::remove(folder / kSource, ignored);
}

namespace {

// Writes one id on a line, in the order of the rows.
void WriteIds(const std::filesystem::path& path, const data::Texts& texts) {
  AtomicFile file(path);
  for (size_t i = 0; i < texts.size(); ++i) {
    file.Write(texts.id(i));
    file.Write("\n");
  }
  file.Commit();
}

}  // namespace

void WriteKept(const std::filesystem::path& folder, const std::string& source,
               const data::Texts& texts, const at::Tensor& embeddings) {
  MakeFolder(folder);
  ForgetKept(folder);
  const at::Tensor rows = embeddings.contiguous();
  NpyWriter writer(folder / kEmbeddings, static_cast<size_t>(rows.size(1)));
  writer.Append({rows.data_ptr<float>(), static_cast<size_t>(rows.numel())});
  writer.Commit();
  WriteIds(folder / kIds, texts);
  WriteFileAtomically(folder / kSource, source);
}

}  // namespace tandem::search
