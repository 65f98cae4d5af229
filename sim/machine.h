// The machine a cost is estimated for: a tower of networks, what their messages and bytes cost, and how
// fast one device computes. Described by machines/*.json, which are built in by name, or by a user's file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace hv {

enum class Wiring : uint8_t {
  kRing,    // each to the next, both ways, the last to the first
  kLine,    // a ring without the link that closes it
  kSwitch,  // a port each; all pairs at once
  kTree,    // the leaves of a binary tree of links
  kBus,     // one medium for all: the messages of all pairs share it
};

// Does it lead from any device to any other, without passing those between?
constexpr bool HasAnyPort(Wiring wiring) {
  return wiring != Wiring::kRing && wiring != Wiring::kLine;
}

// One digit of a device's place. A torus is several rings, which form one level.
struct Axis {
  int64_t level = 0;  // index into Machine::levels
  Wiring wiring = Wiring::kSwitch;
  int64_t size = 0;  // 0: no end, of the outermost axis alone
};

struct NetworkLevel {
  std::string name;
  double seconds_per_message = 0;     // one hop, sender to receiver
  double seconds_of_sender = 0;       // of these, until the sender may send the next
  double bytes_per_second = 0;        // of a link or port, one way
  bool shared_port = false;           // one port serves all devices of the levels below
  bool in_network_reduction = false;  // the switch adds up and multicasts
  double cache_bytes = 0;  // of a bus that is the whole machine: collectives of no more bytes in all
  double cached_bytes_per_second = 0;  // go at this rate
};

struct Machine {
  std::string name;
  std::string description;
  std::vector<NetworkLevel> levels;      // innermost first
  std::vector<Axis> axes;                // innermost first; device id = mixed radix over them
  double reduce_bytes_per_second = 0;    // operand bytes that a collective folds
  double seconds_per_kernel = 0;         // before an instruction starts to compute
  double flops_per_second = 0;           // 0: computing is free
  double memory_bytes_per_second = 0;    // 0: memory is free

  // Most devices it can have; INT64_MAX if there is no end.
  int64_t capacity() const;
};

// A built-in machine by name, or the file if `name` has a slash or ends in .json. Errors:
// "unknown-machine", and what is wrong with a file.
Result<Machine> LoadMachine(const std::string& name);

// The built-in names, sorted.
std::vector<std::string> BuiltInMachines();

}  // namespace hv
