#include "weights/modules/router.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/files/files.h"
#include "base/json/json.h"
#include "weights/settings/settings_file.h"

namespace tandem::weights {
namespace {

constexpr const char* kRouterFile = "router_config.json";

// The name of the route that texts of the task take; none where there is none.
std::optional<std::string> RouteName(const Settings& config, const Json& structure,
                                     std::string_view task) {
  const Json* parameters = config.Find("parameters");
  if (parameters != nullptr && parameters->is_object() && parameters->contains("route_mappings")) {
    const Json& mappings = (*parameters)["route_mappings"];
    // Python tuples as text.
    for (const std::string& key :
         {fmt::format("('{}', 'text')", task), fmt::format("('{}', None)", task),
          std::string("(None, 'text')"), std::string("(None, None)")}) {
      if (!mappings.is_object() || !mappings.contains(key)) continue;
      if (!mappings[key].is_string())
        config.Fail("parameters", "names of routes in route_mappings");
      return mappings[key].get<std::string>();
    }
  }
  for (const std::string_view name : {task, std::string_view("text")}) {
    if (structure.contains(name)) return std::string(name);
  }
  return std::nullopt;
}

// The modules of the route that texts of the task take. Their ids are their folders, below
// `router`.
std::vector<ListedModule> ModulesOf(const Settings& config, std::string_view task,
                                    const std::string& router) {
  const Json& structure = *config.Find("structure");
  const Settings types = config.RequiredObject("types");
  const std::optional<std::string> name = RouteName(config, structure, task);
  if (!name || !structure.contains(*name) || !structure[*name].is_array()) {
    std::vector<std::string> routes;
    for (const auto& [route, ids] : structure.items()) routes.push_back(route);
    throw ModelError(config.file(), "",
                     fmt::format("has no route for texts of the task {} (its routes: {}); routes "
                                 "named query and document are expected, or route_mappings",
                                 task, fmt::join(routes, ", ")));
  }
  std::vector<ListedModule> modules;
  for (const Json& id : structure[*name]) {
    if (!id.is_string()) config.Fail("structure", "lists of names of modules");
    const auto folder = id.get<std::string>();
    modules.push_back(ModuleOf(types.RequiredString(folder),
                               router.empty() ? folder : router + "/" + folder, config.file()));
  }
  if (modules.empty() || modules.front().kind != "Transformer") {
    throw ModelError(config.file(), "",
                     fmt::format("the route {} does not begin with a Transformer", *name));
  }
  return modules;
}

// The last Dense module's folder; empty: there is none.
std::string LastDense(const std::vector<ListedModule>& modules) {
  const auto last = std::find_if(modules.rbegin(), modules.rend(),
                                 [](const ListedModule& module) { return module.kind == "Dense"; });
  return last == modules.rend() ? "" : last->folder;
}

bool SameFolders(const std::vector<ListedModule>& a, const std::vector<ListedModule>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x.folder == y.folder; });
}

Towers TowersOf(const Routes& routes) {
  if (SameFolders(routes.query, routes.document)) return Towers::kShared;
  if (routes.query.front().folder == routes.document.front().folder) {
    throw ModelError(routes.file, "",
                     fmt::format("both routes have the Transformer {} but not the same modules "
                                 "after it; supported are routes that share all modules, the last "
                                 "Dense module, or none",
                                 routes.query.front().folder));
  }
  const std::string dense = LastDense(routes.query);
  const bool shared = !dense.empty() && dense == LastDense(routes.document);
  return shared ? Towers::kSeparateSharedProjection : Towers::kSeparate;
}

// The ids of a tower's modules, with their types put into `types`.
std::vector<std::string> AddTower(const std::filesystem::path& folder, const std::string& tower,
                                  const std::string& shared_dense, Json* types) {
  const std::vector<ListedModule> modules = ModelFiles(folder / tower).Modules();
  const std::string last_dense = LastDense(modules);
  std::vector<std::string> ids;
  for (const ListedModule& module : modules) {
    std::string id = module.folder.empty() ? tower : tower + "/" + module.folder;
    if (!shared_dense.empty() && module.folder == last_dense) id = shared_dense;
    (*types)[id] = module.type;
    ids.push_back(std::move(id));
  }
  return ids;
}

// The query encoder's settings with the document encoder's prompt for documents.
void WriteModelSettings(const std::filesystem::path& folder, const std::string& query,
                        const std::string& document) {
  const auto read = [&](const std::string& tower) {
    return ReadToRewrite(folder / tower / kModelSettings);
  };
  Json settings = read(query);
  const Json of_documents = read(document);
  settings["prompts"]["document"] = of_documents["prompts"]["document"];
  WriteFileAtomically(folder / kModelSettings, settings.Dump(2) + "\n");
}

}  // namespace

bool IsRouterFolder(const ModelFiles& files) {
  return files.Has(kModulesFile) && files.Modules().front().is_router();
}

Routes ReadRoutes(const ModelFiles& files) {
  const std::vector<ListedModule>& listed = files.Modules();
  const std::string& router = listed.front().folder;
  const ModelFiles place = files.Below(router);
  const Settings& config = place.Read(place.Has(kRouterFile) ? kRouterFile : "config.json");
  config.RequiredObject("structure");
  Routes routes{.file = config.file(),
                .query = ModulesOf(config, "query", router),
                .document = ModulesOf(config, "document", router)};
  for (std::vector<ListedModule>* route : {&routes.query, &routes.document}) {
    route->insert(route->end(), listed.begin() + 1, listed.end());
  }
  routes.towers = TowersOf(routes);
  return routes;
}

void WriteRouter(const std::filesystem::path& folder, const std::string& query,
                 const std::string& document, Towers towers) {
  Json modules = Json::array();
  modules.push_back(
      {{"idx", 0}, {"name", "0"}, {"path", ""}, {"type", "sentence_transformers.models.Router"}});
  WriteFileAtomically(folder / "modules.json", modules.Dump(2) + "\n");
  std::string shared;
  if (towers == Towers::kSeparateSharedProjection) {
    shared = query + "/" + LastDense(ModelFiles(folder / query).Modules());
  }
  Json types = Json::object(), structure = Json::object();
  structure["query"] = AddTower(folder, query, shared, &types);
  structure["document"] = AddTower(folder, document, shared, &types);
  const Json router = {{"types", types},
                       {"structure", structure},
                       {"parameters", {{"default_route", "document"}, {"allow_empty_key", true}}}};
  WriteFileAtomically(folder / kRouterFile, router.Dump(2) + "\n");
  WriteModelSettings(folder, query, document);
}

}  // namespace tandem::weights
