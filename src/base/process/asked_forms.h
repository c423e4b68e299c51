// Says which implementations of operations a person asks for, to compare whole runs of them.
#pragma once

namespace tandem {

// kPortable: what a GPU runs, on the CPU too: operations of encoders, objectives and optimizers.
enum class AskedForms { kFused, kReference, kPortable };

// The environment variable TANDEM_FORMS: fused, reference or portable; without it kFused. Throws
// UsageError for anything else.
AskedForms FormsOfEnvironment();

}  // namespace tandem
