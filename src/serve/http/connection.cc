#include "serve/http/connection.h"

#include <fmt/format.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <utility>

#include "base/log.h"
#include "serve/bodies/api_error.h"
#include "serve/http/client_network.h"

namespace tandem::serve {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using std::chrono::milliseconds;

// Limits requests that a client sends before it has the answer to the one before.
constexpr size_t kPipelinedBytes = size_t{32} << 10;
// A body that is always read, however much memory others hold.
constexpr size_t kSmallBody = size_t{64} << 10;
// The least a client must read of its answer in a second, once ServerOptions::write is over.
constexpr size_t kWriteBytesPerSecond = size_t{64} << 10;
// Says how long, and how much, a client may still send after an answer that ends the connection.
// Closing at once would reset the connection, and the client might not read the answer.
constexpr milliseconds kLinger{2000};
constexpr size_t kLingerBytes = size_t{64} << 20;
// A client that sends no more may have gone away. A request with more texts left is dropped then.
constexpr size_t kHalfClosedTexts = 32;
constexpr milliseconds kDrainGrace{1000};
// An answer that is not read by then is read slowly.
constexpr milliseconds kSlowRead{1000};
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace

Connection::Connection(ConnectionHost& host, tcp::socket socket, std::string address)
    : host_(host),
      socket_(std::move(socket)),
      address_(std::move(address)),
      network_(ClientNetwork(address_)),
      parser_(host.options.http) {}

Connection::~Connection() {
  CancelWork();
  Hold(0);
}

void Connection::Hold(size_t bytes) {
  host_.held_bytes += bytes;
  host_.held_bytes -= held_;
  held_ = bytes;
}

void Connection::Enter(Phase phase, milliseconds time) {
  phase_ = phase;
  since_ = Clock::now();
  deadline_ = since_ + time;
}

void Connection::Start() {
  boost::system::error_code ignored;
  socket_.set_option(tcp::no_delay(true), ignored);
  socket_.non_blocking(true, ignored);
  Enter(Phase::kIdle, host_.options.head);  // whoever connects has something to say
  WaitReadable();
}

bool Connection::evictable() const {
  return phase_ == Phase::kIdle || phase_ == Phase::kHead || phase_ == Phase::kBody ||
         phase_ == Phase::kLingering;
}

size_t Connection::slowly_read(Clock::time_point now) const {
  return phase_ == Phase::kWriting && now - since_ > kSlowRead ? held_ : 0;
}

void Connection::CancelWork() {
  if (!pending_) return;
  pending_->Cancel();
  pending_.reset();
  ++request_;  // an answer that is on its way is for nobody
}

void Connection::Close() {
  if (phase_ == Phase::kClosed) return;
  phase_ = Phase::kClosed;
  CancelWork();
  Hold(0);
  boost::system::error_code ignored;
  socket_.close(ignored);
}

void Connection::Drain(Clock::time_point now) {
  if (phase_ == Phase::kIdle) deadline_ = std::min(deadline_, now + kDrainGrace);
}

void Connection::CheckDeadline(Clock::time_point now) {
  if (phase_ == Phase::kWorking && half_closed_ && pending_ &&
      pending_->texts_left() > kHalfClosedTexts) {
    return OnLost();
  }
  if (now < deadline_) return;
  switch (phase_) {
    case Phase::kHead:
      return Refuse(ErrorResponse(408, "timeout", "the head of the request did not come in time"));
    case Phase::kBody:
      return Refuse(ErrorResponse(408, "timeout", "the body of the request did not come in time"));
    case Phase::kWorking: {
      CancelWork();
      Response response = ErrorResponse(
          503, "timeout", "the request could not be answered in time; send fewer texts at once");
      response.headers.emplace_back("Retry-After", "5");
      return Send(std::move(response));
    }
    case Phase::kIdle:
    case Phase::kWriting:
    case Phase::kLingering:
    case Phase::kClosed:
      return Close();
  }
}

// --- reading -------------------------------------------------------------------------------------

void Connection::WaitReadable() {
  if (waiting_ || half_closed_ || phase_ == Phase::kClosed) return;
  if (input_.size() >= kPipelinedBytes &&
      (phase_ == Phase::kWorking || phase_ == Phase::kWriting)) {
    return;
  }
  waiting_ = true;
  socket_.async_wait(tcp::socket::wait_read,
                     [self = shared_from_this()](const boost::system::error_code& error) {
                       self->waiting_ = false;
                       if (error || self->phase_ == Phase::kClosed) return;
                       self->OnReadable();
                     });
}

void Connection::OnReadable() {
  boost::system::error_code error;
  const size_t bytes = socket_.read_some(asio::buffer(host_.scratch), error);
  if (error == asio::error::would_block || error == asio::error::try_again ||
      error == asio::error::interrupted) {
    return WaitReadable();
  }
  if (error == asio::error::eof) return OnEnd();
  if (error) return OnLost();
  OnBytes({host_.scratch.data(), bytes});
  WaitReadable();
}

void Connection::OnEnd() {
  half_closed_ = true;
  if (phase_ == Phase::kWorking || phase_ == Phase::kWriting) return;
  Close();
}

void Connection::OnLost() {
  if (phase_ == Phase::kWorking) host_.service.metrics().CountGone();
  Close();
}

void Connection::OnBytes(std::string_view bytes) {
  if (phase_ == Phase::kLingering) {
    passed_over_ += bytes.size();
    if (passed_over_ > kLingerBytes) Close();
    return;
  }
  input_.append(bytes);
  Advance();
}

// Parses what there is, up to the end of a request.
void Connection::Advance() {
  while (phase_ == Phase::kIdle || phase_ == Phase::kHead || phase_ == Phase::kBody) {
    const size_t taken = parser_.Feed(input_);
    input_.erase(0, taken);
    const HttpParser::State state = parser_.state();
    if (state == HttpParser::State::kHead) {
      if (phase_ == Phase::kIdle && (taken > 0 || !input_.empty())) {
        Enter(Phase::kHead, host_.options.head);
        head_end_ = since_;
      }
      return;
    }
    if (state == HttpParser::State::kFailed) {
      head_ = parser_.head();
      head_end_ = Clock::now();
      return Refuse(
          ErrorResponse(parser_.error_status(), "invalid_request", parser_.error_message()));
    }
    if (!screened_ && !Screen()) return;
    if (!HoldBody()) return;
    if (state == HttpParser::State::kDone) return Work();
    if (taken == 0) {
      // A line of a chunked body that does not end.
      if (input_.size() > host_.options.http.header_bytes) {
        Refuse(ErrorResponse(400, "invalid_request", "a chunk of the body has no end of line"));
      }
      return;
    }
  }
}

bool Connection::Screen() {
  screened_ = true;
  head_ = parser_.head();
  head_end_ = Clock::now();
  Enter(Phase::kBody, host_.options.body);
  if (std::optional<Response> refused = host_.service.Screen(head_)) {
    if (parser_.state() == HttpParser::State::kDone) {
      Send(std::move(*refused));
    } else {
      Refuse(std::move(*refused));
    }
    return false;
  }
  if (head_.expect_continue && parser_.state() == HttpParser::State::kBody && input_.empty()) {
    // So few bytes fit into the socket of a client that waits for them.
    boost::system::error_code ignored;
    socket_.write_some(asio::buffer(kContinue.data(), kContinue.size()), ignored);
  }
  return true;
}

bool Connection::HoldBody() {
  const size_t bytes = parser_.body_bytes();
  Hold(bytes);
  if (bytes <= kSmallBody || host_.held_bytes <= host_.options.held_bytes) return true;
  Response response = ErrorResponse(429, "memory_full", "too much is in memory; come again later");
  response.headers.emplace_back("Retry-After", "1");
  Refuse(std::move(response));
  return false;
}

// --- answering -----------------------------------------------------------------------------------

void Connection::Work() {
  Enter(Phase::kWorking, host_.options.answer);
  const uint64_t request = ++request_;
  const auto respond = [weak = weak_from_this(), executor = socket_.get_executor(),
                        request](Response response) {
    asio::post(executor, [weak, request, answer = std::move(response)]() mutable {
      if (const auto self = weak.lock()) self->OnAnswer(request, std::move(answer));
    });
  };
  const std::string client = host_.service.ClientOf(head_, address_);
  pending_ = host_.service.Handle(head_, parser_.TakeBody(), client, respond);
}

void Connection::OnAnswer(uint64_t request, Response response) {
  if (request != request_ || phase_ != Phase::kWorking) return;
  pending_.reset();
  Send(std::move(response));
}

void Connection::Refuse(Response response) {
  response.close = true;
  Send(std::move(response));
}

void Connection::Log(const Response& response, double seconds) const {
  std::string path = head_.path.substr(0, 200);
  for (char& c : path) {
    if (c < ' ' || c == 0x7F) c = '?';
  }
  Note(fmt::format("{} {} {} {} {} bytes {:.1f} ms", address_,
                   head_.method_name.empty() ? "-" : head_.method_name.substr(0, 20),
                   path.empty() ? "-" : path, response.status, response.body.size(),
                   seconds * 1000));
}

void Connection::Send(Response response) {
  const double seconds = std::chrono::duration<double>(Clock::now() - head_end_).count();
  host_.service.Finish(head_, std::max(0.0, seconds), &response);
  if (host_.options.log_requests) Log(response, seconds);
  // A client that sends no more may have sent several requests before.
  const bool last = half_closed_ && input_.empty();
  keep_alive_ = head_.keep_alive && !response.close && !last && !host_.stopping;
  output_head_ = ResponseHead(response, head_.version, keep_alive_);
  output_body_ = head_.method == Method::kHead ? std::string() : std::move(response.body);
  Hold(output_body_.size());
  Enter(Phase::kWriting,
        host_.options.write + milliseconds(output_body_.size() * 1000 / kWriteBytesPerSecond));
  Write();
  WaitReadable();
}

void Connection::Write() {
  const std::array<asio::const_buffer, 2> buffers = {asio::buffer(output_head_),
                                                     asio::buffer(output_body_)};
  asio::async_write(socket_, buffers,
                    [self = shared_from_this()](const boost::system::error_code& error, size_t) {
                      if (self->phase_ == Phase::kClosed) return;
                      if (error) return self->Close();
                      self->OnWritten();
                    });
}

void Connection::OnWritten() {
  output_head_ = {};
  output_body_ = {};
  Hold(0);
  if (!keep_alive_) {
    if (half_closed_) return Close();
    boost::system::error_code ignored;
    socket_.shutdown(tcp::socket::shutdown_send, ignored);
    input_ = {};
    Enter(Phase::kLingering, kLinger);
    return WaitReadable();
  }
  parser_.Reset();
  head_ = {};
  screened_ = false;
  Enter(Phase::kIdle, host_.options.idle);
  if (!input_.empty()) Advance();
  if (half_closed_ && phase_ != Phase::kWorking && phase_ != Phase::kWriting) return Close();
  WaitReadable();
}

}  // namespace tandem::serve
