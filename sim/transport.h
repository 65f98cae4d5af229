// How ranks talk: agreement (every rank learns every rank's message) and data. The in-process transport
// is one rank talking to itself. Ranks of one node agree, and read each other's data, through the memory
// they share (node_ranks.h); between nodes, and where memory cannot be shared, MPI carries both.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/strong_id.h"
#include "hlo/op.h"

namespace hv {

class NodeRanks;

struct OutgoingMessage {
  Rank to;
  int64_t tag = 0;  // unique per (from, to) within one flight
  std::span<const std::byte> bytes;
};

struct IncomingMessage {
  Rank from;
  int64_t tag = 0;
  std::span<std::byte> bytes;  // where to put it; the size is known to both sides
};

class Transport {
 public:
  virtual ~Transport() = default;
  virtual Rank rank() const = 0;
  virtual int64_t size() const = 0;
  // The ranks whose memory this one sees, itself included; null if there are no others.
  virtual NodeRanks* node() { return nullptr; }
  // Most ranks that share one node's memory.
  virtual int64_t ranks_per_node() const { return size(); }
  // Every rank's `mine`, by rank. Collective over all ranks.
  virtual std::vector<std::string> AllGather(const std::string& mine) = 0;
  // True on every rank iff `hash` is the same on all (the fast path of agreement).
  virtual bool AllEqual(uint64_t hash) = 0;
  // Messages under way. Those between two ranks match in the order in which they were started.
  class Flight {
   public:
    virtual ~Flight() = default;
    virtual void Wait() = 0;  // until all have moved; once
  };
  // Both lists describe the same transfers on both sides; what they refer to stays until it has
  // moved.
  virtual std::unique_ptr<Flight> Start(std::span<const OutgoingMessage> sends,
                                        std::span<const IncomingMessage> receives) = 0;
  // Moves all messages.
  void Exchange(std::span<const OutgoingMessage> sends, std::span<const IncomingMessage> receives) {
    if (!sends.empty() || !receives.empty()) Start(sends, receives)->Wait();
  }
  virtual void Barrier() = 0;
  // A rank that waits for others for more than `seconds` (0: for ever) takes the job down: one of
  // them is stopped, or hangs.
  virtual void LimitWaits(double /*seconds*/) {}

  // The library's own all-reduce of `bytes` in place, over `ranks` (ascending; this one is among them;
  // all of them call it). Only where CanReduce, the same on all ranks, says so.
  virtual bool CanReduce(ElementType, ScalarFn) const { return false; }
  virtual void Reduce(std::span<std::byte> bytes, ElementType type, ScalarFn fn,
                      const std::vector<Rank>& ranks);
};

std::unique_ptr<Transport> MakeLocalTransport();

// Everyone's `mine` by rank, on rank 0; empty elsewhere. Collective over all ranks.
std::vector<std::string> GatherOnFirst(Transport* transport, const std::string& mine);

}  // namespace hv
