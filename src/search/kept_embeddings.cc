#include "search/kept_embeddings.h"

#include <ATen/ops/empty.h>
#include <fmt/format.h>

#include <cstring>

#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/npy.h"
#include "data/text_hash.h"

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

// Of what the model sees: the token ids would do, but hashing bytes is cheaper than tokenising.
uint64_t HashTexts(const data::Texts& texts) {
  uint64_t hash = texts.size();
  for (size_t i = 0; i < texts.size(); ++i) {
    hash = Combine(Combine(hash, data::TextHash(texts.id(i))), data::TextHash(texts.text(i)));
  }
  return hash;
}

}  // namespace

std::string SourceOf(model::DualEncoder& model, model::TextKind kind, const data::Texts& texts,
                     tensor::Precision precision) {
  return fmt::format("parameters {:016x}\ntexts {:016x}\nprompt {:016x}\nmax_tokens {}\n{}\n",
                     HashParameters(model), HashTexts(texts), data::TextHash(model.prompt(kind)),
                     model.max_tokens(kind), tensor::PrecisionName(precision));
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
