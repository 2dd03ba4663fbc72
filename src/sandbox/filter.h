// The system calls a confined command cannot make, as a program for the kernel (seccomp, classic BPF).
//
// A refused call fails with EPERM, or with the error that makes programs choose another way (ENOSYS for
// clone3 and io_uring, EAFNOSUPPORT for sockets). Nothing is killed: a program that asks gets an answer.
// Pure: the same argument gives the same program.
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <vector>

namespace ttyward::sandbox {

enum class Sockets : uint8_t {
  Usual,  // unix, IPv4, IPv6 and the kernel's routing information
  // Without a view of files of its own, a command could connect to every unix socket of the machine that has
  // a path. Pairs of connected ones are allowed everywhere.
  Internet,  // the same without unix
  None,      // where no network namespace stands between the command and the machine's network either
};

std::vector<sock_filter> system_call_filter(Sockets sockets);

// For a process that only serves what it has open (serve_only.h): what system_call_filter() refuses, and
// besides that every call that runs a program, makes a process, opens or changes a file by name, makes a
// socket or connects one, or sends a signal to anybody but `self`.
std::vector<sock_filter> serving_filter(uint32_t self);

}  // namespace ttyward::sandbox
