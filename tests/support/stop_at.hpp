#pragma once
// A StopToken that counts its questions.

#include <atomic>

#include "ilux/base/stop_token.hpp"

namespace ilux::test {

/// Says to stop when it is asked the `last` time; 0: never. @param asked  counts; outlives the token
inline StopToken stop_at(int last, std::atomic<int>& asked)
{
    asked = 0;
    return StopToken().asking([last, &asked] { return ++asked == last; });
}
/// Says to go on, or to stop, whenever it is asked.
inline StopToken never()
{
    return StopToken().asking([] { return false; });
}
inline StopToken at_once()
{
    return StopToken().asking([] { return true; });
}

}  // namespace ilux::test
