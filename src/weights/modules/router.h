// Models of two encoders as sentence-transformers keeps them: a Router module ("Asym" before
// release 5) and router_config.json, which sends texts of each task through modules of its own.
// Internal to the room.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "weights/folders/tandem_file.h"
#include "weights/modules/modules.h"

namespace tandem::weights {

// Whether modules.json of the folder begins with a router.
bool IsRouterFolder(const ModelFiles& files);

struct Routes {
  std::string file;  // that says so: "model/router_config.json"
  // Of texts with the task "query" and "document", from the Transformer to the last module behind
  // the router; folders are relative to the model's.
  std::vector<ListedModule> query;
  std::vector<ListedModule> document;
  // Shared: both routes are the same modules. With one Dense module that is the last one of both:
  // kSeparateSharedProjection.
  Towers towers = Towers::kSeparate;
};

// Reads the routes of texts with the tasks "query" and "document", found as sentence-transformers
// finds them: by `route_mappings` ((task, "text"), (task, any), (any, "text"), (any, any)), then by
// the route's name. Throws ModelError for a broken file, where a task has no route, and where two
// routes share a Transformer but not what is behind it.
Routes ReadRoutes(const ModelFiles& files);

// Writes modules.json, router_config.json and config_sentence_transformers.json into `folder`,
// whose folders `query` and `document` are complete models of one encoder, so that
// sentence-transformers (from release 5) loads it: encode_query takes the one, encode_document and
// encode the other. `towers` is kSeparate, or kSeparateSharedProjection: both routes then have the
// query encoder's last Dense module.
void WriteRouter(const std::filesystem::path& folder, const std::string& query,
                 const std::string& document, Towers towers);

}  // namespace tandem::weights
