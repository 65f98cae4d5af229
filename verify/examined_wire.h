// Examined cases as bytes, so that ranks can share them.
#pragma once

#include <string>
#include <vector>

#include "verify/examine.h"

namespace hv {

std::string ToWire(std::vector<Examined>& cases);
std::vector<Examined> FromWire(const std::string& bytes);

}  // namespace hv
