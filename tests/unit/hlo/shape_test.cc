// Shapes: interning, layouts, spellings that are kept, and those that are refused.
#include "hlo/shape.h"

#include <gtest/gtest.h>

#include "hlo/parser.h"

namespace hv {
namespace {

std::string Reprint(const std::string& shape) {
  auto module = ParseModule("t", "ENTRY e { ROOT c = " + shape + " parameter(0) }");
  return module ? ToString(*module->Entry().Root().shape) : "refused";
}

TEST(ShapeTest, Spellings) {
  for (const char* shape :
       {"f32[]", "pred[2,3]", "f32[2,3]{1,0}", "f32[2,3]{0,1}", "f32[2,3]{1,0:T(8,128)(2,1)S(5)}",
        "s4[2]{0:E(4)}", "f32[]{:S(5)}", "f32[2,2]{1,0:D(D,C)T(*,2)L(4)#(u32)*(u8)E(32)S(1)M(4)}",
        "f32[4]{0:SC(0:2,3)}", "f32[4]{0:P((f32[2]{0:T(2)}, u32[]))}", "f32[<=4,?,3]", "token[]",
        "opaque[]", "()", "(f32[], (s32[2]{0}, ()))", "b(f32[2]{0})", "f8e4m3b11fnuz[0]",
        "(s1[], s1[], s1[], s1[], s1[], /*index=5*/s1[])"}) {
    EXPECT_EQ(Reprint(shape), shape);
  }
  EXPECT_EQ(Reprint("f32 [ 2 , /*c*/ 3 ] { 1 , 0 }"), "f32[2,3]{1,0}");
}

TEST(ShapeTest, Refused) {
  for (const char* shape : {"f32",
                            "f32[2",
                            "f32[2,]",
                            "f32[-1]",
                            "f32[<4]",
                            "tuple[]",
                            "buffer[]",
                            "F32[]",
                            "token[1]",
                            "f32[]{}",
                            "f32[2]{}",
                            "f32[2]{0,0}",
                            "f32[2,2]{1}",
                            "f32[2]{1}",
                            "f32[2]{:S(5)}",
                            "f32[2]{0:S(5)T(8)}",
                            "f32[2]{0:X(1)}",
                            "f32[2]{0:T(}",
                            "token[]{:S(1)}",
                            "(f32[],",
                            "b(f32[]",
                            "f32[9223372036854775808]",
                            "f32[4294967296,4294967296]",
                            "f32[0,4294967296,4294967296]"}) {
    EXPECT_EQ(Reprint(shape), "refused") << shape;
  }
}

TEST(ShapeTest, EqualPointersMeanEqualShapes) {
  ShapeTable table;
  const Shape* matrix = table.Array(ElementType::kF32, {2, 3});
  EXPECT_EQ(matrix, table.Array(ElementType::kF32, {2, 3}));
  EXPECT_NE(matrix, table.Array(ElementType::kF32, {3, 2}));
  EXPECT_EQ(table.WithType(*table.WithType(*matrix, ElementType::kS8), ElementType::kF32), matrix);
  const Shape* pair[] = {matrix, table.Token()};
  EXPECT_EQ(table.Tuple(pair), table.Tuple(pair));
  for (int64_t n = 0; n < 1000; ++n) table.Array(ElementType::kU8, {n});  // grows
  EXPECT_EQ(matrix, table.Array(ElementType::kF32, {2, 3}));
  EXPECT_EQ(table.Tuple(pair)->ByteSize(), 24);
  EXPECT_EQ(matrix->element_count, 6);
}

TEST(ShapeTest, LayoutsInComparisons) {
  ShapeTable table;
  const int64_t dims[] = {2, 3}, row_major[] = {1, 0}, column_major[] = {0, 1};
  Shape shape;
  shape.type = ElementType::kF32;
  shape.dims = dims;
  const Shape* none = table.Intern(shape);
  shape.minor_to_major = row_major;
  const Shape* rows = table.Intern(shape);
  shape.minor_to_major = column_major;
  const Shape* columns = table.Intern(shape);
  EXPECT_TRUE(SameShape(*none, *columns));
  EXPECT_TRUE(SameShapeAndLayout(*none, *rows));
  EXPECT_FALSE(SameShapeAndLayout(*rows, *columns));
  EXPECT_TRUE(HasDefaultLayout(*rows));
  EXPECT_FALSE(HasDefaultLayout(*columns));
  EXPECT_EQ(ToString(*columns, false), "f32[2,3]");
}

TEST(ShapeTest, CountElements) {
  const auto count = [](std::vector<int64_t> dims) { return CountElements(dims); };
  EXPECT_EQ(count({}), 1);
  EXPECT_EQ(count({2, 3, 4}), 24);
  EXPECT_EQ(count({2, 0, 4}), 0);
  EXPECT_EQ(count({-1}), -1);
  EXPECT_EQ(count({int64_t{1} << 46}), int64_t{1} << 46);
  EXPECT_EQ(count({int64_t{1} << 46, 2}), -1);
  EXPECT_EQ(count({0, int64_t{1} << 46, 2}), -1);  // strides would overflow
}

}  // namespace
}  // namespace hv
