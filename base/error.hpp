#pragma once
// Misuse and missing resources throw; outcomes of correct calls are reports (types.hpp); our own bugs assert.

#include <cassert>
#include <stdexcept>
#include <string>
#include <utility>

namespace ilux {

/// Base of everything ilux throws. what() holds the offending values and what was expected instead.
class Error : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A call, an option or a command line that makes no sense.
class InvalidOption : public Error {
    using Error::Error;
};

/// Data that cannot be used: sizes, indices, values, files.
class InvalidInput : public Error {
    using Error::Error;
};

/// The byte budget, or the machine, has no room.
class OutOfMemory : public Error {
    using Error::Error;
};

/// Work was told to end, where there is no outcome yet to report it (stop_token.hpp).
class Stopped : public Error {
    using Error::Error;
};
/// The time limit was reached.
class OutOfTime : public Stopped {
    using Stopped::Stopped;
};
/// The caller, another thread or a signal asked for it.
class Cancelled : public Stopped {
    using Stopped::Stopped;
};

/// No such device, or the device failed.
class DeviceError : public Error {
    using Error::Error;
};

/// Throws InvalidInput unless `holds`. The message is only composed on failure:
/// `require(n == m, [&] { return fmt::format("…", n, m); })`.
template <class Message>
void require(bool holds, Message&& message)
{
    if (!holds) throw InvalidInput(std::forward<Message>(message)());
}

}  // namespace ilux

/// A promise of ours, checked in debug builds.
#define ILUX_ASSERT(condition) assert(condition)
