#include "digest/known/known.h"

namespace ttyward::digest {

void recognise(Page& page) {
  if (!page.tiny()) know_boilerplate(page);
  know_diagnostics(page);
  know_tests(page);
  if (!page.tiny()) hide_source(page);
  know_go_traces(page);
  know_traces(page);
  if (!page.tiny()) know_memory_checkers(page);
  know_git(page);
  read_listing(page);
  know_dumps(page);
  if (page.tiny()) return;
  know_transfers(page);
  know_json(page);
  if (!page.replacement.empty()) return;
  know_searches(page);
  know_steps(page);
  know_listings(page);
}

}  // namespace ttyward::digest
