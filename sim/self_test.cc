#include "sim/self_test.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "base/check.h"
#include "base/philox.h"
#include "hlo/parser.h"
#include "hlo/validator.h"
#include "sim/run.h"

namespace hv {
namespace {

using Codes = std::vector<uint32_t>;

uint32_t CodeOf(int64_t device, int64_t parameter, int64_t element) {
  return Philox4x32({static_cast<uint32_t>(parameter), 0},
                    {static_cast<uint32_t>(element), static_cast<uint32_t>(device), 0, 0})[0];
}

// One mesh with its groups, and arrays of `elements` u32, a multiple of the group size.
struct Stage {
  int64_t devices = 0;
  int64_t elements = 0;
  std::vector<std::vector<int64_t>> groups;
  const char* named = "";

  int64_t size() const { return static_cast<int64_t>(groups[0].size()); }
  int64_t shard() const { return elements / size(); }
  const std::vector<int64_t>& GroupOf(int64_t device) const {
    return *std::find_if(groups.begin(), groups.end(), [&](const std::vector<int64_t>& group) {
      return std::find(group.begin(), group.end(), device) != group.end();
    });
  }
  int64_t PositionOf(int64_t device) const {
    const std::vector<int64_t>& group = GroupOf(device);
    return std::find(group.begin(), group.end(), device) - group.begin();
  }
  int64_t Successor(int64_t device) const { return (device + 1) % devices; }
  // Elements that position `from` sends to position `to` of a ragged exchange.
  int64_t RaggedSize(int64_t from, int64_t to) const { return 1 + (7 * from + to) % shard(); }
};

template <class Element>
Codes Make(int64_t count, Element element) {
  Codes codes(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) codes[static_cast<size_t>(i)] = element(i);
  return codes;
}

uint32_t Sum(const Stage& s, int64_t device, int64_t element) {
  uint32_t sum = 0;
  for (int64_t member : s.GroupOf(device)) sum += CodeOf(member, 0, element);
  return sum;
}

uint32_t Largest(const Stage& s, int64_t device, int64_t element) {
  uint32_t largest = 0;
  for (int64_t member : s.GroupOf(device)) largest = std::max(largest, CodeOf(member, 0, element));
  return largest;
}

// Groups of partitions, which are the devices here.
std::string GroupsText(const Stage& s) {
  std::string text;
  for (const std::vector<int64_t>& group : s.groups) {
    text += fmt::format("{}{{{}}}", text.empty() ? "" : ",", fmt::join(group, ","));
  }
  return "channel_id=1, replica_groups={" + text + "}";
}

// The same for the ops that would mean replicas without this.
std::string GlobalGroupsText(const Stage& s) {
  return GroupsText(s) + ", use_global_device_ids=true";
}

// Every device to the next one.
std::string RingText(const Stage& s) {
  std::string text;
  for (int64_t d = 0; d < s.devices; ++d) {
    text += fmt::format("{}{{{},{}}}", d > 0 ? "," : "", d, s.Successor(d));
  }
  return "{" + text + "}";
}

std::string MessageText(const Stage& s) {
  const std::string pairs = fmt::format(
      "channel_id=2, frontend_attributes={{_xla_send_recv_source_target_pairs={}}}", RingText(s));
  return fmt::format(
      "t = token[] after-all()\n"
      "rv = (u32[{0}], u32[], token[]) recv(t), {1}\n"
      "sd = (u32[{0}], u32[], token[]) send(x, t), {1}\n"
      "rd = (u32[{0}], token[]) recv-done(rv), channel_id=2\n"
      "st = token[] send-done(sd), channel_id=2\n"
      "ROOT r = u32[{0}] get-tuple-element(rd), index=0\n",
      s.elements, pairs);
}

std::string RaggedText(const Stage& s) {
  return fmt::format(
      "o = u32[{0}] parameter(1)\n from = s32[{1}] parameter(2)\n sent = s32[{1}] parameter(3)\n"
      "to = s32[{1}] parameter(4)\n got = s32[{1}] parameter(5)\n"
      "ROOT r = u32[{0}] ragged-all-to-all(x, o, from, sent, to, got), {2}\n",
      s.elements, s.size(), GroupsText(s));
}

// A kind of collective: what the ENTRY does with x, and what a device must get.
struct Kind {
  const char* name;
  std::string (*text)(const Stage&);
  Codes (*expected)(const Stage&, int64_t device);
};

const Kind kKinds[] = {
    {"all-reduce",
     [](const Stage& s) {
       return fmt::format("ROOT r = u32[{}] all-reduce(x), {}, to_apply=sum\n", s.elements,
                          GlobalGroupsText(s));
     },
     [](const Stage& s, int64_t d) {
       return Make(s.elements, [&](int64_t i) { return Sum(s, d, i); });
     }},
    {"all-reduce-start and -done, maximum",
     [](const Stage& s) {
       return fmt::format(
           "a = u32[{0}] all-reduce-start(x), {1}, to_apply=largest\n"
           "ROOT r = u32[{0}] all-reduce-done(a)\n",
           s.elements, GlobalGroupsText(s));
     },
     [](const Stage& s, int64_t d) {
       return Make(s.elements, [&](int64_t i) { return Largest(s, d, i); });
     }},
    {"reduce-scatter",
     [](const Stage& s) {
       return fmt::format(
           "ROOT r = u32[{}] reduce-scatter(x), {}, dimensions={{0}}, to_apply=sum\n", s.shard(),
           GlobalGroupsText(s));
     },
     [](const Stage& s, int64_t d) {
       const int64_t first = s.PositionOf(d) * s.shard();
       return Make(s.shard(), [&](int64_t i) { return Sum(s, d, first + i); });
     }},
    {"all-gather",
     [](const Stage& s) {
       return fmt::format("ROOT r = u32[{}] all-gather(x), {}, dimensions={{0}}\n",
                          s.elements * s.size(), GlobalGroupsText(s));
     },
     [](const Stage& s, int64_t d) {
       return Make(s.elements * s.size(), [&](int64_t i) {
         const int64_t member = s.GroupOf(d)[static_cast<size_t>(i / s.elements)];
         return CodeOf(member, 0, i % s.elements);
       });
     }},
    {"all-to-all",
     [](const Stage& s) {
       return fmt::format("ROOT r = u32[{}] all-to-all(x), {}, dimensions={{0}}\n", s.elements,
                          GroupsText(s));
     },
     [](const Stage& s, int64_t d) {
       const int64_t first = s.PositionOf(d) * s.shard();
       return Make(s.elements, [&](int64_t i) {
         const int64_t member = s.GroupOf(d)[static_cast<size_t>(i / s.shard())];
         return CodeOf(member, 0, first + i % s.shard());
       });
     }},
    {"ragged-all-to-all", RaggedText,
     [](const Stage& s, int64_t d) {
       return Make(s.elements, [&](int64_t i) {
         const int64_t from = i / s.shard(), to = s.PositionOf(d), within = i % s.shard();
         if (within >= s.RaggedSize(from, to)) return CodeOf(d, 1, i);
         return CodeOf(s.GroupOf(d)[static_cast<size_t>(from)], 0, to * s.shard() + within);
       });
     }},
    {"collective-broadcast",
     [](const Stage& s) {
       return fmt::format("ROOT r = u32[{}] collective-broadcast(x), {}\n", s.elements,
                          GroupsText(s));
     },
     [](const Stage& s, int64_t d) {
       return Make(s.elements, [&](int64_t i) { return CodeOf(s.GroupOf(d)[0], 0, i); });
     }},
    {"collective-permute",
     [](const Stage& s) {
       return fmt::format(
           "ROOT r = u32[{}] collective-permute(x), channel_id=1, source_target_pairs={}\n",
           s.elements, RingText(s));
     },
     [](const Stage& s, int64_t d) {
       const int64_t source = (d + s.devices - 1) % s.devices;
       return Make(s.elements, [&](int64_t i) { return CodeOf(source, 0, i); });
     }},
    {"send and recv", MessageText,
     [](const Stage& s, int64_t d) {
       const int64_t source = (d + s.devices - 1) % s.devices;
       return Make(s.elements, [&](int64_t i) { return CodeOf(source, 0, i); });
     }},
};

// Parameters 2 to 5 are the offsets and sizes of a ragged exchange, one per position.
Result<Value> InputOf(const Stage& s, const Shape* shape, int64_t device, int64_t parameter) {
  Value value = Value::NewNative(shape);
  const std::span<uint32_t> out = value.MutableAs<uint32_t>();
  const int64_t own = s.PositionOf(device);
  for (size_t i = 0; i < out.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const int64_t sizes_and_offsets[] = {at * s.shard(), s.RaggedSize(own, at), own * s.shard(),
                                         s.RaggedSize(at, own)};
    out[i] = parameter < 2 ? CodeOf(device, parameter, at)
                           : static_cast<uint32_t>(sizes_and_offsets[parameter - 2]);
  }
  return value;
}

class SelfTester {
 public:
  explicit SelfTester(Transport* transport) : transport_(transport) {}

