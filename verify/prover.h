// Proves that two modules give the same outputs for all inputs at one topology, by comparing the
// normal forms of their outputs. What PROVED means, and what is trusted, stands in docs/proof.md.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/strong_id.h"
#include "hlo/module.h"
#include "sim/mesh.h"
#include "sim/run.h"

namespace hv {

enum class ProofLevel : uint8_t { kBitwise, kReassociation, kReal };
std::string_view ToString(ProofLevel level);  // "bitwise", "reassociation", "real"

enum class ProofOutcome : uint8_t {
  kProved,
  kInconsistent,  // proved at a level below bitwise, but replicas that agreed may drift apart
  kNotProved,     // normal forms differ: says nothing about the modules
  kUnsupported,   // a module cannot be run on terms
  kStalled,       // a module cannot finish
};

struct ProofOptions {
  size_t most_pieces = 100000;      // of one tensor
  int64_t most_loop_steps = 2000;   // iterations per device
  int64_t most_terms = 5000000;     // made at one level
  // The device whose ENTRY argument stands for that of `device` (inputs known to be replicated).
  // Null: all arguments are independent. Whoever sets it states the assumption.
  std::function<DeviceId(DeviceId device, int64_t parameter)> representative;
  bool explain = false;  // fill ProofResult::explanation
  // From so many devices on they are first run all at once (verify/lockstep).
  int64_t lockstep_from = 64;
  // Instructions x devices: larger pairs are not run as a whole, only where they differ.
  int64_t most_work = 2000000;
};

// Where two large modules differ and why they could not be told equal: values of both, as a pair of
// modules whose parameters are the values that they are made of and that are known to be equal.
struct Suspect {
  Module before, after;
  std::string before_name, after_name;  // the instructions that ought to be equal
  std::string reason;
};

// The first place where the normal forms differ, under the weakest level tried.
struct ProofDifference {
  DeviceId device;
  int64_t output = 0;         // leaf of the result
  int64_t first_element = 0;  // row-major
  int64_t elements = 1;
  std::string before, after;  // terms in words
  std::string summands;       // "misses ...; has in excess ...", if both are sums; else empty
};

struct ProofResult {
  ProofOutcome outcome = ProofOutcome::kNotProved;
  ProofLevel level = ProofLevel::kBitwise;  // kProved, kInconsistent
  std::string sub_class;                    // "nested sums", "constant rounded", or empty
  std::string precision;  // level real: "wider", "narrower", "mixed" or empty, and where
  std::string reason;     // everything but kProved: in words
  std::optional<ProofDifference> difference;
  std::optional<Stall> stall;
  int64_t terms = 0;           // made on the way
  std::string explanation;     // the normal forms at the outputs
  bool by_induction = false;   // over a loop; whether replicas stay equal is not known then
  bool assumes_end = false;    // loops turn equally often, but it is not known that they end
  std::string method = "symbolic terms", detail = "normal forms agree";  // kProved: how
  std::optional<Suspect> suspect;  // kNotProved: of modules too large to be run as a whole
  bool before_failed = false;  // kUnsupported, kStalled: is it before that cannot run?
};

// Does every loop of a module certainly end, because it counts?
bool LoopsEnd(const Module& module);

// Both modules have the same ENTRY shapes; `mesh` fits both.
ProofResult ProvePair(const Module& before, const Module& after, const Mesh& mesh,
                      const ProofOptions& options);

}  // namespace hv
