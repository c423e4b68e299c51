#include "train/observers/audit_observer.h"

#include <fmt/format.h>

#include <charconv>
#include <string>
#include <string_view>
#include <system_error>

#include "base/error.h"
#include "base/files/files.h"
#include "base/json/json.h"
#include "base/log.h"
#include "sampling/audit/audit_file.h"

namespace tandem::train {
namespace {

constexpr std::string_view kPrefix = "pass-";
constexpr std::string_view kSuffix = ".bin";

// Returns the number of the epoch whose record has this file name; nothing for other files.
std::optional<uint64_t> PassOf(std::string_view name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  name.remove_suffix(kSuffix.size());
  uint64_t pass = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pass);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return pass;
}

// Says why the record of an epoch cannot be continued after `bytes`; "" if it can.
std::string ProblemOf(const std::filesystem::path& path, uint64_t pass, uint64_t bytes) {
  std::error_code error;
  const uintmax_t size = std::filesystem::file_size(path, error);
  if (error) return "the record of the epoch under way is not there";
  if (size < bytes) {
    return fmt::format("has {} bytes, and had {} when the checkpoint was made", size, bytes);
  }
  try {
    if (sampling::ReadPassRecord(path).pass == pass) return "";
  } catch (const DataError&) {  // the warning names the file, so the reader's message is not needed
  }
  return "is no record of this epoch any more";
}

}  // namespace

std::filesystem::path AuditObserver::PathOf(uint64_t pass) const {
  return folder_ / fmt::format("{}{:08}{}", kPrefix, pass, kSuffix);
}

void AuditObserver::RemoveFrom(uint64_t pass) const {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, error)) {
    const std::optional<uint64_t> found = PassOf(entry.path().filename().native());
    if (!found || *found < pass) continue;
    std::filesystem::remove(entry.path(), error);
    if (error) throw OutputError(entry.path().native(), "cannot be removed", error.value());
  }
}

void AuditObserver::BeginPass(uint64_t pass, const sampling::Pairs& pairs,
                              std::span<const float> probabilities) {
  if (file_) file_->Sync();
  pass_ = pass;
  file_.emplace(PathOf(pass), 0);
  file_->Append(sampling::PassHead(pass, pairs, probabilities));
}

void AuditObserver::AddBatch(std::span<const sampling::Draw> draws) {
  if (file_) file_->Append(sampling::PassBatch(draws));
}

void AuditObserver::EndPass(std::span<const sampling::LeftOut> left_out) {
  if (file_) file_->Append(sampling::PassEnd(left_out));
}

Next AuditObserver::Begin(const Loop& /*loop*/) {
  MakeFolder(folder_);
  if (!file_ && !restored_) RemoveFrom(0);
  const std::filesystem::path scores = folder_ / sampling::kFirstScoresName;
  if (!first_scores_.empty() && (!restored_ || !std::filesystem::exists(scores))) {
    WriteFileAtomically(scores, sampling::FirstScoresBytes(first_scores_));
  }
  return Next::kGoOn;
}

void AuditObserver::VisitState(StateVisitor visit) {
  if (!visit.reads() && !file_ && !restored_) return;  // no epoch has begun
  if (!visit.reads() && file_) file_->Sync();
  std::optional<uint64_t> bytes;  // none: the record was lost
  if (file_) bytes = file_->bytes();
  const StateVisitor record = visit.Part("record");
  record.Member("pass", pass_);
  record.NullableMember("bytes", bytes);
  if (visit.reads()) Reopen(bytes);
}

void AuditObserver::Reopen(std::optional<uint64_t> bytes) {
  restored_ = true;
  file_.reset();
  RemoveFrom(pass_ + 1);
  if (!bytes) return;
  const std::string problem = ProblemOf(PathOf(pass_), pass_, *bytes);
  if (problem.empty()) {
    file_.emplace(PathOf(pass_), *bytes);
  } else {
    Warn(
        fmt::format("{}: {}; the run goes on without it, and has records again from the next epoch "
                    "on",
                    PathOf(pass_).native(), problem));
  }
}

}  // namespace tandem::train