  SelfTestResult Run() {
    TestAgreement();
    TestMessages();
    const int64_t ranks = transport_->size();
    const int64_t devices = std::max<int64_t>(4, 2 * ranks);
    for (int64_t least : {int64_t{1}, int64_t{3000}, int64_t{70000}}) {
      const int64_t elements = (least + devices - 1) / devices * devices;
      Stage all{devices, elements, {{}}, "one group in reverse order"};
      Stage pairs{devices, elements, {}, "pairs of distant devices"};
      for (int64_t d = devices - 1; d >= 0; --d) all.groups[0].push_back(d);
      for (int64_t d = 0; d < devices / 2; ++d) pairs.groups.push_back({d, d + devices / 2});
      TestCollectives(all);
      TestCollectives(pairs);
    }
    return std::move(result_);
  }

 private:
  // What any rank has found; the lowest rank's stands.
  void Conclude(const std::string& mine) {
    ++result_.checks;
    for (const std::string& found : transport_->AllGather(mine)) {
      if (result_.difference.empty()) result_.difference = found;
    }
  }

  void TestAgreement() {
    const auto text = [](int64_t rank) {
      return std::string(static_cast<size_t>(rank % 7 * 1000), static_cast<char>('a' + rank % 26));
    };
    const std::vector<std::string> all = transport_->AllGather(text(transport_->rank().value));
    std::string difference;
    for (size_t r = 0; r < all.size(); ++r) {
      if (all[r] == text(static_cast<int64_t>(r))) continue;
      difference = fmt::format("agreement: the message of rank {} arrives changed", r);
    }
    const bool is_last = transport_->rank().value == transport_->size() - 1;
    if (!transport_->AllEqual(17)) difference = "agreement: equal hashes are taken for different";
    if (transport_->AllEqual(is_last ? 18 : 17) != (transport_->size() == 1)) {
      difference = "agreement: different hashes are taken for equal";
    }
    Conclude(difference);
  }

