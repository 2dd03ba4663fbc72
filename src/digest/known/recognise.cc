#include "digest/known/known.h"

namespace ttyward::digest {

void recognise(Page& page) {
  know_diagnostics(page);
  know_tests(page);
  know_traces(page);
  know_git(page);
  if (page.tiny()) return;
  if (!page.small()) know_json(page);
  if (!page.replacement.empty()) return;
  know_steps(page);
  know_listings(page);
}

}  // namespace ttyward::digest
