// The modules of failures on smaller meshes as files.
#pragma once

#include <string>

#include "verify/report_model.h"

namespace hv {

// FOLDER/<case>.before.hlo and FOLDER/<case>.after.hlo of every case that has a smaller failure;
// the folder is made if it is not there.
Status WriteSmallerModules(const Report& report, const std::string& folder);

}  // namespace hv
