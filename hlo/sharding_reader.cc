// Checks the form of shardings, tile and named ones; they are kept as text, for round trips.
// Source: hlo_text.md section 10.
#include <fmt/format.h>

#include "hlo/device_list_reader.h"

namespace hv {
namespace {

bool ReadWordList(Reader* in) {
  return in->Expect('{', "before tile dimension kinds") &&
         in->ListUntil('}', "after tile dimension kinds", [in] {
           return !in->Identifier().empty() || in->FailExpected("manual, replicated or unreduced");
         });
}

// devices=[2,1]0,1 or devices=[2,4]<=[8]
bool ReadTileDevices(Reader* in) {
  const uint32_t where = in->TokenOffset();
  const char* const start = in->position();
  if (!in->Expect('[', "after devices=")) return false;
  int64_t product = 1;
  const bool read = in->ListUntil(']', "after tile sizes", [&] {
    int64_t size;
    if (!in->Int(&size)) return false;
    if (size < 1 || size > kMaxDeviceIds / product) {
      return in->Fail(where, "device-count", "tile sizes must be positive and below 2^24");
    }
    product *= size;
    return true;
  });
  if (!read) return false;
  if (product == 1) return in->Fail(where, "sharding", "a tiling needs more than one device");
  if (in->Consume("<=")) {
    in->set_position(start);
    IotaTile tile;
    return ReadIota(in, &tile);
  }
  int64_t listed = 0, id;
  do {
    if (!in->Count(&id)) return false;
    ++listed;
  } while (in->Consume(','));
  return listed == product ||
         in->Fail(where, "device-count", fmt::format("{} tiles, {} devices", product, listed));
}

// One word of a tile sharding: the kind, its devices, groups, metadata.
bool ReadTileWord(Reader* in) {
  const uint32_t where = in->TokenOffset();
  if (const std::string_view key = in->AttributeName(); !key.empty()) {
    int64_t device;
    std::string_view ignored;
    if (key == "devices") return ReadTileDevices(in);
    if (key == "device") return in->Count(&device);
    if (key == "last_tile_dims") return ReadWordList(in);
    if (key == "metadata") return in->Braces(&ignored);
    return in->Fail(where, "sharding", fmt::format("unknown part '{}' of a sharding", key));
  }
  for (std::string_view word :
       {"replicated", "manual", "unknown", "unreduced", "maximal", "last_tile_dim_replicate"}) {
    if (in->ConsumeWord(word)) return true;
  }
  if (in->ConsumeWord("shard_as") || in->ConsumeWord("shard_like")) {
    int64_t group;
    return in->Int(&group);
  }
  return in->Fail(where, "sharding", "expected a kind of sharding");
}

// {'x','y':(1)2,?}
bool ReadAxes(Reader* in, const DeviceList& mesh) {
  return in->Expect('{', "before axes") && in->ListUntil('}', "after axes", [in, &mesh] {
    AxisRef ref;
    return in->Consume('?') || ReadAxisRef(in, mesh, &ref);
  });
}

bool ReadNamedPart(Reader* in, const DeviceList& mesh) {
  const uint32_t where = in->TokenOffset();
  if (in->Consume('[')) {
    return in->ListUntil(']', "after dimension shardings", [&] { return ReadAxes(in, mesh); });
  }
  if (const std::string_view key = in->AttributeName(); !key.empty()) {
    std::string_view ignored;
    if (key == "metadata") return in->Braces(&ignored);
    if (key == "unreduced" && in->Peek() != '{') return !in->Identifier().empty();
    if (key == "replicated" || key == "unreduced" || key == "manual") return ReadAxes(in, mesh);
    return in->Fail(where, "sharding", fmt::format("unknown part '{}' of a sharding", key));
  }
  for (std::string_view word : {"replicated", "manual", "unknown", "unreduced"}) {
    if (in->ConsumeWord(word)) return true;
  }
  return in->Fail(where, "sharding", "expected a part of a named sharding");
}

bool ReadNamed(Reader* in) {
  DeviceList mesh;
  if (!ReadMesh(in, &mesh)) return false;
  while (in->Consume(',')) {
    if (!ReadNamedPart(in, mesh)) return false;
  }
  while (in->PeekIdentifier() == "metadata") {
    if (!ReadTileWord(in)) return false;
  }
  return in->Expect('}', "after a sharding");
}

bool ReadBraced(Reader* in) {
  Reader::Nest nest(in);
  if (!nest || !in->Expect('{', "before a sharding")) return false;
  if (in->Consume('}')) return true;
  if (in->Peek() == '{') {
    return in->ListUntil('}', "after the shardings of a tuple", [in] { return ReadBraced(in); });
  }
  const std::string_view word = in->PeekIdentifier();
  if (word == "mesh" || word == "maximal_mesh") return ReadNamed(in);
  do {
    if (!ReadTileWord(in)) return false;
  } while (!in->Consume('}'));
  return true;
}

}  // namespace

bool ReadSharding(Reader* in, std::string_view* text) {
  in->SkipBlanks();
  const char* const first = in->position();
  if (!ReadBraced(in)) return false;
  *text = in->TextSince(first);
  return true;
}

}  // namespace hv
