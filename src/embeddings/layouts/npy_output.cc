#include "embeddings/layouts/npy_output.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/files/files.h"
#include "base/hashes/block_hash.h"
#include "base/log.h"
#include "embeddings/layouts/npy_left.h"

namespace tandem::embeddings {
namespace {

namespace fs = std::filesystem;

// Whether an earlier process has left embeddings; makes the folder first, where there is one.
bool HasPart(const NpyPaths& paths) {
  if (paths.in_folder) MakeFolder(paths.folder());
  std::error_code error;
  const uintmax_t size = fs::file_size(PartFile::PartOf(paths.embeddings), error);
  return !error && size > kNpyHeaderBytes;
}

}  // namespace

NpyOutput::NpyOutput(NpyPaths paths, Options options)
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

void NpyOutput::TakeUp() {
  NpyLeft left = FindNpyLeft(paths_, options_.provenance, options_.width, had_part_);
  kept_ = std::move(left.journal);
  rows_ = kept_.rows();
  finished_ = left.finished;
  if (finished_) embeddings_.Discard();
}

NpyOutput::~NpyOutput() {
  if (!begun_ || finished_ || rows_ > 0) return;
  try {
    embeddings_.Discard();
    if (ids_) ids_->CutTo(0);
  } catch (const Error&) {  // a header without rows is left, which no process minds
  }
}

std::string NpyOutput::WhatIsLeft() const {
  if (rows_ == 0) return "nothing was encoded yet";
  return fmt::format("{} texts are in {}; the same command with --resume goes on behind them",
                     rows_, PartFile::PartOf(paths_.embeddings).native());
}

void NpyOutput::Begin(std::optional<uint64_t> total) {
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

void NpyOutput::Write(const EncodedBlock& block) {
  const uint64_t rows_hash = embeddings_.Write(block.rows);
  ids_->Append(block.ids);
  ids_->Sync();
  BeginJournal();
  journal_->Append({.texts_hash = block.texts_hash,
                    .rows_hash = rows_hash,
                    .ids_hash = BlockHash(block.ids),
                    .ids_bytes = block.ids.size(),
                    .counts = block.counts});
  rows_ += block.counts.texts;
}

void NpyOutput::BeginJournal() {
  if (journal_) return;
  journal_.emplace(paths_.journal, Journal{.provenance = options_.provenance, .blocks = {}});
}

void NpyOutput::Finish() {
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

}  // namespace tandem::embeddings
