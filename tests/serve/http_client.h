// A client of few words: it sends what it is told, right or wrong, and reads answers.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

namespace tandem::serve {

struct ClientResponse {
  int status = 0;  // 0: the connection ended before a response
  std::map<std::string, std::string> headers;
  std::string body;
};

class HttpClient {
 public:
  // `source`: the client's own address, of the loopback network.
  explicit HttpClient(uint16_t port, const char* source = "127.0.0.1") {
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    ::inet_pton(AF_INET, source, &address.sin_addr);
    ::bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address));
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  }
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;
  ~HttpClient() { ::close(socket_); }

  bool connected() const { return connected_; }

  // Says whether all was taken.
  bool Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }

  void EndSending() { ::shutdown(socket_, SHUT_WR); }
  void Reset() {  // closes with a reset
    const linger now{1, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
    ::close(socket_);
    socket_ = -1;
  }

  // The next response; `head` for one without body.
  ClientResponse Read(bool head = false) {
    ClientResponse response;
    size_t end = 0;
    while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
      if (!Receive()) return response;
    }
    const std::string text = buffer_.substr(0, end + 2);
    buffer_.erase(0, end + 4);
    response.status = std::atoi(text.substr(9, 3).c_str());
    for (size_t line = text.find("\r\n") + 2; line < text.size();) {
      const size_t stop = text.find("\r\n", line);
      const size_t colon = text.find(": ", line);
      response.headers[text.substr(line, colon - line)] = text.substr(colon + 2, stop - colon - 2);
      line = stop + 2;
    }
    const size_t length =
        head ? 0 : std::strtoul(response.headers["Content-Length"].c_str(), nullptr, 10);
    while (buffer_.size() < length) {
      if (!Receive()) return {};
    }
    response.body = buffer_.substr(0, length);
    buffer_.erase(0, length);
    return response;
  }

  // Says whether the server ends the connection within some seconds.
  bool Ended() {
    while (Receive()) {
    }
    return ended_;
  }

  ClientResponse Ask(std::string_view bytes) {
    Send(bytes);
    return Read();
  }

 private:
  bool Receive() {
    pollfd wait{socket_, POLLIN, 0};
    if (::poll(&wait, 1, 10'000) <= 0) return false;
    char bytes[4096];
    const ssize_t count = ::recv(socket_, bytes, sizeof(bytes), 0);
    ended_ = count <= 0;
    if (ended_) return false;
    buffer_.append(bytes, static_cast<size_t>(count));
    return true;
  }

  int socket_ = -1;
  bool connected_ = false;
  bool ended_ = false;
  std::string buffer_;
};

inline std::string GetRequest(std::string_view path, std::string_view headers = "") {
  return "GET " + std::string(path) + " HTTP/1.1\r\nHost: h\r\n" + std::string(headers) + "\r\n";
}

inline std::string PostRequest(std::string_view path, std::string_view body,
                               std::string_view headers = "") {
  return "POST " + std::string(path) +
         " HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n" + std::string(headers) + "\r\n" + std::string(body);
}

}  // namespace tandem::serve
