#include "serve/http/http_message.h"

#include <fmt/format.h>

#include <array>
#include <ctime>

namespace tandem::serve {
namespace {

struct NamedStatus {
  int status;
  std::string_view text;
};
constexpr NamedStatus kStatuses[] = {{200, "OK"},
                                     {204, "No Content"},
                                     {304, "Not Modified"},
                                     {400, "Bad Request"},
                                     {401, "Unauthorized"},
                                     {404, "Not Found"},
                                     {405, "Method Not Allowed"},
                                     {408, "Request Timeout"},
                                     {411, "Length Required"},
                                     {413, "Content Too Large"},
                                     {415, "Unsupported Media Type"},
                                     {417, "Expectation Failed"},
                                     {429, "Too Many Requests"},
                                     {431, "Request Header Fields Too Large"},
                                     {500, "Internal Server Error"},
                                     {501, "Not Implemented"},
                                     {503, "Service Unavailable"},
                                     {505, "HTTP Version Not Supported"}};

// Writes a date as HTTP does, whatever the locale is: "Sun, 06 Nov 1994 08:49:37 GMT".
std::string HttpDate(std::time_t now) {
  constexpr std::array kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                  "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  std::tm time{};
  ::gmtime_r(&now, &time);
  return fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT",
                     kDays[static_cast<size_t>(time.tm_wday)], time.tm_mday,
                     kMonths[static_cast<size_t>(time.tm_mon)], time.tm_year + 1900, time.tm_hour,
                     time.tm_min, time.tm_sec);
}

}  // namespace

std::string_view StatusText(int status) {
  for (const NamedStatus& named : kStatuses) {
    if (named.status == status) return named.text;
  }
  return "";
}

std::string ResponseHead(const Response& response, int version, bool keep_alive) {
  std::string head =
      fmt::format("HTTP/1.{} {} {}\r\nServer: tandem\r\nDate: {}\r\n", version % 10,
                  response.status, StatusText(response.status), HttpDate(std::time(nullptr)));
  if (response.status != 204 && response.status != 304) {
    head += fmt::format("Content-Type: {}\r\nContent-Length: {}\r\n", response.content_type,
                        response.body.size());
  }
  for (const auto& [name, value] : response.headers) {
    head += fmt::format("{}: {}\r\n", name, value);
  }
  if (!keep_alive) {
    head += "Connection: close\r\n";
  } else if (version == 10) {
    head += "Connection: keep-alive\r\n";
  }
  return head += "\r\n";
}

}  // namespace tandem::serve
