#include "commands/index/index_flags.h"

#include <fmt/format.h>

#include <charconv>
#include <system_error>

#include "base/byte_size.h"
#include "base/error.h"
#include "cli/flags.h"
#include "config/catalogue.h"

namespace tandem::app {
namespace {

template <typename T>
std::optional<T> NumberOf(std::string_view text) {
  T number{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end ? std::optional<T>(number) : std::nullopt;
}

config::Value ValueOf(std::string_view text) {
  if (text == "true" || text == "false") return text == "true";
  if (const auto integer = NumberOf<int64_t>(text)) return *integer;
  if (const auto number = NumberOf<double>(text)) return *number;
  return std::string(text);
}

}  // namespace

void AddDocumentsArgument(Flags& flags, std::vector<std::string>& documents) {
  flags
      .Add("documents", documents,
           "Files, also .gz, patterns as \"notes/*.jsonl\", BEIR folders, or - for standard input")
      .Required();
}

void AddDocumentCacheFlag(Flags& flags, bool& no_cache) {
  flags.AddSwitch("--no-cache", no_cache,
                  "Encode the documents also where the cache has the embeddings of all of them, by "
                  "this model (evaluate, compare, search and calibrate keep them there)");
}

uint64_t MemoryOf(const std::string& text) {
  if (const std::optional<uint64_t> bytes = ParseByteSize(text)) return *bytes;
  throw UsageError(fmt::format("--memory is {}; expected an amount as 2GiB or 500MiB", text));
}

config::Params KindParamsOf(const index::IndexKindInfo& kind, const std::vector<std::string>& set,
                            std::optional<double> recall) {
  config::Params params(kind.params);
  std::vector<std::string_view> known;
  for (const config::ParamInfo& info : kind.params) known.push_back(info.name);
  for (const std::string& assignment : set) {
    const size_t sign = assignment.find('=');
    const std::string name = assignment.substr(0, sign);
    if (sign == std::string::npos) {
      throw UsageError(fmt::format("--set {}: expected NAME=VALUE", assignment));
    }
    if (known.empty()) {
      throw UsageError(fmt::format("--set {}: {} has no parameters", assignment, kind.name));
    }
    if (!params.Knows(name)) {
      throw UsageError(
          fmt::format("--set: parameter {} of {}", config::UnknownName(name, known), kind.name));
    }
    const std::string problem = params.Set(name, ValueOf(assignment.substr(sign + 1)));
    if (!problem.empty()) throw UsageError(fmt::format("--set {}: {}", name, problem));
  }
  if (recall && params.Knows("recall")) {
    const std::string problem = params.Set("recall", *recall);
    if (!problem.empty()) {
      throw UsageError(fmt::format("--recall of {} {}", kind.name, problem));
    }
  }
  if (kind.problem != nullptr) {
    const config::ParamProblem problem = kind.problem(params);
    if (!problem.text.empty()) {
      throw UsageError(fmt::format("--set {}: {}", problem.name, problem.text));
    }
  }
  return params;
}

}  // namespace tandem::app
