#include "cli/app.h"

int main(int argc, char** argv) {
  return ttyward::cli::run(argc, argv);
}
