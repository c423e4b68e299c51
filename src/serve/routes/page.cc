// The search page: routes that answer with files of page/.
#include <string>

#include "serve/page_assets.h"
#include "serve/route.h"

namespace tandem::serve {
namespace {

constexpr const char* kPagePolicy =
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' "
    "data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

Response AssetResponse(const PageAsset& asset, const RequestHead& head) {
  Response response;
  response.headers = {{"ETag", std::string(asset.etag)},
                      {"Cache-Control", "no-cache"},
                      {"Content-Security-Policy", kPagePolicy},
                      {"X-Content-Type-Options", "nosniff"},
                      {"Referrer-Policy", "no-referrer"}};
  if (head.if_none_match.find(asset.etag) != std::string::npos || head.if_none_match == "*") {
    response.status = 304;
    return response;
  }
  response.content_type = asset.content_type;
  response.body = asset.content;
  return response;
}

}  // namespace

extern const Route kPageRoute{
    .path = "/",
    .summary = "The search page",
    .open = true,
    .get = [](const Service&, const RequestHead& head) { return AssetResponse(kPage, head); }};

extern const Route kPageStyleRoute{
    .path = "/page.css",
    .summary = "The search page's style",
    .open = true,
    .get = [](const Service&, const RequestHead& head) { return AssetResponse(kPageStyle, head); }};

extern const Route kPageScriptRoute{.path = "/page.js",
                                    .summary = "The search page's script",
                                    .open = true,
                                    .get = [](const Service&, const RequestHead& head) {
                                      return AssetResponse(kPageScript, head);
                                    }};

}  // namespace tandem::serve
