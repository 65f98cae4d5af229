// Device lists in each spelling: the groups they mean, and that they print as written.
#include "hlo/device_list.h"

#include <gtest/gtest.h>

#include "hlo/parser.h"

namespace hv {
namespace {

struct Case {
  const char* text;
  Groups groups;
};

TEST(DeviceListTest, ExpandsAndPrintsAsWritten) {
  const std::vector<Case> cases = {
      {"{{0,2},{1,3}}", {{0, 2}, {1, 3}}},
      {"{{3},{0,1,2}}", {{3}, {0, 1, 2}}},
      {"{}", {}},
      {"[4,2]<=[8]", {{0, 1}, {2, 3}, {4, 5}, {6, 7}}},
      {"[4,2]<=[2,4]T(1,0)", {{0, 4}, {1, 5}, {2, 6}, {3, 7}}},
      {"[2,4]<=[2,2,2]T(1,2,0)", {{0, 4, 1, 5}, {2, 6, 3, 7}}},
      {"mesh['x'=2,'y'=4] {'y'}", {{0, 1, 2, 3}, {4, 5, 6, 7}}},
      {"mesh['x'=2,'y'=4] {'x'}", {{0, 4}, {1, 5}, {2, 6}, {3, 7}}},
      {"mesh['x'=2,'y'=4] {'y','x'}", {{0, 4, 1, 5, 2, 6, 3, 7}}},
      {"mesh['x'=2,'y'=2] {}", {{0}, {1}, {2}, {3}}},
      {"mesh['y'=8] {'y':(2)2}", {{0, 2}, {1, 3}, {4, 6}, {5, 7}}},
      {"mesh['y'=8] {'y':(4)2,'y':(1)2}", {{0, 4, 1, 5}, {2, 6, 3, 7}}},
      {"mesh['a'=4,'b'=1] {'a'}", {{0, 1, 2, 3}}},
      {"mesh['x'=4], device_ids=(3,2,1,0) {'x'}", {{3, 2, 1, 0}}},
      {"mesh['x'=2,'y'=4], device_ids=([4,2]T(1,0)) {'y'}", {{0, 2, 4, 6}, {1, 3, 5, 7}}},
      {"maximal_mesh[device_id=5] {}", {{5}}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    auto module = ParseModule("t",
                              "ENTRY e { p = f32[4] parameter(0) ROOT r = f32[4] "
                              "all-gather(p), dimensions={0}, replica_groups=" +
                                  std::string(c.text) + " }");
    ASSERT_TRUE(module) << FormatError(module.error());
    const auto* list = module->Entry().Root().Object<DeviceList>(Attr::kReplicaGroups);
    if (c.groups.empty()) {
      EXPECT_EQ(list, nullptr);  // {} is the same as nothing
      continue;
    }
    ASSERT_NE(list, nullptr);
    EXPECT_EQ(Expand(*list), c.groups);
    EXPECT_EQ(GroupCount(*list), static_cast<int64_t>(c.groups.size()));
    int64_t ids = 0;
    for (const auto& group : c.groups) ids += static_cast<int64_t>(group.size());
    EXPECT_EQ(IdCount(*list), ids);
    std::string printed;
    AppendDeviceList(*list, &printed);
    EXPECT_EQ(printed, c.text);
  }
}

TEST(DeviceListTest, AxesByNumber) {
  auto module = ParseModule("t",
                            "ENTRY e { p = f32[4] parameter(0) ROOT r = f32[4] all-gather(p), "
                            "dimensions={0}, replica_groups=mesh['x'=2,'y'=2] {'1'} }");
  ASSERT_TRUE(module);
  EXPECT_EQ(Expand(*module->Entry().Root().Object<DeviceList>(Attr::kReplicaGroups)),
            (Groups{{0, 1}, {2, 3}}));
}

TEST(DeviceListTest, Refused) {
  for (const char* text :
       {"[4,2]<=[4]", "[8]<=[8]", "[4,2]<=[2,4]", "[4,2]<=[2,4]T(0,0)", "[4,2]<=[2,4]T(0)",
        "[0,2]<=[0]", "[4194304,8]<=[33554432]", "{0,1}", "{{0,1}", "mesh['x'=2] {'y'}",
        "mesh['x'=2] {'x','x'}", "mesh['x'=8] {'x':(3)2}", "mesh['x'=8] {'x':(2)8}",
        "mesh['x'=8] {'x':(1)4,'x':(2)2}", "mesh['x'=0] {}", "mesh['x'=2], device_ids=(1) {'x'}",
        "mesh['x'=99999999] {'x'}", "mesh[] {"}) {
    auto module = ParseModule("t",
                              "ENTRY e { p = f32[4] parameter(0) ROOT r = f32[4] "
                              "all-gather(p), dimensions={0}, replica_groups=" +
                                  std::string(text) + " }");
    EXPECT_FALSE(module) << text;
  }
}

}  // namespace
}  // namespace hv
