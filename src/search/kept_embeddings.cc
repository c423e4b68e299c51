#include "search/kept_embeddings.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <fmt/format.h>

#include <cstring>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/npy.h"
#include "data/text_hash.h"
#include "tensor/packed_tokens.h"

namespace tandem::search {
namespace {

constexpr const char* kEmbeddings = "embeddings.npy";
constexpr const char* kIds = "ids.txt";
constexpr const char* kSource = "source.txt";

uint64_t Combine(uint64_t hash, uint64_t next) {
  return (hash ^ next) * 0x9E3779B97F4A7C15 + (hash >> 32);
}

uint64_t HashParameters(model::DualEncoder& model) {
  uint64_t hash = 0;
  for (const model::NamedParameter& parameter : model.Parameters()) {
    const at::Tensor values = parameter.value.detach().contiguous();
    hash = Combine(hash, data::TextHash(parameter.name));
    hash = Combine(hash, data::TextHash({static_cast<const char*>(values.data_ptr()),
                                         static_cast<size_t>(values.nbytes())}));
  }
  return hash;
}

// Of ids and of what the model sees of each text: its token ids, so that another tokenizer is
// another source.
uint64_t HashTexts(const model::DualEncoder& model, model::TextKind kind,
                   const data::Texts& texts) {
  uint64_t hash = texts.size();
  std::vector<int32_t> ids;
  for (size_t i = 0; i < texts.size(); ++i) {
    ids.clear();
    model.tokenizer().Encode(model.prompt(kind) + std::string(texts.text(i)),
                             model.max_tokens(kind), &ids);
    hash = Combine(hash, data::TextHash(texts.id(i)));
    hash = Combine(hash, data::TextHash({reinterpret_cast<const char*>(ids.data()),
                                         ids.size() * sizeof(int32_t)}));
  }
  return hash;
}

// Of the embedding of one fixed text: pooling and the modules behind it have no parameters to hash.
uint64_t HashProbe(model::DualEncoder& model, model::TextKind kind) {
  const at::NoGradGuard no_gradient;
  std::vector<int32_t> ids;
  model.tokenizer().Encode("a text of several words", model.max_tokens(kind), &ids);
  const std::span<const int32_t> texts[] = {ids};
  const at::Tensor row = model.Encode(tensor::Pack(texts), {}).contiguous();
  return data::TextHash(
      {static_cast<const char*>(row.data_ptr()), static_cast<size_t>(row.nbytes())});
}

}  // namespace

std::string SourceOf(model::DualEncoder& model, model::TextKind kind, const data::Texts& texts,
                     tensor::Precision precision) {
  return fmt::format("parameters {:016x}\nmodules {:016x}\ntexts {:016x}\n{}\n",
                     HashParameters(model), HashProbe(model, kind), HashTexts(model, kind, texts),
                     tensor::PrecisionName(precision));
}

std::optional<at::Tensor> ReadKept(const std::filesystem::path& folder, const std::string& source) {
  if (!std::filesystem::exists(folder / kSource)) return std::nullopt;
  if (ReadFile(folder / kSource) != source) {
    Note(fmt::format("{}: made from another model or other documents; encoding again",
                     folder.native()));
    return std::nullopt;
  }
  const NpyMatrix matrix = ReadNpy(folder / kEmbeddings);
  at::Tensor rows = at::empty(
      {static_cast<int64_t>(matrix.rows), static_cast<int64_t>(matrix.columns)}, at::kFloat);
  std::memcpy(rows.data_ptr(), matrix.values.data(), matrix.values.size() * sizeof(float));
  return rows;
}

void WriteIds(const std::filesystem::path& path, const data::Texts& texts) {
  AtomicFile file(path);
  for (size_t i = 0; i < texts.size(); ++i) {
    file.Write(texts.id(i));
    file.Write("\n");
  }
  file.Commit();
}

void WriteKept(const std::filesystem::path& folder, const std::string& source,
               const data::Texts& texts, const at::Tensor& embeddings) {
  MakeFolder(folder);
  std::error_code ignored;  // nothing to remove is fine
  std::filesystem::remove(folder / kSource, ignored);
  const at::Tensor rows = embeddings.contiguous();
  NpyWriter writer(folder / kEmbeddings, static_cast<size_t>(rows.size(1)));
  writer.Append({rows.data_ptr<float>(), static_cast<size_t>(rows.numel())});
  writer.Commit();
  WriteIds(folder / kIds, texts);
  WriteFileAtomically(folder / kSource, source);
}

}  // namespace tandem::search
