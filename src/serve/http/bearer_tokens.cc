#include "serve/http/bearer_tokens.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/error.h"
#include "base/files/files.h"
#include "base/log.h"

namespace tandem::serve {
namespace {

constexpr size_t kFewestCharacters = 16;

std::string_view Trimmed(std::string_view line) {
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t')) {
    line.remove_suffix(1);
  }
  while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
  return line;
}

void CheckToken(const std::filesystem::path& file, size_t line, std::string_view token) {
  const bool visible =
      std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < 0x7F; });
  if (!visible) {
    throw UsageError(fmt::format("{}:{}: a token has visible ASCII characters only, without spaces",
                                 file.native(), line));
  }
  if (token.size() < kFewestCharacters) {
    throw UsageError(fmt::format(
        "{}:{}: a token needs at least {} characters, found {}; make one: openssl rand -hex 32",
        file.native(), line, kFewestCharacters, token.size()));
  }
}

}  // namespace

std::vector<std::string> ReadTokens(const std::filesystem::path& file) {
  const std::string text = ReadFile(file);
  struct stat status {};
  if (::stat(file.c_str(), &status) == 0 && (status.st_mode & S_IROTH) != 0) {
    Warn(fmt::format("{}: every user of this machine may read the tokens; chmod 600 {}",
                     file.native(), file.native()));
  }
  std::vector<std::string> tokens;
  size_t number = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = Trimmed(std::string_view(text).substr(begin, end - begin));
    begin = end + 1;
    ++number;
    if (line.empty() || line.front() == '#') continue;
    CheckToken(file, number, line);
    tokens.emplace_back(line);
  }
  if (tokens.empty()) {
    throw UsageError(fmt::format(
        "{}: there is no token; expected one a line (openssl rand -hex 32)", file.native()));
  }
  return tokens;
}

bool EqualInConstantTime(std::string_view given, std::string_view token) {
  size_t different = given.size() ^ token.size();
  for (size_t i = 0; i < given.size(); ++i) {
    const char other = token.empty() ? '\0' : token[i % token.size()];
    different |= static_cast<unsigned char>(given[i] ^ other);
  }
  return different == 0;
}

std::optional<size_t> FindToken(std::string_view authorization,
                                std::span<const std::string> tokens) {
  constexpr std::string_view kScheme = "bearer ";
  if (authorization.size() < kScheme.size()) return std::nullopt;
  for (size_t i = 0; i < kScheme.size(); ++i) {
    if ((authorization[i] | 0x20) != kScheme[i]) return std::nullopt;
  }
  const std::string_view given = Trimmed(authorization.substr(kScheme.size()));
  std::optional<size_t> found;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (EqualInConstantTime(given, tokens[i])) found = i;
  }
  return found;
}

}  // namespace tandem::serve
