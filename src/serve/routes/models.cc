// The model as OpenAI's clients ask for it: a list of one.
#include <string>

#include "serve/bodies/json_writer.h"
#include "serve/route.h"
#include "serve/service.h"

namespace tandem::serve {
namespace {

std::string ModelsAnswer(const BackendInfo& info) {
  std::string out = "{\"object\":\"list\",\"data\":[{\"id\":";
  AppendJsonText(&out, info.model);
  return out += ",\"object\":\"model\",\"created\":0,\"owned_by\":\"tandem\"}]}\n";
}

}  // namespace

extern const Route kModelsRoute{.path = "/v1/models",
                                .summary = "The model, as OpenAI's clients ask",
                                .response = kAnyObject,
                                .get = [](const Service& service, const RequestHead&) {
                                  return JsonResponse(ModelsAnswer(service.backend()->info()));
                                }};

}  // namespace tandem::serve
