#include "ilux/c_api/guard.hpp"

#include <exception>

#include "ilux/base/error.hpp"

namespace ilux::c_api {

void Message::clear() noexcept
{
    text_.clear();
    out_of_memory_ = false;
}

void Message::set(const std::string& text) noexcept
{
    try {
        text_ = text;
    } catch (...) {
        set_out_of_memory();
    }
}

int status_of_exception(Message& message) noexcept
{
    const auto say = [&](const std::exception& error, int status) {
        try {
            message.set(error.what());
        } catch (...) {
            message.set_out_of_memory();
        }
        return status;
    };
    try {
        throw;
    } catch (const InvalidOption& error) {
        return say(error, ILUX_BAD_OPTION);
    } catch (const InvalidInput& error) {
        return say(error, ILUX_BAD_INPUT);
    } catch (const OutOfMemory& error) {
        return say(error, ILUX_OUT_OF_MEMORY);
    } catch (const OutOfTime& error) {
        return say(error, ILUX_NOT_CONVERGED);
    } catch (const Cancelled& error) {
        return say(error, ILUX_CANCELLED);
    } catch (const DeviceError& error) {
        return say(error, ILUX_NO_DEVICE);
    } catch (const std::bad_alloc&) {
        message.set_out_of_memory();
        return ILUX_OUT_OF_MEMORY;
    } catch (const std::exception& error) {
        return say(error, ILUX_INTERNAL);
    } catch (...) {
        message.set("an unknown exception");
        return ILUX_INTERNAL;
    }
}

Message& message_of_thread() noexcept
{
    thread_local Message message;
    return message;
}

}  // namespace ilux::c_api
