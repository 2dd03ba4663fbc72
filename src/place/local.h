// This machine, through /proc. Answers before the question returns.
#pragma once

#include "place/place.h"

namespace ttyward::place {

class LocalPlace final : public Place {
 public:
  std::string name() const override { return "local"; }
  void process(pid_t pid, uint32_t parts, const Then<std::optional<ProcessFacts>>& then) const override;
  void descendants(pid_t root, const Then<std::optional<Stats>>& then) const override;
  void ports(std::span<const pid_t> pids, const Then<std::optional<Ports>>& then) const override;
  void left_behind(const LeftBehindQuery& query, const Then<LeftBehind>& then) const override;
  pid_t newest_process() const override;
  void file(const std::string& path, const Then<base::Result<FileKind>>& then) const override;
  void text(const std::string& path, size_t most, const Then<base::Result<std::string>>& then) const override;
  void program(const std::string& name, const std::string& search,
               const Then<std::string>& then) const override;
  base::Result<void> make_folder(const std::string& path) const override;
  base::Result<void> write_file(const std::string& path, std::string_view content,
                                uint32_t mode) const override;
  void end_holder(pid_t holder) const override;

  // Every process that can be seen, in one scan: for those who look at many terminals.
  Stats all_processes() const;
};

// The one everybody shares: it has no state.
const LocalPlace& local();

}  // namespace ttyward::place
