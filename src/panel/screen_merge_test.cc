#include "panel/screen_merge.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace ttyward::panel {
namespace {

namespace json = boost::json;

json::object screen(const char* text) {
  return json::parse(text).get_object();
}

TEST(ScreenMerge, later_rows_replace_earlier_ones_and_the_rest_is_as_it_is_now) {
  json::object older = screen(R"({"reset":false,"cols":80,"rows":3,"first_row":5,"cursor":{"row":0},
                                  "lines":[{"row":5,"runs":["a"]},{"row":6,"runs":["b"]}]})");
  merge_screen(older, screen(R"({"reset":false,"cols":80,"rows":3,"first_row":6,"cursor":{"row":2},
                                 "lines":[{"row":6,"runs":["c"]},{"row":8,"runs":["d"]}]})"));
  EXPECT_EQ(older, screen(R"({"reset":false,"cols":80,"rows":3,"first_row":6,"cursor":{"row":2},
                              "lines":[{"row":6,"runs":["c"]},{"row":8,"runs":["d"]}]})"))
      << "row 5 has left the screen";
}

TEST(ScreenMerge, a_reset_forgets_and_stays_one) {
  json::object older = screen(R"({"reset":false,"rows":2,"first_row":0,"lines":[{"row":0,"runs":["a"]}]})");
  merge_screen(older, screen(R"({"reset":true,"rows":2,"first_row":0,"lines":[{"row":1,"runs":["b"]}]})"));
  merge_screen(older, screen(R"({"reset":false,"rows":2,"first_row":0,"lines":[{"row":0,"runs":["c"]}]})"));
  EXPECT_EQ(older, screen(R"({"reset":true,"rows":2,"first_row":0,
                              "lines":[{"row":0,"runs":["c"]},{"row":1,"runs":["b"]}]})"));
}

json::object event(int row) {
  return {{"event", "attach_screen"},
          {"subscription", 1},
          {"screen",
           {{"reset", false},
            {"rows", 100},
            {"first_row", 0},
            {"lines", json::array{json::object{{"row", row}, {"runs", json::array{}}}}}}}};
}

TEST(ScreenStream, never_more_than_two_are_under_way) {
  ScreenStream stream;  // the whole screen is
  EXPECT_TRUE(stream.offer(event(1)));
  EXPECT_FALSE(stream.offer(event(2)));
  EXPECT_FALSE(stream.offer(event(3)));
  const auto next = stream.painted();
  ASSERT_TRUE(next);
  EXPECT_EQ(next->at("screen").at("lines").as_array().size(), 2u) << "both in one";
  EXPECT_FALSE(stream.painted()) << "nothing new came";
  EXPECT_FALSE(stream.painted());
  EXPECT_TRUE(stream.offer(event(4)));
}

TEST(ScreenStream, what_waits_is_handed_out_before_the_end) {
  ScreenStream stream;
  stream.offer(event(1));
  stream.offer(event(2));
  EXPECT_TRUE(stream.take_waiting());
  EXPECT_FALSE(stream.take_waiting());
}

}  // namespace
}  // namespace ttyward::panel
