// Says whether the server takes requests. One that is about to end is refused before it comes here.
#include "serve/route.h"

namespace tandem::serve {

extern const Route kHealthRoute{.path = "/health",
                                .summary = "200 while the server takes requests",
                                .open = true,
                                .response = kAnyObject,
                                .get = [](const Service&, const RequestHead&) {
                                  return JsonResponse("{\"status\":\"ok\"}\n");
                                }};

}  // namespace tandem::serve
