#include "serve/metrics.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <iterator>

namespace tandem::serve {
namespace {

constexpr double kSeconds[] = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                               0.25,  0.5,    1,     2.5,  5,     10,   30};
constexpr double kTexts[] = {1, 2, 4, 8, 16, 32, 64, 128, 256};
constexpr double kTokens[] = {16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384};

double ResidentBytes() {
  long pages = 0;  // NOLINT: what the file holds
  if (std::FILE* file = std::fopen("/proc/self/statm", "re")) {
    if (std::fscanf(file, "%*s %ld", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return static_cast<double>(pages) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

void AppendHelp(std::string* out, std::string_view name, std::string_view type,
                std::string_view help) {
  fmt::format_to(std::back_inserter(*out), "# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

template <typename Number>
void AppendOne(std::string* out, std::string_view name, std::string_view type,
               std::string_view help, Number value) {
  AppendHelp(out, name, type, help);
  fmt::format_to(std::back_inserter(*out), "{} {}\n", name, value);
}

void AppendWatch(std::string* out, const QueryWatch& watch) {
  AppendOne(out, "tandem_watched_queries_total", "counter",
            "Queries whose best score was compared with those of the guarantees' calibration.",
            watch.queries);
  AppendOne(out, "tandem_watch_martingale", "gauge",
            "Capital of bets that queries are others than those of the calibration; starts as 1.",
            watch.martingale);
  AppendOne(out, "tandem_watch_martingale_highest", "gauge",
            "Its highest value: above 100 with a chance of 1/100 if queries are the same.",
            watch.highest);
  AppendOne(out, "tandem_watch_distance", "gauge",
            "Kolmogorov-Smirnov distance of the last 1000 best scores to the calibration's.",
            watch.distance);
  AppendOne(out, "tandem_watch_alarm", "gauge",
            "1 once the highest has reached 100: guarantees were made for other queries.",
            watch.alarm ? 1 : 0);
}

}  // namespace

void Histogram::Add(double value) {
  size_t bucket = 0;
  while (bucket < bounds_.size() && value > bounds_[bucket]) ++bucket;
  ++counts_[bucket];
  sum_ += value;
}

void Histogram::AppendTo(std::string* out, std::string_view name, std::string_view labels) const {
  const auto to = std::back_inserter(*out);
  const std::string_view comma = labels.empty() ? "" : ",";
  uint64_t count = 0;
  for (size_t bucket = 0; bucket < counts_.size(); ++bucket) {
    count += counts_[bucket];
    const std::string bound =
        bucket < bounds_.size() ? fmt::format("{}", bounds_[bucket]) : std::string("+Inf");
    fmt::format_to(to, "{}_bucket{{{}{}le=\"{}\"}} {}\n", name, labels, comma, bound, count);
  }
  const std::string braces = labels.empty() ? "" : fmt::format("{{{}}}", labels);
  fmt::format_to(to, "{}_sum{} {}\n{}_count{} {}\n", name, braces, sum_, name, braces, count);
}

Metrics::Metrics()
    : batch_texts_(kTexts),
      batch_tokens_(kTokens),
      started_(std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
                   .count()) {}

void Metrics::CountRequest(std::string_view route, int status, double seconds) {
  const std::lock_guard lock(mutex_);
  ++requests_[{std::string(route), status}];
  seconds_.try_emplace(std::string(route), kSeconds).first->second.Add(seconds);
}

void Metrics::CountBatch(size_t texts, size_t tokens, double seconds) {
  const std::lock_guard lock(mutex_);
  batch_texts_.Add(static_cast<double>(texts));
  batch_tokens_.Add(static_cast<double>(tokens));
  encode_seconds_ += seconds;
  encoded_texts_ += texts;
  encoded_tokens_ += tokens;
}

void Metrics::CountTexts(size_t texts, size_t tokens, size_t truncated) {
  const std::lock_guard lock(mutex_);
  texts_ += texts;
  tokens_ += tokens;
  truncated_ += truncated;
}

void Metrics::CountReload(bool good) {
  const std::lock_guard lock(mutex_);
  ++(good ? reloads_ : failed_reloads_);
}

std::string Metrics::Text(const Gauges& gauges) const {
  const std::lock_guard lock(mutex_);
  std::string out;
  const auto to = std::back_inserter(out);
  AppendHelp(&out, "tandem_requests_total", "counter", "Requests that were answered.");
  for (const auto& [key, count] : requests_) {
    fmt::format_to(to, "tandem_requests_total{{route=\"{}\",code=\"{}\"}} {}\n", key.first,
                   key.second, count);
  }
  AppendHelp(&out, "tandem_request_seconds", "histogram",
             "From the end of a request's head to its answer.");
  for (const auto& [route, histogram] : seconds_) {
    histogram.AppendTo(&out, "tandem_request_seconds", fmt::format("route=\"{}\"", route));
  }
  AppendHelp(&out, "tandem_batch_texts", "histogram", "Texts that were encoded together.");
  batch_texts_.AppendTo(&out, "tandem_batch_texts", "");
  AppendHelp(&out, "tandem_batch_tokens", "histogram", "Tokens that were encoded together.");
  batch_tokens_.AppendTo(&out, "tandem_batch_tokens", "");
  AppendOne(&out, "tandem_encoded_tokens_total", "counter",
            "Tokens that were encoded; its rate is tokens a second.", encoded_tokens_);
  AppendOne(&out, "tandem_encoded_texts_total", "counter", "Texts that were encoded.",
            encoded_texts_);
  AppendOne(&out, "tandem_encode_seconds_total", "counter", "Time spent encoding.",
            encode_seconds_);
  AppendOne(&out, "tandem_request_texts_total", "counter", "Texts of requests.", texts_);
  AppendOne(&out, "tandem_request_tokens_total", "counter", "Tokens of requests.", tokens_);
  AppendOne(&out, "tandem_truncated_texts_total", "counter",
            "Texts of requests that were cut at the model's length.", truncated_);
  AppendOne(&out, "tandem_queue_texts", "gauge", "Texts that wait.", gauges.queued_texts);
  AppendOne(&out, "tandem_queue_tokens", "gauge", "Tokens that wait.", gauges.queued_tokens);
  AppendOne(&out, "tandem_queue_clients", "gauge", "Clients whose texts wait.",
            gauges.queued_clients);
  AppendOne(&out, "tandem_connections", "gauge", "Open connections.", gauges.connections);
  AppendOne(&out, "tandem_connections_total", "counter", "Connections that were accepted.",
            accepted_.load());
  AppendOne(&out, "tandem_connections_evicted_total", "counter",
            "Waiting connections that were closed to make room for new ones.", evicted_.load());
  AppendOne(&out, "tandem_clients_gone_total", "counter",
            "Requests whose client went away before the answer.", gone_.load());
  AppendOne(&out, "tandem_held_bytes", "gauge", "Bytes of bodies and responses in memory.",
            gauges.held_bytes);
  AppendOne(&out, "tandem_work_bytes", "gauge",
            "Bytes of embeddings and answers that are being made.", gauges.work_bytes);
  AppendHelp(&out, "tandem_reloads_total", "counter", "Models and indexes taken in on SIGHUP.");
  fmt::format_to(to, "tandem_reloads_total{{result=\"done\"}} {}\n", reloads_);
  fmt::format_to(to, "tandem_reloads_total{{result=\"failed\"}} {}\n", failed_reloads_);
  if (gauges.watch) AppendWatch(&out, *gauges.watch);
  AppendOne(&out, "tandem_draining", "gauge", "1 once the server ends.", gauges.draining ? 1 : 0);
  AppendOne(&out, "process_start_time_seconds", "gauge", "Start of the server, since 1970.",
            started_);
  AppendOne(&out, "process_resident_memory_bytes", "gauge", "Resident memory.", ResidentBytes());
  AppendOne(&out, "process_cpu_seconds_total", "counter", "Processor time.",
            static_cast<double>(std::clock()) / CLOCKS_PER_SEC);
  return out;
}

}  // namespace tandem::serve
