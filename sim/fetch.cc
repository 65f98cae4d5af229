#include "sim/fetch.h"

#include <algorithm>

#include "base/check.h"
#include "hlo/view.h"

namespace hv {

namespace {

// Is the box one run of the bytes of an array of `dims`?
bool IsOneRun(std::span<const int64_t> dims, const std::vector<int64_t>& sizes) {
  size_t d = 0;
  while (d < sizes.size() && sizes[d] == 1) ++d;
  if (d < sizes.size()) ++d;
  return std::equal(sizes.begin() + static_cast<int64_t>(d), sizes.end(),
                    dims.begin() + static_cast<int64_t>(d));
}

}  // namespace

const Value& Fetcher::Find(const Meeting& meeting, size_t number, const Part& part) const {
  if (!IsHere(meeting, part)) {
    const auto received = received_.find(KeyOf(number, part));
    return received != received_.end() ? received->second : Borrow(meeting, number, part);
  }
  const Meeting::Member& member = meeting.members[static_cast<size_t>(part.member)];
  const auto& posted = LocalDevice(member.device).posted();
  return posted.at({meeting.key, member.role}).operands[static_cast<size_t>(part.operand)];
}

Result<Value> Fetcher::Cut(const Meeting& meeting, size_t number, const Part& part) const {
  return CutBox(Find(meeting, number, part), part);
}

Result<Value> Fetcher::CutBox(const Value& whole, const Part& part) const {
  const auto dims = whole.shape()->dims;
  if (std::equal(part.sizes.begin(), part.sizes.end(), dims.begin(), dims.end())) return whole;
  const Shape* shape = context_->module().context->shapes.Array(part.type, part.sizes);
  Pieces pieces;
  if (shape->element_count > 0) {
    pieces.push_back(BoxPiece(0, dims, part.starts, part.sizes, 0, RowMajorStrides(part.sizes)));
  }
  return context_->domain().Move(shape, pieces, {whole});
}

Result<Value> Fetcher::View(const Meeting& meeting, size_t number, const Part& part) const {
  const Value& whole = Find(meeting, number, part);
  const auto dims = whole.shape()->dims;
  const int64_t count = CountElements(part.sizes);
  if (!whole.IsDense() || count == 0 || count == whole.element_count() ||
      !IsOneRun(dims, part.sizes)) {
    return CutBox(whole, part);
  }
  const std::vector<int64_t> strides = RowMajorStrides(dims);
  int64_t first = 0;
  for (size_t d = 0; d < dims.size(); ++d) first += part.starts[d] * strides[d];
  const size_t width = static_cast<size_t>(whole.element_bytes());
  return Value::Borrowed(context_->module().context->shapes.Array(part.type, part.sizes),
                         whole.encoding(), whole.element_bytes(),
                         whole.bytes().subspan(static_cast<size_t>(first) * width,
                                               static_cast<size_t>(count) * width));
}

const std::byte* Fetcher::Published(const Meeting& meeting, const Meeting::Member& member,
                                    int64_t operand, size_t bytes) const {
  return board_.Find(placement_.RankOf(member.device), member.device, {meeting.key, member.role},
                     operand, bytes);
}

bool Fetcher::IsPublished(const Meeting& meeting, const Meeting::Member& member) const {
  if (!Reaches(placement_.RankOf(member.device))) return false;
  for (size_t o = 0; o < member.encodings.size(); ++o) {
    if (Published(meeting, member, static_cast<int64_t>(o), 0) == nullptr) return false;
  }
  return true;
}

Value Fetcher::Peek(const Meeting& meeting, size_t member, size_t operand) const {
  const Meeting::Member& m = meeting.members[member];
  const Collective& collective = *meeting.collective;
  const Shape* shape =
      (m.role == Role::kSender ? collective.results : collective.operands)[operand];
  const bool is_native = m.encodings[operand] == kNativeOperand;
  const int width = is_native ? HostBytes(shape->type) : context_->domain().code_bytes();
  const auto bytes = static_cast<size_t>(shape->element_count * width);
  const std::byte* place = Published(meeting, m, static_cast<int64_t>(operand), bytes);
  HV_CHECK(place != nullptr, "an operand of another rank that was not asked for");
  return Value::Borrowed(shape, is_native ? Encoding::kNative : Encoding::kCode, width,
                         {place, bytes});
}

const Value& Fetcher::Borrow(const Meeting& meeting, size_t number, const Part& part) const {
  Value& operand = borrowed_[{number, part.member, part.operand}];
  if (operand.empty()) {
    operand = Peek(meeting, static_cast<size_t>(part.member), static_cast<size_t>(part.operand));
  }
  return operand;
}

bool Fetcher::Travels(const Meeting& meeting, const Meeting::Member& owner, int64_t operand,
                      Rank to) const {
  const Rank from = placement_.RankOf(owner.device);
  if (from == to) return false;
  return !board_.Reaches(from == rank_ ? to : from) ||
         Published(meeting, owner, operand, 0) == nullptr;
}

Status Fetcher::Need(const Meeting& meeting, size_t number, DeviceId destination,
                     const Part& part) {
  const Meeting::Member& owner = meeting.members[static_cast<size_t>(part.member)];
  const Rank from = placement_.RankOf(owner.device);
  const Rank to = placement_.RankOf(destination);
  if (from != rank_ && to != rank_) return {};
  if (!Travels(meeting, owner, part.operand, to)) return {};
  if (!sent_.insert({to, KeyOf(number, part)}).second) return {};
  if (from == rank_) return Send(meeting, number, to, part);
  Receive(meeting, number, from, part);
  return {};
}

Value Fetcher::NewBox(const Meeting& meeting, const Part& part) const {
  const Meeting::Member& member = meeting.members[static_cast<size_t>(part.member)];
  const Shape* shape = context_->module().context->shapes.Array(part.type, part.sizes);
  return member.encodings[static_cast<size_t>(part.operand)] == kNativeOperand
             ? Value::NewNative(shape)
             : Value::NewCode(shape, context_->domain().code_bytes());
}

// The other rank waits for the message whatever happens here: a box that cannot be cut is sent as
// it was allocated, and the device's error stops the run at the next agreement.
Status Fetcher::Send(const Meeting& meeting, size_t number, Rank to, const Part& part) {
  Result<Value> box = View(meeting, number, part);
  being_sent_.push_back(box ? std::move(*box) : NewBox(meeting, part));
  outgoing_.push_back({to, next_out_[to]++, being_sent_.back().bytes()});
  if (!box) return tl::make_unexpected(std::move(box).error());
  return {};
}

void Fetcher::Receive(const Meeting& meeting, size_t number, Rank from, const Part& part) {
  Value& box = received_[KeyOf(number, part)];
  box = NewBox(meeting, part);
  incoming_.push_back({from, next_in_[from]++, box.MutableBytes()});
}

void Fetcher::Exchange() {
  context_->options().transport->Exchange(outgoing_, incoming_);
  outgoing_.clear();
  incoming_.clear();
  being_sent_.clear();
  next_out_.clear();
  next_in_.clear();
}

}  // namespace hv
