#include "commands/serve/serve_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "base/error.h"
#include "cli/command.h"
#include "cli/example.h"
#include "cli/flags.h"
#include "cli/process/short_waits.h"
#include "commands/by_document.h"
#include "commands/guarantees/kept_promise.h"
#include "commands/model/model_calibration.h"
#include "serve/http/health_check.h"

namespace tandem::app {
namespace {

constexpr int64_t kMaxPort = 65535;
constexpr int64_t kMostBytes = int64_t{1} << 30;

void CheckOrigin(const std::string& origin) {
  const bool url = origin.starts_with("http://") || origin.starts_with("https://");
  if (origin == "*" || (url && origin.find('/', 8) == std::string::npos)) return;
  throw UsageError(
      fmt::format("--cors {}: expected an origin as browsers send it, https://example.org or "
                  "http://localhost:3000, without a path, or * for all",
                  origin));
}

void CheckHeader(const std::string& name) {
  const bool token = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-';
  });
  if (!token) {
    throw UsageError(
        fmt::format("--client-header {}: expected the name of a header, as X-Client", name));
  }
}

// For supervisors and containers, which know whether a server is well by an exit code.
void AskForHealth(const ServeCommandOptions& options) {
  const std::string problem = serve::HealthProblem(
      options.host, static_cast<uint16_t>(options.port), std::chrono::seconds(3));
  if (!problem.empty()) throw CheckFailed(problem);
}

void RunCheckedServe(const ServeCommandOptions& options) {
  if (options.health) return AskForHealth(options);
  for (const std::string& origin : options.origins) CheckOrigin(origin);
  CheckHeader(options.client_header);
  CheckIsProbability(options.min_probability);
  if (!options.keep.empty()) CheckKept(options.keep, options.by_document);
  WaitBriefly();
  RunServe(options);
}

void AddLimits(Flags& flags, ServeCommandOptions& options) {
  flags
      .Add("--max-connections", options.max_connections,
           "Open connections; one more closes one of the client that has most, the one that has "
           "kept the server waiting longest")
      .Between(1, 1'000'000)
      .ShowDefault();
  flags.Add("--max-body", options.max_body_bytes, "Bytes of a request's body")
      .Between(1, kMostBytes)
      .ShowDefault();
  flags.Add("--max-texts", options.max_texts, "Texts of a request")
      .Between(2, 1'000'000)
      .ShowDefault();
  flags.Add("--max-results", options.max_results, "Highest `k` of a search")
      .Between(1, 1'000'000)
      .ShowDefault();
  const Flag least =
      flags.Add("--min-probability", options.min_probability,
                "Leave out hits that are less probably right, from 0 to 1, where a request has no "
                "`min_probability` (default: what the index was built with, or none)");
  flags
      .Add("--keep", options.keep,
           "Keep this promise of the model (tandem calibrate --guarantee), such as recall=0.9, "
           "where "
           "a request has no `keep` and no threshold")
      .Takes("PROMISE")
      .Excludes(least);
  AddByDocumentFlag(flags, options.by_document);
  flags
      .Add("--queue-tokens", options.queue_tokens,
           "Tokens that may wait; above it requests get 429. 0: what is encoded in 15 seconds, as "
           "measured")
      .Between(0, 1'000'000'000)
      .ShowDefault();
  flags.Add("--request-timeout", options.request_seconds, "Seconds that a request may take")
      .Between(1, 86400)
      .ShowDefault();
  flags
      .Add("--drain-timeout", options.drain_seconds,
           "Seconds that requests under way get at SIGTERM")
      .Between(0, 86400)
      .ShowDefault();
}

CommandBody ConfigureServe(Flags& flags) {
  const auto options = std::make_shared<ServeCommandOptions>();
  flags.Add("source", options->source, "Model folder, or index (tandem index build)")
      .Takes("MODEL|INDEX")
      .Required();
  flags.Add("--model", options->model.model,
            "Model folder of an index whose model has moved; it must be the same model");
  flags.Add("--name", options->name,
            "Name of the model that clients give (default: the folder's name)");
  flags.Add("--host", options->host, "Address to listen on; 0.0.0.0 or :: for all").ShowDefault();
  flags.Add("--port", options->port, "Port to listen on; 0: any that is free")
      .Between(0, kMaxPort)
      .ShowDefault();
  flags.Add("--token-file", options->token_file,
            "File of bearer tokens, one a line; clients then need one of them");
  flags
      .Add("--cors", options->origins,
           "Origin of web pages that may ask, as https://example.org; * for all; may be given "
           "several times (default: none)")
      .OneValueEachTime();
  flags.Add("--client-header", options->client_header,
            "Header by which a proxy names clients, for fairness among them (default: clients are "
            "addresses)");
  AddLimits(flags, *options);
  flags.AddSwitch("--log-requests", options->log_requests, "A line on stderr for each request");
  flags.AddSwitch(
      "--health", options->health,
      "Ask the server that runs at --host and --port whether it is well, and exit: 0 it "
      "is, 6 it is not, or does not answer within 3 seconds");
  AddPromptFlag(flags, options->model, "queries");
  AddLengthFlags(flags, options->model);
  flags.SetFooter(
      "SIGTERM answers what is under way and ends (exit 0); SIGHUP opens the model or index again\n"
      "and swaps it in. TLS is a proxy's work.");
  return [options](const Globals& globals) {
    options->globals = globals;
    RunCheckedServe(*options);
  };
}

constexpr Example kServeExamples[] = {
    {"tandem serve runs/mine/model",
     "Answer as OpenAI's embedding clients ask, at http://127.0.0.1:8080"},
    {"tandem serve mine.index --token-file tokens",
     "Search, with a page, for those who have a token"},
    {"tandem serve passages.index --by-document", "Show each document once, by its best passage"},
};

}  // namespace

extern const Command kServeCommand{
    {.name = "serve", .summary = "Answer requests over HTTP: embeddings and search"},
    ConfigureServe,
    kServeExamples};

}  // namespace tandem::app
