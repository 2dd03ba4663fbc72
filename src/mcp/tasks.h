// Tool calls that outlive their answer: started now, asked about later. Both eras' forms.
//
//   legacy  the caller says "task"; the answer is {task:{…}}; tasks/get, tasks/result (waits), tasks/list,
//   tasks/cancel modern  the client declares the extension; a call that is not over soon becomes a task;
//   tasks/get carries the
//           result or the questions, tasks/update brings the answers, tasks/cancel
//
// A task is the same tool call with another end: its Request hands its answer to the record here. Records are
// kept for a while after the end (kMaxTtl), at most kMaxTasks of them; the oldest finished one makes room.
//
// Thread rule: the loop thread.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/loop.h"
#include "mcp/catalog.h"
#include "mcp/json.h"
#include "mcp/request.h"

namespace ttyward::mcp {

inline constexpr const char* kTasksExtension = "io.modelcontextprotocol/tasks";
// Says among `capabilities` that tools may run as tasks, in the era's own form.
void declare_tasks(boost::json::object& capabilities, Era era);

class Notices;

class Tasks {
 public:
  Tasks(io::Loop& loop, Catalog& catalog, Notices& notices);
  ~Tasks();

  void start(const RequestPtr& request, const std::string& tool, const json::object& arguments);
  // False: not a method of tasks, in this era.
  bool dispatch(const RequestPtr& request);
  // The session is over: what it started is cancelled and forgotten.
  void forget(const std::string& owner);

 private:
  struct Record;
  using RecordPtr = std::shared_ptr<Record>;

  RecordPtr make_record(const RequestPtr& request, const std::string& tool, const json::object& arguments);
  void run(const RecordPtr& record);
  void finished(const RecordPtr& record, json::object response);
  void set_status(const RecordPtr& record, const char* status, std::string message);
  json::object describe(const Record& record) const;
  RecordPtr find(const RequestPtr& request);
  void get(const RequestPtr& request);
  void result(const RequestPtr& request);
  void list(const RequestPtr& request);
  void update(const RequestPtr& request);
  void cancel(const RequestPtr& request);
  void answer_waiting(const RecordPtr& record);
  // Forgets what is past its time, and the oldest finished one if there are too many. False: all are busy.
  bool make_room();

  io::Loop& loop_;
  Catalog& catalog_;
  Notices& notices_;
  std::map<std::string, RecordPtr> records_;
};

}  // namespace ttyward::mcp
