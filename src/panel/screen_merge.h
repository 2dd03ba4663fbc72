// Screens for a page that is slower than the program it watches: what was not sent yet becomes one.
//
// At most kMostUnpainted screens of an attachment are under way. What comes meanwhile is merged, so the next
// one shows the terminal as it is then: nothing stale is ever queued. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include <boost/json/object.hpp>

namespace ttyward::panel {

// `older` becomes what both of them say; both are ScreenDelta objects, docs/protocol/socket.md.
void merge_screen(boost::json::object& older, const boost::json::object& newer);

class ScreenStream {
 public:
  static constexpr int kMostUnpainted = 2;

  // An event `attach_screen`. Null: later, with what follows.
  std::optional<boost::json::object> offer(const boost::json::object& event);
  // The page has painted one. Null: nothing waits.
  std::optional<boost::json::object> painted();
  // What waits, before an attachment ends.
  std::optional<boost::json::object> take_waiting();

 private:
  int unpainted_ = 1;  // the whole screen, with the answer
  std::optional<boost::json::object> waiting_;
};

}  // namespace ttyward::panel
