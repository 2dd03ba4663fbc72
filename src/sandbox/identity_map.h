// Who a process of a new user namespace is, inside and outside. Internal.
//
// For children that share their parent's memory: system calls only.
#pragma once

#include <sys/types.h>

// The frames of a child that shares its parent's memory: a sanitizer would leave its marks around them.
#define TTYWARD_NO_SANITIZE __attribute__((no_sanitize("address", "undefined", "thread"), noinline))

namespace ttyward::sandbox {

struct MappedId {
  unsigned inside = 0;
  unsigned outside = 0;
};

// Of the calling process, which has just made the namespace. False: errno says why.
bool map_identity(MappedId user, MappedId group);

// Appends to a text, and returns its end.
char* put_number(char* at, unsigned long value);
char* put_text(char* at, const char* text);

}  // namespace ttyward::sandbox
