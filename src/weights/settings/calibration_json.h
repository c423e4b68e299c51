// A calibration as keys of tandem.json. Internal to the room.
#pragma once

#include <optional>

#include "base/json/json.h"
#include "weights/settings/calibration.h"

namespace tandem::weights {

class Settings;  // weights/settings/settings_file.h

// The keys "probability", "objective" and "learned" of tandem.json; none where "probability" is
// absent. Files that older versions wrote have no "method", which then is objective. Throws
// ModelError.
std::optional<Calibration> ReadCalibration(const Settings& tandem_file);

// Sets these keys in `file`, an object, or removes them where there is no calibration.
void PutCalibration(const std::optional<Calibration>& calibration, Json* file);

}  // namespace tandem::weights
