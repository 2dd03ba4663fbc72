#include "cli/result_json.h"

#include "app/objects.h"
#include "wire/encoder.h"
#include "wire/types/command_calls.h"

namespace ttyward::cli {

std::string json_of(const terminal::CommandResult& result) {
  return wire::json_text(app::result_object(result));
}

std::string json_of(const command::BatchResult& batch) {
  wire::BatchResult made;
  for (const terminal::CommandResult& result : batch.results)
    made.results.push_back(app::result_object(result));
  made.not_run = batch.not_run;
  made.state = terminal::command_state_name(batch.shell.state);
  made.duration_ms = batch.shell.duration_ms;
  return wire::json_text(made);
}

}  // namespace ttyward::cli
