#pragma once
// Lack of memory as something to report, not to end by.

#include <new>
#include <optional>
#include <string>

#include "ilux/base/error.hpp"

namespace ilux {

/// Runs `work`. @return in words, where memory was lacking; nothing where it was not
template <class Work>
std::optional<std::string> lack_of_memory(Work&& work)
{
    try {
        work();
        return std::nullopt;
    } catch (const OutOfMemory& error) {
        return error.what();
    } catch (const std::bad_alloc&) {
        return "the machine's memory is exhausted";
    }
}

}  // namespace ilux