  // From every rank to every other, sizes from one byte to more than any eager limit.
  void TestMessages() {
    const int64_t sizes[] = {1, 5000, 300000};
    const auto byte = [](int64_t from, int64_t to, int64_t tag, size_t i) {
      return static_cast<std::byte>(CodeOf(from, to * 3 + tag, static_cast<int64_t>(i) / 97));
    };
    std::vector<std::vector<std::byte>> sent, received;
    std::vector<OutgoingMessage> sends;
    std::vector<IncomingMessage> receives;
    const int64_t own = transport_->rank().value;
    for (int64_t other = 0; other < transport_->size(); ++other) {
      for (int64_t tag = 0; other != own && tag < 3; ++tag) {
        const auto size = static_cast<size_t>(sizes[tag]);
        std::vector<std::byte>& out = sent.emplace_back(size);
        for (size_t i = 0; i < size; ++i) out[i] = byte(own, other, tag, i);
        sends.push_back({Rank(other), tag, out});
        receives.push_back({Rank(other), tag, received.emplace_back(size)});
      }
    }
    transport_->Exchange(sends, receives);
    std::string difference;
    for (const IncomingMessage& m : receives) {
      for (size_t i = 0; i < m.bytes.size() && difference.empty(); ++i) {
        if (m.bytes[i] == byte(m.from.value, own, m.tag, i)) continue;
        difference = fmt::format("messages: byte {} of {} from rank {} to rank {} arrives changed",
                                 i, m.bytes.size(), m.from.value, own);
      }
    }
    Conclude(difference);
  }

  void TestCollectives(const Stage& stage) {
    const bool has_own = transport_->CanReduce(ElementType::kU32, ScalarFn::kAdd);
    for (const Kind& kind : kKinds) {
      Conclude(Try(stage, kind, ReductionOrder::kGroup));
      if (has_own && kind.expected == kKinds[0].expected) {
        Conclude(Try(stage, kind, ReductionOrder::kMpi));
      }
    }
  }

  // Where the local devices differ from what they must get; empty if nowhere.
  std::string Try(const Stage& stage, const Kind& kind, ReductionOrder order) {
    const std::string what =
        fmt::format("{} of u32[{}] in {}{}", kind.name, stage.elements, stage.named,
                    order == ReductionOrder::kMpi ? ", reduced by the MPI library" : "");
    const CheckContext context("testing " + what);
    const Result<Module> module = ParseModule(
        "<self-test>",
        fmt::format(
            "HloModule self_test, num_partitions={}\n"
            "sum {{ a = u32[] parameter(0) b = u32[] parameter(1) ROOT c = u32[] add(a, b) }}\n"
            "largest {{ a = u32[] parameter(0) b = u32[] parameter(1) "
            "ROOT c = u32[] maximum(a, b) }}\n"
            "ENTRY main {{\nx = u32[{}] parameter(0)\n{}}}\n",
            stage.devices, stage.elements, kind.text(stage)));
    HV_CHECK(module && Validate(*module, {1, stage.devices}), "the module of a self-test is wrong");
    const std::unique_ptr<Domain> domain = MakeNativeDomain();
    RunOptions options;
    options.domain = domain.get();
    options.transport = transport_;
    options.order = order;
    const auto input = [&](DeviceId device, int64_t parameter) {
      const Computation& entry = module->Entry();
      const Shape* shape = entry.At(entry.parameters[static_cast<size_t>(parameter)]).shape;
      return InputOf(stage, shape, device.value, parameter);
    };
    const auto outcome = RunModule(*module, Mesh{1, stage.devices}, input, options);
    if (!outcome) return what + ": " + outcome.error().Message();
    if (outcome->stall) return what + ": " + outcome->stall->ToString();
    for (const auto& [device, value] : outcome->outputs) {
      const Codes expected = kind.expected(stage, device.value);
      const std::span<const uint32_t> got = value.As<uint32_t>();
      for (size_t i = 0; i < expected.size(); ++i) {
        if (got[i] == expected[i]) continue;
        return fmt::format("{}: element {} of device {} is {}, not {}", what, i, device.value,
                           got[i], expected[i]);
      }
    }
    return "";
  }

  Transport* transport_;
  SelfTestResult result_;
};

}  // namespace

SelfTestResult SelfTest(Transport* transport) { return SelfTester(transport).Run(); }

}  // namespace hv
