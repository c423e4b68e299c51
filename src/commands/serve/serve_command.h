// `tandem serve`: serves a model, or an index and its model, over HTTP.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/globals.h"
#include "commands/model/model_flags.h"

namespace tandem::app {

struct ServeCommandOptions {
  Globals globals;
  std::string source;  // a model folder, or an index
  ModelFlags model;    // for an index: --model, if the model has moved; else empty
  std::string name;    // for clients; "": the folder's name
  std::string host = "127.0.0.1";
  size_t port = 8080;
  std::string token_file;
  std::vector<std::string> origins;
  std::string client_header;
  size_t max_connections = 1024;
  size_t max_body_bytes = size_t{8} << 20;
  size_t max_texts = 2048;
  size_t max_results = 1000;
  std::optional<double>
      min_probability;  // of hits where a request asks for none; none: the index's
  std::string keep;     // the promise that hits keep where a request asks for nothing; "": none
  bool by_document = false;  // where a request does not say it
  size_t queue_tokens = 0;   // 0: as many as are encoded in some seconds
  size_t request_seconds = 60;
  size_t drain_seconds = 30;
  bool log_requests = false;
  bool health = false;  // asks a server that runs, instead of being one
};

// Does the work, in serve_run.cc. Needs tensors.
void RunServe(const ServeCommandOptions& options);

}  // namespace tandem::app
