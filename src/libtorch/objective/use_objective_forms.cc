#include "libtorch/objective/use_objective_forms.h"

namespace tandem::libtorch {

void UseObjectiveForms() { objective::SetDeviceForms(ObjectiveForms()); }

}  // namespace tandem::libtorch
