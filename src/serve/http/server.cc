#include "serve/http/server.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <csignal>
#include <string_view>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "base/log.h"
#include "serve/http/connection.h"

namespace tandem::serve {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using Clock = Connection::Clock;

// Says how often deadlines are looked at.
constexpr std::chrono::milliseconds kSweep{100};

tcp::endpoint Resolve(asio::io_context& io, std::string host, uint16_t port) {
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  boost::system::error_code error;
  const auto address = asio::ip::make_address(host, error);
  if (!error) return {address, port};
  tcp::resolver resolver(io);
  const auto found =
      resolver.resolve(host, fmt::format("{}", port),
                       tcp::resolver::passive | tcp::resolver::numeric_service, error);
  if (error || found.empty()) {
    throw UsageError(fmt::format("--host {} is no address and no name of one: {}", host,
                                 error ? error.message() : "nothing found"));
  }
  return *found.begin();
}

void Listen(asio::io_context& io, tcp::acceptor& acceptor, const ServerOptions& options) {
  const tcp::endpoint endpoint = Resolve(io, options.host, options.port);
  boost::system::error_code error;
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (!error) return;
  const bool taken = error == asio::error::address_in_use;
  throw UsageError(fmt::format(
      "{}:{}: cannot listen: {}{}", options.host, options.port, error.message(),
      taken ? "; stop the other program, or choose another --port (0: any that is free)" : ""));
}

}  // namespace

class Server::Impl {
 public:
  Impl(Service& service, ServerOptions options)
      : options_(std::move(options)),
        host_{.service = service, .options = options_, .scratch = {}},
        acceptor_(io_),
        sweep_(io_),
        accept_pause_(io_),
        signals_(io_) {
    Listen(io_, acceptor_, options_);
    endpoint_ = acceptor_.local_endpoint();
    service.SetConnectionGauges([this](Gauges* gauges) {
      gauges->connections = open_connections_;
      gauges->held_bytes = host_.held_bytes;
    });
  }

  ~Impl() {
    host_.service.SetConnectionGauges({});
    for (const auto& connection : connections_) connection->Close();
    if (reload_.joinable()) reload_.join();
  }

  tcp::endpoint endpoint() const { return endpoint_; }

  void Run() {
    if (options_.signals) {
      for (const int signal : {SIGINT, SIGTERM, SIGHUP}) signals_.add(signal);
      WaitSignal();
    }
    Accept();
    Sweep();
    io_.run();
  }

  void Stop() {
    asio::post(io_, [this] { Drain(); });
  }
  void Reload() {
    asio::post(io_, [this] { StartReload(); });
  }

 private:
  void Accept() {
    if (!acceptor_.is_open()) return;
    acceptor_.async_accept([this](const boost::system::error_code& error, tcp::socket socket) {
      if (!error) Admit(std::move(socket));  // also where the port has been closed meanwhile
      if (!acceptor_.is_open()) return;
      if (!error || error == asio::error::connection_aborted || error == asio::error::interrupted) {
        return Accept();
      }
      // Where there are no more files, for one: those that close make room.
      Evict();
      accept_pause_.expires_after(kSweep);
      accept_pause_.async_wait([this](const boost::system::error_code& stopped) {
        if (!stopped) Accept();
      });
    });
  }

  void Admit(tcp::socket socket) {
    host_.service.metrics().CountConnection();
    if (connections_.size() >= options_.max_connections && !Evict()) return;  // closes the socket
    boost::system::error_code error;
    const auto peer = socket.remote_endpoint(error);
    if (error) return;
    auto connection =
        std::make_shared<Connection>(host_, std::move(socket), peer.address().to_string());
    connections_.insert(connection);
    open_connections_ = connections_.size();
    connection->Start();
  }

  // Closes, of the client with most connections, the one that has kept the server waiting longest,
  // idle ones first: whoever opens a thousand closes none of another's.
  bool Evict() {
    std::unordered_map<std::string_view, size_t> counts;
    for (const auto& connection : connections_) {
      if (connection->evictable()) ++counts[connection->network()];
    }
    const auto rank = [&](const Connection& connection) {
      return std::tuple(counts[connection.network()], connection.idle(),
                        -connection.since().time_since_epoch());
    };
    std::shared_ptr<Connection> longest;
    for (const auto& connection : connections_) {
      if (!connection->evictable()) continue;
      if (!longest || rank(*connection) > rank(*longest)) longest = connection;
    }
    if (!longest) return false;
    host_.service.metrics().CountEvicted();
    longest->Close();
    connections_.erase(longest);
    open_connections_ = connections_.size();
    return true;
  }

