#include "serve/http/client_network.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>

namespace tandem::serve {
namespace {

constexpr size_t kNetworkBytes = 8;

}  // namespace

std::string ClientNetwork(const std::string& address) {
  in6_addr bytes{};
  // A scope ("fe80::1%eth0") is no part of the address.
  if (::inet_pton(AF_INET6, address.substr(0, address.find('%')).c_str(), &bytes) != 1) {
    return address;
  }
  if (IN6_IS_ADDR_LOOPBACK(&bytes) || IN6_IS_ADDR_V4MAPPED(&bytes)) return address;
  std::fill(std::begin(bytes.s6_addr) + kNetworkBytes, std::end(bytes.s6_addr), uint8_t{0});
  char text[INET6_ADDRSTRLEN] = {};
  ::inet_ntop(AF_INET6, &bytes, text, sizeof(text));
  return std::string(text) + "/64";
}

}  // namespace tandem::serve
