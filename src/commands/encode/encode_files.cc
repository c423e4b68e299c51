#include "commands/encode/encode_files.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/files/files.h"
#include "base/hashes/text_hash.h"
#include "base/log.h"
#include "commands/encode/encode_resume.h"

namespace tandem::app {
namespace {

namespace fs = std::filesystem;

// Whether an earlier process has left embeddings; makes the folder first, where there is one.
bool HasPart(const EncodePaths& paths) {
  if (paths.in_folder) MakeFolder(paths.folder());
  std::error_code error;
  const uintmax_t size = fs::file_size(PartFile::PartOf(paths.embeddings), error);
  return !error && size > kNpyHeaderBytes;
}

}  // namespace

EncodePaths EncodePathsOf(const std::string& output) {
  const fs::path path = output;
  std::error_code ignored;
  if (path.extension() == ".npy" && !fs::is_directory(path, ignored)) {
    return {.embeddings = path,
            .ids = fs::path(path).replace_extension(".ids.txt"),
            .journal = path.native() + ".journal"};
  }
  return {.embeddings = path / "embeddings.npy",
          .ids = path / "ids.txt",
          .journal = path / "embeddings.npy.journal",
          .in_folder = true};
}

EncodeFiles::EncodeFiles(EncodePaths paths, Options options)
    : paths_(std::move(paths)),
      options_(std::move(options)),
      had_part_(HasPart(paths_)),
      embeddings_(paths_.embeddings, options_.width) {
  if (options_.resume) {
    TakeUp();
  } else if (had_part_) {
    Warn(fmt::format("{}: what an interrupted run has left is given up; --resume goes on with it",
                     PartFile::PartOf(paths_.embeddings).native()));
  }
  std::error_code ignored;
  const bool has_ids = kept_.complete && !fs::exists(PartFile::PartOf(paths_.ids), ignored);
  if (!has_ids) ids_.emplace(paths_.ids);
}

void EncodeFiles::TakeUp() {
  EncodeLeft left = FindEncodeLeft(paths_, options_.settings, options_.width, had_part_);
  kept_ = std::move(left.journal);
  rows_ = kept_.rows();
  finished_ = left.finished;
  if (finished_) embeddings_.Discard();
}

EncodeFiles::~EncodeFiles() {
  if (!begun_ || finished_ || rows_ > 0) return;
  try {
    embeddings_.Discard();
    if (ids_) ids_->CutTo(0);
  } catch (const Error&) {  // a header without rows is left, which no process minds
  }
}

std::string EncodeFiles::WhatIsLeft() const {
  if (rows_ == 0) return "nothing was encoded yet";
  return fmt::format("{} texts are in {}; the same command with --resume goes on behind them",
                     rows_, PartFile::PartOf(paths_.embeddings).native());
}

void EncodeFiles::Begin(std::optional<uint64_t> total) {
  if (kept_.complete) return;  // but for names
  begun_ = true;
  if (kept_.blocks.empty()) {
    std::error_code ignored;  // a journal of rows that are given up; that of finished files stays
    if (had_part_) fs::remove(paths_.journal, ignored);
  } else {
    journal_.emplace(paths_.journal, kept_);
  }
  embeddings_.KeepRows(rows_);
  ids_->CutTo(kept_.ids_bytes());
  if (total) embeddings_.TakeRoom(*total);
}

void EncodeFiles::Write(const TextBlock& block, std::span<const float> rows,
                        const search::EncodeCounts& counts) {
  embeddings_.Append(rows);
  ids_->Append(block.ids);
  embeddings_.Sync();
  ids_->Sync();
  BeginJournal();
  const std::string_view bytes(reinterpret_cast<const char*>(rows.data()), rows.size_bytes());
  journal_->Append({.texts_hash = block.hash,
                    .rows_hash = TextHash(bytes),
                    .ids_hash = TextHash(block.ids),
                    .ids_bytes = block.ids.size(),
                    .counts = counts});
  rows_ += block.texts.size();
}

void EncodeFiles::BeginJournal() {
  if (journal_) return;
  journal_.emplace(paths_.journal, EncodeJournal{.settings = options_.settings, .blocks = {}});
}

void EncodeFiles::Finish() {
  if (finished_) return;
  if (!kept_.complete) {
    BeginJournal();  // of no texts, where a shard has none
    embeddings_.Complete();
    journal_->End(rows_);
  }
  if (ids_) ids_->Commit();
  embeddings_.Commit();
  SyncFolder(paths_.folder());
  finished_ = true;
}

}  // namespace tandem::app
