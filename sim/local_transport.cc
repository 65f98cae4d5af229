// One process: one rank that talks to itself, so nothing ever travels.
#include "base/check.h"
#include "sim/transport.h"

namespace hv {
namespace {

class LocalTransport : public Transport {
 public:
  Rank rank() const override { return Rank(0); }
  int64_t size() const override { return 1; }
  std::vector<std::string> AllGather(const std::string& mine) override { return {mine}; }
  bool AllEqual(uint64_t) override { return true; }
  std::unique_ptr<Flight> Start(std::span<const OutgoingMessage>,
                                std::span<const IncomingMessage>) override {
    HV_CHECK(false, "a message to another rank, but there is one rank");
  }
  void Barrier() override {}
};

}  // namespace

void Transport::Reduce(std::span<std::byte>, ElementType, ScalarFn, const std::vector<Rank>&) {
  HV_CHECK(false, "this transport has no reduction of its own");
}

std::unique_ptr<Transport> MakeLocalTransport() { return std::make_unique<LocalTransport>(); }

std::vector<std::string> GatherOnFirst(Transport* transport, const std::string& mine) {
  const std::vector<std::string> sizes = transport->AllGather(std::to_string(mine.size()));
  if (transport->rank() != Rank(0)) {
    if (mine.empty()) return transport->Exchange({}, {}), std::vector<std::string>{};
    const OutgoingMessage message{Rank(0), 0, std::as_bytes(std::span(mine))};
    transport->Exchange({&message, 1}, {});
    return {};
  }
  std::vector<std::string> all(sizes.size());
  std::vector<IncomingMessage> messages;
  all[0] = mine;
  for (size_t r = 1; r < all.size(); ++r) {
    all[r].resize(std::stoull(sizes[r]));
    if (all[r].empty()) continue;
    messages.push_back({Rank(static_cast<int64_t>(r)), 0,
                        std::as_writable_bytes(std::span(all[r].data(), all[r].size()))});
  }
  transport->Exchange({}, messages);
  return all;
}

}  // namespace hv
