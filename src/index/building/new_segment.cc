#include "index/building/new_segment.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "base/error.h"
#include "base/files/files.h"
#include "base/hashes/text_hash.h"
#include "base/progress.h"
#include "index/folder/index_folder.h"
#include "index/segments/segment.h"

namespace tandem::index {
namespace {

constexpr const char* kSourceName = "source.txt";

bool HasSource(const std::filesystem::path& folder, const std::string& source) {
  std::error_code error;
  return std::filesystem::is_regular_file(folder / kSourceName, error) &&
         ReadFile(folder / kSourceName) == source;
}

// A folder that was given the name of a segment, by a process that ended before index.json named
// it.
std::filesystem::path FindUnnamedSegment(const std::filesystem::path& folder,
                                         const std::string& source, const Manifest& manifest) {
  std::set<std::string> named;
  for (const SegmentRecord& segment : manifest.segments) named.insert(segment.name);
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().native();
    if (entry.is_directory() && !named.contains(name) && HasSource(entry.path(), source)) {
      return entry.path();
    }
  }
  return {};
}

void Rename(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) {
    throw OutputError(to.native(), "cannot be put in place", errno);
  }
}

// Makes the bytes of a file durable.
void SyncFile(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const int result = descriptor < 0 ? -1 : ::fsync(descriptor);
  const int error = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (result != 0) throw OutputError(path.native(), "cannot be flushed", error);
}

std::vector<std::string> BuildKind(const std::filesystem::path& work, const Manifest& manifest,
                                   const SegmentPlan& plan, const ChangeOptions& options) {
  const auto build = MakerOf(*plan.choice.kind).build;
  if (build == nullptr) return {};
  const size_t width = manifest.model.width;
  const ArrayFile<float> vectors(work / kVectorsName, plan.rows * width);
  constexpr uint64_t kPercent = 100;
  Progress progress(
      {.label = fmt::format("build {}", plan.choice.kind->name), .unit = "%", .total = kPercent});
  return build(
      {vectors.values().data(), plan.rows, width}, plan.choice.params, work,
      {.threads = options.threads,
       .memory = options.memory,
       .progress = [&](double share) { progress.Update(static_cast<uint64_t>(share * kPercent)); },
       .stop = options.stop});
}

}  // namespace

std::filesystem::path TakeWorkFolder(const std::filesystem::path& folder, const std::string& source,
                                     bool resumable, const Manifest& manifest) {
  const std::filesystem::path work = folder / WorkName(TextHash(source));
  if (resumable && HasSource(work, source)) return work;
  const std::filesystem::path left =
      resumable ? FindUnnamedSegment(folder, source, manifest) : std::filesystem::path();
  if (!left.empty()) {
    Rename(left, work);
    return work;
  }
  std::error_code ignored;
  std::filesystem::remove_all(work, ignored);
  MakeFolder(work);
  WriteFileAtomically(work / kSourceName, source);
  return work;
}

std::filesystem::path MakeWorkFolder(const std::filesystem::path& folder) {
  const std::filesystem::path work = folder / WorkName(0);
  std::error_code ignored;
  std::filesystem::remove_all(work, ignored);
  MakeFolder(work);
  return work;
}

SegmentRecord FinishSegment(const std::filesystem::path& folder, const std::filesystem::path& work,
                            const Manifest& manifest, const SegmentPlan& plan,
                            const ChangeOptions& options) {
  std::vector<std::string> names = DocumentFiles(manifest.fields, manifest.texts);
  const std::vector<std::string> of_kind = BuildKind(work, manifest, plan, options);
  names.insert(names.end(), of_kind.begin(), of_kind.end());
  SegmentRecord record{.name = SegmentName(manifest.generation),
                       .rows = plan.rows,
                       .choice = plan.choice,
                       .removal = {},
                       .files = DescribeFiles(work, names, options.threads)};
  for (const IndexFile& file : record.files) SyncFile(work / file.name);
  SyncFolder(work);
  const std::filesystem::path target = folder / record.name;
  std::error_code ignored;
  std::filesystem::remove_all(target, ignored);  // of a change that did not come to its end
  Rename(work, target);
  return record;
}

KindChoice ChoiceForSegment(const KindChoice& choice, uint64_t rows) {
  if (choice.kind->exact || rows >= kSmallSegmentRows) return choice;
  const IndexKindInfo& exact = FindIndexKind("fp32");
  return {&exact, config::Params(exact.params)};
}

}  // namespace tandem::index
