#include "index/graph/row_graph.h"

#include <algorithm>
#include <utility>

namespace tandem::index {
namespace {

bool Worse(const RowHit& a, const RowHit& b) { return Better(b, a); }

// Fetches the first lines of a row; the processor goes on by itself.
void Prefetch(const RowGraph& graph, uint32_t row) {
  const int8_t* codes = graph.codes.data() + size_t{row} * graph.width;
  __builtin_prefetch(codes);
  __builtin_prefetch(codes + 64);
  __builtin_prefetch(codes + 128);
  __builtin_prefetch(codes + 192);
  __builtin_prefetch(&graph.scales[row]);
}

// The links of a row on an upper layer, counted from 1; none where the file says that it has none.
std::span<const uint32_t> UpperLinks(const RowGraph& graph, uint32_t row, size_t layer) {
  const uint64_t begin = graph.upper_starts[row], end = graph.upper_starts[row + 1];
  if (begin + layer > end || end * graph.links > graph.upper.size()) return {};
  return graph.upper.subspan((begin + layer - 1) * graph.links, graph.links);
}

// Goes from the entry down the upper layers, on each to a row that has no better neighbour.
RowHit Descend(const RowGraph& graph, const Int8Query& query) {
  RowHit best{graph.entry, graph.Score(query, graph.entry)};
  for (size_t layer = graph.upper_layers; layer > 0; --layer) {
    for (bool moved = true; moved;) {
      moved = false;
      for (uint32_t row : UpperLinks(graph, best.row, layer)) {
        if (row >= graph.count()) break;
        const float score = graph.Score(query, row);
        if (score > best.score) {
          best = {row, score};
          moved = true;
        }
      }
    }
  }
  return best;
}

// Collects the links of a row that the walk has not seen.
void FindFresh(const RowGraph& graph, uint32_t row, GraphWalk& walk) {
  walk.fresh.clear();
  for (uint32_t link : graph.lowest.subspan(size_t{row} * 2 * graph.links, 2 * graph.links)) {
    if (link >= graph.count()) break;
    if (!walk.visited.Insert(link)) continue;
    Prefetch(graph, link);
    walk.fresh.push_back(link);
  }
}

}  // namespace

std::vector<RowHit> WalkGraph(const RowGraph& graph, const Int8Query& query, size_t effort,
                              const RowMask* allowed, GraphWalk& walk) {
  if (graph.count() == 0 || effort == 0) return {};
  BestRows best(effort);
  walk.visited.Clear();
  walk.ahead.assign(1, Descend(graph, query));
  walk.visited.Insert(walk.ahead.front().row);
  const auto found = [&](const RowHit& hit) {
    if (!allowed || (*allowed)[hit.row]) best.Offer(hit.row, hit.score);
  };
  found(walk.ahead.front());
  while (!walk.ahead.empty()) {
    const RowHit next = walk.ahead.front();
    if (best.full() && next.score < best.limit()) break;
    std::pop_heap(walk.ahead.begin(), walk.ahead.end(), Worse);
    walk.ahead.pop_back();
    FindFresh(graph, next.row, walk);
    for (uint32_t row : walk.fresh) {
      const RowHit hit{row, graph.Score(query, row)};
      if (best.full() && hit.score <= best.limit()) continue;
      found(hit);
      walk.ahead.push_back(hit);
      std::push_heap(walk.ahead.begin(), walk.ahead.end(), Worse);
    }
  }
  return best.Take();
}

}  // namespace tandem::index
