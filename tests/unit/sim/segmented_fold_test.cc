// Ranks as threads that exchange messages through mailboxes.
#include "sim/segmented_fold.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <numeric>
#include <queue>
#include <thread>
#include <tuple>
#include <vector>

#include "hlo/parser.h"

namespace hv {
namespace {

class Mail {
 public:
  using Key = std::tuple<int64_t, int64_t, int64_t>;  // from, to, tag
  void Put(Key key, std::span<const std::byte> bytes) {
    const std::lock_guard lock(mutex_);
    boxes_[key].emplace(bytes.begin(), bytes.end());
    arrived_.notify_all();
  }
  void Take(Key key, std::span<std::byte> bytes) {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [&] { return !boxes_[key].empty(); });
    const std::vector<std::byte> message = std::move(boxes_[key].front());
    boxes_[key].pop();
    ASSERT_EQ(message.size(), bytes.size());
    std::memcpy(bytes.data(), message.data(), bytes.size());
  }
  bool IsEmpty() {
    for (const auto& [key, box] : boxes_) {
      if (!box.empty()) return false;
    }
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::map<Key, std::queue<std::vector<std::byte>>> boxes_;
};

class MailTransport : public Transport {
 public:
  MailTransport(Mail* mail, int64_t rank, int64_t ranks)
      : mail_(*mail), rank_(rank), ranks_(ranks) {}
  Rank rank() const override { return Rank(rank_); }
  int64_t size() const override { return ranks_; }
  std::vector<std::string> AllGather(const std::string& mine) override { return {mine}; }
  bool AllEqual(uint64_t) override { return true; }
  void Barrier() override {}
  std::unique_ptr<Flight> Start(std::span<const OutgoingMessage> sends,
                                std::span<const IncomingMessage> receives) override {
    for (const OutgoingMessage& m : sends) mail_.Put({rank_, m.to.value, m.tag}, m.bytes);
    auto flight = std::make_unique<MailFlight>();
    flight->transport = this;
    flight->receives.assign(receives.begin(), receives.end());
    return flight;
  }

 private:
  struct MailFlight : Flight {
    void Wait() override {
      for (const IncomingMessage& m : receives) {
        transport->mail_.Take({m.from.value, transport->rank_, m.tag}, m.bytes);
      }
    }
    MailTransport* transport = nullptr;
    std::vector<IncomingMessage> receives;
  };

  Mail& mail_;
  int64_t rank_, ranks_;
};

float Element(int64_t member, int64_t i) {
  return 1.0f / static_cast<float>(1 + (member * 7919 + i * 104729) % 1013);
}

// Two members on each rank; rank r reduces shares[r] elements of all members in group order.
void Reduce(const std::vector<int64_t>& shares) {
  const auto ranks = static_cast<int64_t>(shares.size()), members = 2 * ranks;
  const auto module =
      *ParseModule("<test>",
                   "HloModule m\nsum { a = f32[] parameter(0) b = f32[] parameter(1) "
                   "ROOT c = f32[] add(a, b) }\nENTRY e { ROOT x = f32[] parameter(0) }");
  const StreamFold fold = *StreamFold::Make(module, 0, ElementType::kF32);
  const int64_t count = std::accumulate(shares.begin(), shares.end(), int64_t{0});
  std::vector<std::vector<float>> operands(static_cast<size_t>(members));
  for (int64_t m = 0; m < members; ++m) {
    for (int64_t i = 0; i < count; ++i) operands[static_cast<size_t>(m)].push_back(Element(m, i));
  }
  Mail mail;
  std::vector<std::thread> threads;
  for (int64_t r = 0; r < ranks; ++r) {
    threads.emplace_back([&, r] {
      MailTransport transport(&mail, r, ranks);
      const auto share_of = [&](int64_t member, int64_t rank) {
        const int64_t begin =
            std::accumulate(shares.begin(), shares.begin() + rank, int64_t{0});
        return std::as_bytes(std::span(operands[static_cast<size_t>(member)])
                                 .subspan(static_cast<size_t>(begin),
                                          static_cast<size_t>(shares[static_cast<size_t>(rank)])));
      };
      std::vector<FoldedStream> summands;
      std::vector<SentStream> sent;
      for (int64_t m = 0; m < members; ++m) {
        const int64_t owner = m % ranks;  // the members of a rank lie apart
        summands.push_back({Rank(owner), owner == r ? share_of(m, r).data() : nullptr});
        for (int64_t to = 0; owner == r && to < ranks; ++to) {
          if (to != r) sent.push_back({Rank(to), share_of(m, to)});
        }
      }
      std::vector<float> out(static_cast<size_t>(shares[static_cast<size_t>(r)]));
      FoldSegments(&transport, fold, sizeof(float), summands,
                   std::as_writable_bytes(std::span(out)), sent);
      const int64_t begin = std::accumulate(shares.begin(), shares.begin() + r, int64_t{0});
      for (size_t i = 0; i < out.size(); ++i) {
        float sum = Element(0, begin + static_cast<int64_t>(i));
        for (int64_t m = 1; m < members; ++m) sum += Element(m, begin + static_cast<int64_t>(i));
        ASSERT_EQ(out[i], sum) << "rank " << r << " element " << i;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(mail.IsEmpty());
}

TEST(FoldSegments, OfOneSegment) { Reduce({5, 5, 5}); }
TEST(FoldSegments, OfManySegments) { Reduce({100'000, 100'000}); }
TEST(FoldSegments, OfSharesThatDiffer) { Reduce({70'001, 3, 0, 32'768}); }

}  // namespace
}  // namespace hv
