// The description of all routes (serve/bodies/openapi_document.h).
#include "serve/route.h"
#include "serve/service.h"

namespace tandem::serve {

extern const Route kOpenApiRoute{.path = "/openapi.json",
                                 .summary = "This description",
                                 .open = true,
                                 .response = kAnyObject,
                                 .get = [](const Service& service, const RequestHead&) {
                                   return JsonResponse(service.openapi());
                                 }};

}  // namespace tandem::serve
