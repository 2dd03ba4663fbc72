#include "digest/known/known.h"

namespace ttyward::digest {

void recognise(Page& page) {
  know_diagnostics(page);
  know_tests(page);
  know_traces(page);
  know_git(page);
  if (page.tiny()) return;
  know_steps(page);
  if (page.small()) return;
  know_json(page);
  if (!page.replacement.empty()) return;
  know_listings(page);
}

}  // namespace ttyward::digest
