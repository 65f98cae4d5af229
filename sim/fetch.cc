#include "sim/fetch.h"

#include <algorithm>

#include "hlo/view.h"

namespace hv {

const Value& Fetcher::Find(const Meeting& meeting, size_t number, const Part& part) const {
  if (!IsHere(meeting, part)) return received_.at(KeyOf(number, part));
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

Status Fetcher::Need(const Meeting& meeting, size_t number, DeviceId destination,
                     const Part& part) {
  const Rank from =
      placement_.RankOf(meeting.members[static_cast<size_t>(part.member)].device);
  const Rank to = placement_.RankOf(destination);
  if (from == to || (from != rank_ && to != rank_)) return {};
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

// The other rank waits for the message whatever happens here: a box that cannot be cut is sent as it
// was allocated, and the device's error stops the run at the next agreement.
Status Fetcher::Send(const Meeting& meeting, size_t number, Rank to, const Part& part) {
  Result<Value> box = Cut(meeting, number, part);
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