  // Lets answers that are read slowly give way where memory is full, the longest first.
  void ShedAnswers(Clock::time_point now) {
    while (host_.held_bytes > options_.held_bytes) {
      std::shared_ptr<Connection> longest;
      size_t most = 0;
      for (const auto& connection : connections_) {
        const size_t bytes = connection->slowly_read(now);
        if (bytes <= most) continue;
        most = bytes;
        longest = connection;
      }
      if (!longest) return;
      longest->Close();
      host_.service.metrics().CountEvicted();
    }
  }

  void Sweep() {
    const Clock::time_point now = Clock::now();
    ShedAnswers(now);
    for (auto it = connections_.begin(); it != connections_.end();) {
      const std::shared_ptr<Connection> connection = *it;
      if (host_.stopping) connection->Drain(now);
      if (!connection->closed()) connection->CheckDeadline(now);
      it = connection->closed() ? connections_.erase(it) : std::next(it);
    }
    open_connections_ = connections_.size();
    if (host_.stopping && (connections_.empty() || now > drain_end_)) return io_.stop();
    sweep_.expires_after(kSweep);
    sweep_.async_wait([this](const boost::system::error_code& error) {
      if (!error) Sweep();
    });
  }

  void Drain() {
    if (host_.stopping) return;
    host_.stopping = true;
    host_.service.Drain();
    drain_end_ = Clock::now() + options_.drain;
    // Clients that came before hear that the server ends; closing the port would reset them.
    boost::system::error_code error;
    acceptor_.non_blocking(true, error);
    while (!error) {
      tcp::socket socket = acceptor_.accept(error);
      if (!error) Admit(std::move(socket));
    }
    acceptor_.close(error);
    const size_t open = connections_.size();
    Note(fmt::format("ending: {} {} open", open, open == 1 ? "connection is" : "connections are"));
  }

  void WaitSignal() {
    signals_.async_wait([this](const boost::system::error_code& error, int signal) {
      if (error) return;
      if (signal == SIGHUP) {
        StartReload();
      } else if (host_.stopping) {
        ::_exit(128 + signal);  // the second one
      } else {
        Drain();
      }
      WaitSignal();
    });
  }

  // Runs on a thread of its own: requests go on. A signal that comes meanwhile is done after it.
  void StartReload() {
    if (reloading_) {
      reload_again_ = true;
      return;
    }
    if (reload_.joinable()) reload_.join();
    reloading_ = true;
    reload_again_ = false;
    reload_ = std::thread([this] {
      try {
        host_.service.Reload();
        Note("the model and index of now are in place");
      } catch (const std::exception& error) {
        Warn(fmt::format("not reloaded, the old ones stay: {}", error.what()));
      }
      asio::post(io_, [this] {
        reloading_ = false;
        if (reload_again_) StartReload();
      });
    });
  }

  ServerOptions options_;
  ConnectionHost host_;  // outlives io_, whose last handlers have connections
  asio::io_context io_{1};
  tcp::acceptor acceptor_;
  tcp::endpoint endpoint_;
  asio::steady_timer sweep_;
  asio::steady_timer accept_pause_;
  asio::signal_set signals_;
  std::unordered_set<std::shared_ptr<Connection>> connections_;
  std::atomic<size_t> open_connections_ = 0;
  Clock::time_point drain_end_;
  bool reloading_ = false;
  bool reload_again_ = false;
  std::thread reload_;
};

void CheckAddress(const ServerOptions& options) {
  asio::io_context io;
  tcp::acceptor acceptor(io);
  Listen(io, acceptor, options);
}

Server::Server(Service& service, ServerOptions options)
    : impl_(std::make_unique<Impl>(service, std::move(options))) {}
Server::~Server() = default;

uint16_t Server::port() const { return impl_->endpoint().port(); }

std::string Server::address() const {
  const tcp::endpoint endpoint = impl_->endpoint();
  const std::string host = endpoint.address().to_string();
  return endpoint.address().is_v6() ? fmt::format("http://[{}]:{}", host, endpoint.port())
                                    : fmt::format("http://{}:{}", host, endpoint.port());
}

void Server::Run() { impl_->Run(); }
void Server::Stop() { impl_->Stop(); }
void Server::Reload() { impl_->Reload(); }

}  // namespace tandem::serve
