// Errors that libraries throw, and the exit codes that the program turns them into.
//
// A library never prints, aborts or exits: it throws one of these. `app` catches them once, prints
// the message on stderr and exits with `exit_code()`. A message says what is wrong, where, what was
// expected, what was found, and what to do.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tandem {

// Exit codes of the program; documented in docs/cli/README.md and stable.
enum class ExitCode : int {
  kOk = 0,
  kInternal = 1,     // a bug in Tandem
  kUsage = 2,        // command line or recipe
  kData = 3,         // corpora, queries, judgements, runs; also a full disk
  kModel = 4,        // model folder, weights, checkpoint
  kDiverged = 5,     // a loss or gradient that is not finite
  kCheckFailed = 6,  // a check that the user asked for did not hold
  kPeerLost = 7,     // another process of the same job is gone
};

// Base of every error that has an exit code of its own.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode exit_code() const { return code_; }

 private:
  ExitCode code_;
};

// A wrong flag, argument or combination of them. Exit code 2.
class UsageError : public Error {
 public:
  explicit UsageError(const std::string& message) : Error(ExitCode::kUsage, message) {}
};

// A mistake in a recipe. Reads `FILE:LINE:COLUMN: MESSAGE`. Exit code 2.
// `line` and `column` count from 1; 0 means "not known" (a value from `--set` has none).
class RecipeError : public Error {
 public:
  RecipeError(std::string_view file, int line, int column, std::string_view key,
              std::string_view message);
  const std::string& file() const { return file_; }
  int line() const { return line_; }
  int column() const { return column_; }
  const std::string& key() const { return key_; }

 private:
  std::string file_;
  int line_;
  int column_;
  std::string key_;
};

// A mistake in a data file. Reads `FILE:LINE: MESSAGE (id ID)`; line 0 and an empty id are left
// out. Exit code 3.
class DataError : public Error {
 public:
  DataError(std::string_view file, int64_t line, std::string_view id, std::string_view message);
  const std::string& file() const { return file_; }
  int64_t line() const { return line_; }
  const std::string& id() const { return id_; }

 private:
  std::string file_;
  int64_t line_;
  std::string id_;
};

// A mistake in a model folder, weights file or checkpoint. Reads `FILE: MESSAGE (tensor NAME)`; an
// empty tensor name is left out. Exit code 4.
class ModelError : public Error {
 public:
  ModelError(std::string_view file, std::string_view tensor, std::string_view message);
  const std::string& file() const { return file_; }
  const std::string& tensor() const { return tensor_; }

 private:
  std::string file_;
  std::string tensor_;
};

// A loss, gradient or score that is not finite. Exit code 5.
class NumericError : public Error {
 public:
  explicit NumericError(const std::string& message) : Error(ExitCode::kDiverged, message) {}
};

// A check that the user asked for (`loss --check`) did not hold. Exit code 6.
class CheckFailed : public Error {
 public:
  explicit CheckFailed(const std::string& message) : Error(ExitCode::kCheckFailed, message) {}
};

// Another process of the same job is gone, or does not answer. Exit code 7.
class PeerLost : public Error {
 public:
  explicit PeerLost(const std::string& message) : Error(ExitCode::kPeerLost, message) {}
};

// Memory that the machine, or a device of it, does not give. Exit code 2: a smaller batch or
// shorter texts need less.
class MemoryError : public Error {
 public:
  explicit MemoryError(uint64_t bytes, bool of_device = false);
  // What was asked for; 0: nobody knows.
  uint64_t bytes() const { return bytes_; }
  // Says whether it is a device's memory that is full, not the processor's.
  bool of_device() const { return of_device_; }

 private:
  uint64_t bytes_;
  bool of_device_;
};

// A file or folder that cannot be written. Exit code 2 when the path itself is at fault (a file
// where a folder should be, no such folder, no permission), 3 when the disk is (full, too large).
class OutputError : public Error {
 public:
  // `error_number` is errno as the failing call left it.
  OutputError(std::string_view path, std::string_view what, int error_number);
  const std::string& path() const { return path_; }
  int error_number() const { return error_number_; }

 private:
  std::string path_;
  int error_number_;
};

}  // namespace tandem
