// Standard input, for whoever is asked to read "-": it comes once, but may be wanted twice, and
// under a launcher it reaches the first rank only.
#pragma once

#include <string>

namespace hv {

// All of it; read at the first call.
const std::string& StandardInput();

// What StandardInput gives here from now on.
void ProvideStandardInput(std::string text);

}  // namespace hv
