#include "verify/schedule.h"

#include <gmock/gmock.h>

#include "hlo/parser.h"

namespace hv {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> Notes(const std::string& before, const std::string& after) {
  const std::string head =
      "HloModule m, num_partitions=4\n\nsum {\n  a = f32[] parameter(0)\n  b = f32[] "
      "parameter(1)\n  ROOT r = f32[] add(a, b)\n}\n\nENTRY main {\n  x = f32[4] parameter(0)\n  "
      "y = f32[4] parameter(1)\n";
  auto a = ParseModule("before", head + before + "}\n");
  auto b = ParseModule("after", head + after + "}\n");
  EXPECT_TRUE(a.has_value()) << FormatError(a.error());
  EXPECT_TRUE(b.has_value()) << FormatError(b.error());
  return NotesOnSchedule(Pair{std::move(*a), std::move(*b), {1, 4}});
}

std::string Reduce(const std::string& name, const std::string& op, const std::string& operand,
                   const std::string& groups, const std::string& more = "") {
  return "  " + name + " = f32[4] " + op + "(" + operand +
         "), channel_id=" + std::to_string(name.size()) + ", replica_groups=" + groups +
         ", use_global_device_ids=true, to_apply=sum" + more + "\n";
}

const std::string kAll = "{{0,1,2,3}}", kHalves = "{{0,1},{2,3}}";
const std::string kRoot = "  ROOT t = (f32[4], f32[4]) tuple(a, bb)\n";

TEST(Schedule, ADroppedControlDependencyIsNoted) {
  const std::string first = Reduce("a", "all-reduce", "x", kAll);
  const std::string ordered =
      first + Reduce("bb", "all-reduce", "y", kHalves, ", control-predecessors={a}") + kRoot;
  const std::string free = first + Reduce("bb", "all-reduce", "y", kHalves) + kRoot;
  EXPECT_THAT(Notes(ordered, free), ElementsAre(HasSubstr("put a before bb")));
  EXPECT_THAT(Notes(ordered, ordered), IsEmpty());
  EXPECT_THAT(Notes(free, ordered), IsEmpty());
  // A path through other instructions is as good.
  const std::string around =
      first + "  c = f32[4] negate(a)\n" +
      Reduce("bb", "all-reduce", "y", kHalves, ", control-predecessors={c}") + kRoot;
  EXPECT_THAT(Notes(ordered, around), IsEmpty());
  // So is data; and what only data put in order is the rewrite's own affair.
  const std::string chained = first + Reduce("bb", "all-reduce", "a", kHalves) + kRoot;
  EXPECT_THAT(Notes(ordered, chained), IsEmpty());
  EXPECT_THAT(Notes(chained, free), IsEmpty());
}

TEST(Schedule, OverlappingGroupsInFlightAtOnceAreNoted) {
  const auto module = [](const std::string& groups, const std::string& order) {
    return Reduce("as", "all-reduce-start", "x", kAll) + "  a = f32[4] all-reduce-done(as)\n" +
           Reduce("bbs", "all-reduce-start", "y", groups, order) +
           "  bb = f32[4] all-reduce-done(bbs)\n" + kRoot;
  };
  const std::string after_a = ", control-predecessors={a}";
  const auto notes = Notes(module(kHalves, after_a), module(kHalves, ""));
  EXPECT_THAT(notes, ElementsAre(HasSubstr("control dependency put as before bbs"),
                                 HasSubstr("as and bbs may be in flight at once")));
  EXPECT_THAT(Notes(module(kHalves, ""), module(kHalves, "")), IsEmpty());
  EXPECT_THAT(Notes(module(kAll, ""), module(kAll, "")), IsEmpty());
  // Ordered by its start alone, the second may begin before the first is complete.
  EXPECT_THAT(Notes(module(kHalves, after_a), module(kHalves, ", control-predecessors={as}")),
              ElementsAre(HasSubstr("in flight at once")));
}

}  // namespace
}  // namespace hv
