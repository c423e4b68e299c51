#include "embeddings/layouts/kept.h"

#include <fmt/format.h>

#include <string>
#include <system_error>

#include "base/error.h"
#include "base/files/files.h"
#include "base/log.h"
#include "embeddings/layouts/npy.h"

namespace tandem::embeddings {
namespace {

constexpr const char* kEmbeddings = "embeddings.npy";
constexpr const char* kIds = "ids.txt";
constexpr const char* kSource = "source.txt";

// The bytes of source.txt, whose last line is the precision without its name.
std::string SourceText(const Provenance& provenance) {
  return fmt::format("model {}\ntexts {}\n{}\n", provenance.Of("model"), provenance.Of("texts"),
                     provenance.Of("precision"));
}

void WriteIds(const std::filesystem::path& path, const KeptRows& rows) {
  AtomicFile file(path);
  for (size_t row = 0; row < rows.values.size() / rows.width; ++row) {
    file.Write(rows.id(row));
    file.Write("\n");
  }
  file.Commit();
}

}  // namespace

void CheckUsableForKept(const std::filesystem::path& folder) {
  if (!std::filesystem::exists(folder / kEmbeddings)) return;
  if (std::filesystem::exists(folder / kSource)) return;
  throw UsageError(
      fmt::format("{} holds embeddings that were not kept by a search; they would be overwritten. "
                  "Give another folder, remove that one, or encode with --shard 0/1: parts are "
                  "searched as they are",
                  folder.native()));
}

Provenance KeptProvenance(uint64_t model, uint64_t texts, std::string_view precision) {
  Provenance provenance;
  provenance.Add("model", fmt::format("{:016x}", model));
  provenance.Add("texts", fmt::format("{:016x}", texts));
  provenance.Add("precision", precision);
  return provenance;
}

std::optional<MappedRows> ReadKept(const std::filesystem::path& folder,
                                   const Provenance& provenance, size_t texts, size_t width) {
  if (!std::filesystem::exists(folder / kSource)) return std::nullopt;
  if (ReadFile(folder / kSource) != SourceText(provenance)) {
    Note(fmt::format("{}: made from another model or other documents; encoding again",
                     folder.native()));
    return std::nullopt;
  }
  MappedRows rows = ReadNpy(folder / kEmbeddings);
  if (rows.rows == texts && rows.columns == width) return rows;
  throw DataError((folder / kEmbeddings).native(), 0, "",
                  fmt::format("has {} rows of {} values; expected {} rows, one for each document, "
                              "of {} values. Remove the folder, and the next search makes it again",
                              rows.rows, rows.columns, texts, width));
}

void ForgetKept(const std::filesystem::path& folder) {
  std::error_code ignored;  // there may be no such file
  std::filesystem::remove(folder / kSource, ignored);
}

void CheckWritableForKept(const std::filesystem::path& folder) {
  MakeFolder(folder);
  for (const char* name : {kEmbeddings, kIds, kSource}) const AtomicFile writable(folder / name);
}

void WriteKept(const std::filesystem::path& folder, const Provenance& provenance,
               const KeptRows& rows) {
  MakeFolder(folder);
  ForgetKept(folder);
  WriteNpy(folder / kEmbeddings, rows.width, rows.values);
  WriteIds(folder / kIds, rows);
  WriteFileAtomically(folder / kSource, SourceText(provenance));
}

}  // namespace tandem::embeddings
