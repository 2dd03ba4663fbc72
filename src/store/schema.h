// The tables, and how an older file becomes a new one.
//
// `schema.version` is in the file. A file of this version is used as it is, an
// older one is brought here step by step in one transaction, and a newer one is
// left alone: this program cannot know what it would break.
#pragma once

#include <span>

#include "base/result.h"
#include "store/database.h"

namespace ttyward::store {

struct SchemaStep {
  int from;         // leads from this version to the next
  const char* sql;  // one or more statements
};

struct Schema {
  int version;
  const char* create;  // a fresh file's tables, without `schema` itself
  std::span<const SchemaStep> steps;
};

const Schema& current_schema();

// Whether the file may be touched at all. Unsupported: newer than us.
// InvalidArgument: a database of something else.
base::Result<void> check_known(Database& database, const Schema& schema);
// Makes the tables of a fresh file, or migrates. Fails as `check_known` does.
base::Result<void> bring_to(Database& database, const Schema& schema);

}  // namespace ttyward::store
