// The machine a cost is estimated for: what a message and a byte cost between neighbours, inside a node
// and between nodes. Described by machines/*.json, which are built in by name, or by a user's file.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace hv {

struct Link {
  double seconds_per_message = 0;
  double bytes_per_second = 0;  // one way, per device
};

struct Machine {
  std::string name;
  std::string description;
  int64_t devices_per_node = 0;  // consecutive devices; 0: all on one node
  Link inside, between;
  double reduce_bytes_per_second = 0;

  // The link that limits a group whose smallest and largest device are these.
  const Link& LinkOf(int64_t smallest, int64_t largest) const {
    const bool one_node = devices_per_node == 0 ||
                          smallest / devices_per_node == largest / devices_per_node;
    return one_node ? inside : between;
  }
};

// A built-in machine by name, or the file if `name` has a slash or ends in .json. Errors:
// "unknown-machine", and what is wrong with a file.
Result<Machine> LoadMachine(const std::string& name);

}  // namespace hv
