// For whoever keeps bytes that values borrow (Buffer::Borrow) and has to know when nobody reads them
// any more. Called by the thread that runs devices.
#pragma once

#include <cstddef>

namespace hv {

class BorrowWatch {
 public:
  virtual ~BorrowWatch() = default;
  virtual void Began(const std::byte* data) = 0;  // storage was made that borrows bytes from here on
  virtual void Ended(const std::byte* data) = 0;  // its last handle is gone
};
void SetBorrowWatch(BorrowWatch* watch);  // outlives every value

}  // namespace hv
