// One connection: reads requests, one after the other, and writes their answers, for server.cc.
#pragma once

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "serve/http/http_parser.h"
#include "serve/http/server.h"
#include "serve/service.h"

namespace tandem::serve {

// The objects that connections share. Only the thread that runs them uses these.
struct ConnectionHost {
  Service& service;
  const ServerOptions& options;
  std::array<char, size_t{64} << 10> scratch;  // bytes of one read
  std::atomic<size_t> held_bytes = 0;
  bool stopping = false;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Clock = std::chrono::steady_clock;

  Connection(ConnectionHost& host, boost::asio::ip::tcp::socket socket, std::string address);
  ~Connection();

  void Start();
  // Called several times a second: does what is due when a deadline has passed.
  void CheckDeadline(Clock::time_point now);
  // Takes no further request: an idle connection closes soon, the others after their answer.
  void Drain(Clock::time_point now);
  void Close();

  bool closed() const { return phase_ == Phase::kClosed; }
  // Says whether it keeps the server waiting, so that it may be closed to make room, and since
  // when.
  bool evictable() const;
  bool idle() const { return phase_ == Phase::kIdle; }
  const std::string& network() const { return network_; }  // of its client (client_network.h)
  Clock::time_point since() const { return since_; }
  // Bytes of an answer that its client is slow to read; 0: there is none.
  size_t slowly_read(Clock::time_point now) const;

 private:
  enum class Phase {
    kIdle,       // nothing of a request has come
    kHead,       // a part of a head has
    kBody,       // a part of a body is missing
    kWorking,    // the request waits for its answer
    kWriting,    // the answer goes out
    kLingering,  // all is said: what the client still sends is passed over
    kClosed,
  };
  void Enter(Phase phase, std::chrono::milliseconds time);

  void WaitReadable();
  void OnReadable();
  void OnBytes(std::string_view bytes);
  void OnEnd();  // the client sends no more
  void OnLost();
  void Advance();
  bool Screen();  // false where the request was refused
  bool HoldBody();
  void Work();
  void OnAnswer(uint64_t request, Response response);
  void Refuse(Response response);  // answers, and takes no other request
  void Send(Response response);
  void Write();
  void OnWritten();
  void Log(const Response& response, double seconds) const;
  void CancelWork();
  void Hold(size_t bytes);  // counts the memory that the connection holds now

  ConnectionHost& host_;
  boost::asio::ip::tcp::socket socket_;
  const std::string address_;
  const std::string network_;
  HttpParser parser_;
  std::string input_;  // bytes that have been read and not parsed
  Phase phase_ = Phase::kIdle;
  Clock::time_point since_;
  Clock::time_point deadline_;
  Clock::time_point head_end_;
  bool waiting_ = false;      // for bytes
  bool screened_ = false;     // the request under way
  bool half_closed_ = false;  // the client sends no more but may wait for the answer
  bool keep_alive_ = true;
  uint64_t request_ = 0;  // number of the one under way
  RequestHead head_;
  std::shared_ptr<PendingRequest> pending_;
  std::string output_head_;
  std::string output_body_;
  size_t held_ = 0;
  size_t passed_over_ = 0;
};

}  // namespace tandem::serve
