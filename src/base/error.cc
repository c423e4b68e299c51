#include "base/error.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "base/byte_size.h"

namespace tandem {
namespace {

std::string RecipePosition(std::string_view file, int line, int column) {
  if (line <= 0) return std::string(file);
  if (column <= 0) return fmt::format("{}:{}", file, line);
  return fmt::format("{}:{}:{}", file, line, column);
}

std::string DataMessage(std::string_view file, int64_t line, std::string_view id,
                        std::string_view message) {
  std::string text = line > 0 ? fmt::format("{}:{}: {}", file, line, message)
                              : fmt::format("{}: {}", file, message);
  if (!id.empty()) text += fmt::format(" (id {})", id);
  return text;
}

ExitCode OutputExitCode(int error_number) {
  switch (error_number) {
    case ENOSPC:
    case EFBIG:
    case EDQUOT:
    case EIO:
      return ExitCode::kData;
    default:
      return ExitCode::kUsage;
  }
}

std::string TextOfMemoryError(uint64_t bytes, bool of_device) {
  const char* what = of_device ? "the device is out of memory: it" : "out of memory: the system";
  if (bytes == 0) return fmt::format("{} does not give what is needed", what);
  return fmt::format("{} does not give {} bytes ({})", what, bytes, FormatByteSize(bytes));
}

}  // namespace

RecipeError::RecipeError(std::string_view file, int line, int column, std::string_view key,
                         std::string_view message)
    : Error(ExitCode::kUsage, fmt::format("{}: {}", RecipePosition(file, line, column), message)),
      file_(file),
      line_(line),
      column_(column),
      key_(key) {}

DataError::DataError(std::string_view file, int64_t line, std::string_view id,
                     std::string_view message)
    : Error(ExitCode::kData, DataMessage(file, line, id, message)),
      file_(file),
      line_(line),
      id_(id) {}

ModelError::ModelError(std::string_view file, std::string_view tensor, std::string_view message)
    : Error(ExitCode::kModel, tensor.empty()
                                  ? fmt::format("{}: {}", file, message)
                                  : fmt::format("{}: {} (tensor {})", file, message, tensor)),
      file_(file),
      tensor_(tensor) {}

MemoryError::MemoryError(uint64_t bytes, bool of_device)
    : Error(ExitCode::kUsage, TextOfMemoryError(bytes, of_device)),
      bytes_(bytes),
      of_device_(of_device) {}

OutputError::OutputError(std::string_view path, std::string_view what, int error_number)
    : Error(OutputExitCode(error_number),
            fmt::format("{}: {}: {}", path, what, std::strerror(error_number))),
      path_(path),
      error_number_(error_number) {}

}  // namespace tandem
