// "did you mean": the nearest known name to an unknown one.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace tandem {

// Says how many letters are inserted, deleted, replaced or swapped with their neighbour between two
// names; upper and lower case of ASCII letters are the same.
size_t EditDistance(std::string_view a, std::string_view b);

// The candidate with the smallest edit distance (insert, delete, replace, swap of neighbours; upper
// and lower case of ASCII letters are the same) to `name`, if that distance is at most a third of
// the longer length plus one; else empty. Ties go to the earlier candidate.
std::string_view NearestName(std::string_view name, std::span<const std::string_view> candidates);

// "; did you mean X?" or "" for use at the end of a message.
std::string DidYouMean(std::string_view name, std::span<const std::string_view> candidates);

}  // namespace tandem
