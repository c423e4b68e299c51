#include "serve/http/health_check.h"

#include <fmt/format.h>

#include <boost/asio/ip/tcp.hpp>
#include <string_view>

namespace tandem::serve {
namespace {

std::string_view AddressToAsk(std::string_view host) {
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  if (host == "0.0.0.0") return "127.0.0.1";
  if (host == "::") return "::1";
  return host;
}

}  // namespace

std::string HealthProblem(const std::string& host, uint16_t port, std::chrono::milliseconds limit) {
  const std::string_view address = AddressToAsk(host);
  const bool ipv6 = address.find(':') != std::string_view::npos;
  const std::string name =
      ipv6 ? fmt::format("[{}]:{}", address, port) : fmt::format("{}:{}", address, port);
  boost::asio::ip::tcp::iostream stream;
  stream.expires_after(limit);
  stream.connect(std::string(address), std::to_string(port));
  if (!stream) return fmt::format("{}: {}", name, stream.error().message());
  stream << "GET /health HTTP/1.1\r\nHost: " << name << "\r\nConnection: close\r\n\r\n"
         << std::flush;
  std::string version;
  int status = 0;
  if (!(stream >> version >> status) || !version.starts_with("HTTP/")) {
    return fmt::format("{} gives no answer of HTTP ({})", name, stream.error().message());
  }
  return status == 200 ? "" : fmt::format("{} answers {}", name, status);
}

}  // namespace tandem::serve
