#include "hold/protocol.h"

#include <gtest/gtest.h>

#include <random>

#include "hold/launch.h"

namespace ttyward::hold {
namespace {

TEST(HoldProtocol, frames_come_out_whole_however_they_are_cut) {
  const std::string stream = encode(MessageType::Input, 7, "hello") + encode(MessageType::GetStatus, 8);
  for (size_t cut = 0; cut <= stream.size(); ++cut) {
    FrameReader reader;
    std::vector<Frame> frames;
    for (const std::string_view part :
         {std::string_view(stream).substr(0, cut), std::string_view(stream).substr(cut)}) {
      reader.push(part);
      while (auto frame = reader.next()) frames.push_back(std::move(*frame));
    }
    ASSERT_EQ(frames.size(), 2U) << cut;
    EXPECT_EQ(frames[0].payload, "hello");
    EXPECT_EQ(frames[1].type, MessageType::GetStatus);
    EXPECT_EQ(frames[1].tag, 8U);
  }
}

TEST(HoldProtocol, a_frame_that_is_too_long_breaks_the_stream_before_it_is_stored) {
  FrameReader reader;
  reader.push(
      Encoder().number(kLargestPayload + 1).number(uint16_t{2}).number(uint16_t{0}).number(1U).take());
  EXPECT_FALSE(reader.next());
  EXPECT_TRUE(reader.broken());
}

TEST(HoldProtocol, status_survives_the_way_and_no_other_bytes_pass_for_one) {
  StatusMessage status;
  status.end = 1ULL << 40;
  status.journal_id = "t1";
  const std::string bytes = status.encode();
  EXPECT_EQ(StatusMessage::decode(bytes)->end, 1ULL << 40);
  for (size_t cut = 0; cut < bytes.size(); ++cut) EXPECT_FALSE(StatusMessage::decode(bytes.substr(0, cut)));
  EXPECT_FALSE(StatusMessage::decode(bytes + "x"));
}

LaunchRequest full_request() {
  LaunchRequest request;
  request.journals = "/j";
  request.sockets = "/s";
  request.hold.spawn.argv = {"a", "", "c d"};
  request.hold.spawn.environment = {"PATH=/bin"};
  request.hold.spawn.umask = 027;
  request.hold.spawn.limits = {{7, {1, 2}}};
  request.hold.journal.id = "t1";
  request.hold.journal.overflow = journal::Overflow::Pause;
  request.hold.survivors = Survivors::Kill;
  return request;
}

TEST(HoldLaunchMessage, a_request_survives_the_way) {
  const auto back = LaunchRequest::decode(full_request().encode());
  ASSERT_TRUE(back);
  EXPECT_EQ(back->encode(), full_request().encode());
  EXPECT_EQ(back->hold.spawn.argv, full_request().hold.spawn.argv);
  EXPECT_EQ(back->hold.spawn.umask, 027U);
  EXPECT_EQ(back->hold.survivors, Survivors::Kill);
}

TEST(HoldLaunchMessage, damage_is_refused_or_read_within_bounds) {
  const std::string good = full_request().encode();
  for (size_t cut = 0; cut < good.size(); ++cut) EXPECT_FALSE(LaunchRequest::decode(good.substr(0, cut)));
  std::mt19937 random(3);
  for (int round = 0; round < 20'000; ++round) {
    std::string bad = good;
    for (int i = 0; i < 3; ++i) bad[random() % bad.size()] = static_cast<char>(random());
    static_cast<void>(LaunchRequest::decode(bad));
    static_cast<void>(LaunchReply::decode(bad));
  }
}

TEST(HoldLaunchMessage, a_reply_carries_the_reason) {
  LaunchReply reply;
  reply.error =
      pty::SpawnError{pty::SpawnFailure::NotFound, {base::ErrorCode::NotFound, 2, "no such program"}};
  const auto back = LaunchReply::decode(reply.encode());
  ASSERT_TRUE(back && back->error);
  EXPECT_EQ(back->error->failure, pty::SpawnFailure::NotFound);
  EXPECT_EQ(back->error->error, reply.error->error);
}

}  // namespace
}  // namespace ttyward::hold
