// The words of the protocol, the names of places, and the line that starts a relay.
#include <gtest/gtest.h>

#include "relay/link_protocol.h"
#include "relay/place_name.h"
#include "relay/protocol.h"

namespace ttyward::relay {
namespace {

TEST(Frames, any_cut_of_the_stream_gives_the_same_frames) {
  const std::string stream = encode(Type::Hello, 0, 1, "abc") + encode(Type::Bytes, 7, 0, "") +
                             encode(Type::Reply, 65535, 0xffffffff, std::string(300, 'x'));
  for (size_t cut = 0; cut <= stream.size(); cut++) {
    FrameReader reader;
    std::vector<Frame> frames;
    for (const std::string_view part :
         {std::string_view(stream).substr(0, cut), std::string_view(stream).substr(cut)}) {
      reader.push(part);
      while (auto frame = reader.next()) frames.push_back(std::move(*frame));
    }
    ASSERT_EQ(frames.size(), 3U) << cut;
    EXPECT_EQ(frames[1].channel, 7);
    EXPECT_EQ(frames[2].tag, 0xffffffffU);
    EXPECT_EQ(frames[2].payload.size(), 300U);
  }
}

TEST(Frames, an_impossible_length_breaks_the_stream) {
  FrameReader reader;
  reader.push(std::string(12, '\xff'));
  EXPECT_FALSE(reader.next());
  EXPECT_TRUE(reader.broken());
}

TEST(Marker, is_found_behind_noise_however_that_is_cut) {
  const std::string noise = "motd\r\n\x1b[0mTTYWARD-STAGE other\n";
  const std::string stream = noise + "TTYWARD-STAGE n1\nrest";
  for (size_t cut = 0; cut <= stream.size(); cut++) {
    MarkerSearch search("TTYWARD-STAGE n1\n");
    const bool early = search.push(std::string_view(stream).substr(0, cut));
    ASSERT_TRUE(early || search.push(std::string_view(stream).substr(cut))) << cut;
    EXPECT_EQ(search.noise(), noise);
  }
}

TEST(Names, what_names_a_place_and_what_does_not) {
  const auto far = PlaceName::parse("ssh:bob@build-1.example:2222");
  ASSERT_TRUE(far);
  EXPECT_EQ(far->target, "build-1.example");
  EXPECT_EQ(far->user, "bob");
  EXPECT_EQ(far->port, "2222");
  EXPECT_EQ(far->text(), "ssh:bob@build-1.example:2222");
  EXPECT_EQ(PlaceName::parse("podman:web")->key(), PlaceName::parse("podman:web")->key());
  EXPECT_NE(PlaceName::parse("podman:web")->key(), PlaceName::parse("docker:web")->key());
  // Nothing that ssh or podman could take for an option, or a shell for more than a word.
  for (const char* wrong :
       {"", "ssh", "ssh:", "ssh:-oProxyCommand=x", "ssh:a b", "ssh:a;b", "ssh:a@-b", "ssh:@a", "ssh:a:22x",
        "podman:x:1", "podman:--all", "host", "local", "ssh:a'b"}) {
    EXPECT_FALSE(PlaceName::parse(wrong)) << wrong;
  }
}

TEST(Names, policy_judges_what_a_person_would_type) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(equivalent_argv(*PlaceName::parse("ssh:bob@h:22"), "make"),
            (Words{"ssh", "-p", "22", "-l", "bob", "h", "make"}));
  EXPECT_EQ(equivalent_argv(*PlaceName::parse("docker:web"), "ls"),
            (Words{"docker", "exec", "web", "sh", "-c", "ls"}));
}

// It is one word between single quotes for whatever shell the account has.
TEST(Bootstrap, has_nothing_that_shells_disagree_about) {
  const std::string script =
      bootstrap_script({"n", std::string(64, 'a'), 1000, "Linux x86_64", "/tmp/a b'c"});
  EXPECT_EQ(script.find('\''), std::string::npos);
  EXPECT_EQ(script.find('\\'), std::string::npos);
  EXPECT_EQ(script.find('\n'), std::string::npos);
  EXPECT_EQ(script.find("a b"), std::string::npos);  // a folder that is not plain is not named again
}

TEST(Problems, say_what_to_do) {
  const PlaceName ssh = *PlaceName::parse("ssh:h");
  const PlaceName pod = *PlaceName::parse("podman:web");
  EXPECT_EQ(problem_of(ssh, 255, "h: Permission denied (publickey).\n", "").kind,
            ConnectProblem::Kind::Refused);
  EXPECT_EQ(
      problem_of(pod, 125, "Error: no container with name or ID \"web\" found: no such container\n", "").kind,
      ConnectProblem::Kind::ContainerEnded);
  EXPECT_EQ(problem_of(pod, 127, "", "").kind, ConnectProblem::Kind::Unsupported);
  EXPECT_NE(problem_of_script(ssh, "folder /home/x /tmp").message.find("noexec"), std::string::npos);
  EXPECT_NE(problem_of_script(ssh, "folder").message.find("read-only"), std::string::npos);
  EXPECT_NE(problem_of_script(ssh, "system Darwin arm64").message.find("Darwin arm64"), std::string::npos);
  EXPECT_NE(problem_of_script(ssh, "write /tmp").message.find("free 2 MB"), std::string::npos);
  // Where what arrives is not what was sent, nothing is run: plain ssh is for machines of another kind.
  EXPECT_EQ(problem_of_script(ssh, "hash /tmp").kind, ConnectProblem::Kind::Refused);
}

TEST(States, survive_the_way_to_a_client) {
  LinkState state;
  state.kind = LinkState::Kind::Lost;
  state.why = "gone";
  state.welcome.emplace();
  state.welcome->home = "/root";
  state.welcome->environment = {"A=1"};
  const auto back = LinkState::decode(state.encode());
  ASSERT_TRUE(back && back->welcome);
  EXPECT_EQ(back->why, "gone");
  EXPECT_EQ(back->welcome->environment, state.welcome->environment);
  EXPECT_FALSE(LinkState::decode("x"));
}

}  // namespace
}  // namespace ttyward::relay
