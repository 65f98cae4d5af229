#include "sim/mpi_session.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "sim/launch_settings.h"
#include "sim/mpi_transport.h"

namespace hv {
namespace {

class LocalSession : public Session {
 public:
  Transport& transport() override { return *transport_; }

 private:
  std::unique_ptr<Transport> transport_ = MakeLocalTransport();
};

}  // namespace

int64_t LaunchedRanks() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_SIZE", "MPI_LOCALNRANKS"}) {
    const char* text = std::getenv(name);
    if (text == nullptr) continue;
    const std::string_view view(text);
    int64_t ranks = 0;
    const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), ranks);
    if (error == std::errc() && end == view.data() + view.size() && ranks > 0) return ranks;
  }
  // srun and other PMIx launchers name the rank but not always the size.
  return std::getenv("PMIX_RANK") != nullptr || std::getenv("PMI_RANK") != nullptr ? 1 : 0;
}

bool IsFirstLaunched() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}) {
    if (const char* rank = std::getenv(name)) return std::string_view(rank) == "0";
  }
  return true;
}

Result<std::unique_ptr<Session>> StartSession() {
  const int64_t launched = LaunchedRanks();
  if (launched > 0) return StartMpiSession(launched);
  HV_RETURN_IF_ERROR(ReadLaunchSettings());
  return std::unique_ptr<Session>(std::make_unique<LocalSession>());
}

}  // namespace hv
