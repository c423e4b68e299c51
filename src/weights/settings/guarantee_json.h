// Guarantees as a key of tandem.json. Internal to the room.
#pragma once

#include <optional>

#include "base/json/json.h"
#include "weights/settings/guarantee.h"

namespace tandem::weights {

class Settings;  // weights/settings/settings_file.h

// The key "guarantees" of tandem.json; none where it is absent. Throws ModelError.
std::optional<Guarantees> GuaranteesIn(const Settings& tandem_file);

// Sets the key in `file`, an object, or removes it where there is none.
void PutGuarantees(const std::optional<Guarantees>& guarantees, Json* file);

}  // namespace tandem::weights
