// Documents or queries.
#pragma once

namespace tandem::data {

// Documents have titles: text = title + " " + text where the title is not empty. A query's title,
// if any, is no part of its text.
enum class TextRole { kDocument, kQuery };

}  // namespace tandem::data
