// MATLAB's files of level 5 (save -v6 and -v7): a head of 128 bytes, then an element for each variable, packed by zlib
// or not. Format: MathWorks, "MAT-File Format", "Level 5 MAT-File Format".

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "ilux/base/error.hpp"
#include "ilux/base/io/inflate.hpp"
#include "ilux/base/io/matlab.hpp"
#include "ilux/base/io/raw_bytes.hpp"

namespace ilux::detail {
namespace level_5 {
namespace {

using Kind = MatlabVariable::Kind;

constexpr std::size_t head_bytes = 128;
constexpr std::size_t begin_bytes = 4096;  // of a variable: its sizes and its name, at most 63 characters, are in these

/// Types of elements, as the format numbers them.
enum Type : std::uint32_t {
    int8 = 1,
    uint8 = 2,
    int16 = 3,
    uint16 = 4,
    int32 = 5,
    uint32 = 6,
    single = 7,
    real = 9,
    int64 = 12,
    uint64 = 13,
    array = 14,
    packed = 15
};

/// What the elements of a variable share, or of the file.
struct Source {
    std::string_view name;  ///< of the file
    std::endian      order;
    std::string      unpacked = "";  ///< where the elements lie, unless they lie in the file
};
using SharedSource = std::shared_ptr<const Source>;

[[noreturn]] void throw_damaged(std::string_view name, std::string_view what)
{
    throw InvalidInput(fmt::format("{}: the MATLAB file is damaged: {}", name, what));
}

struct Element {
    std::uint32_t    type;
    std::string_view data;
};

/// Elements one behind another.
class Elements {
public:
    Elements(std::string_view bytes, SharedSource source) : rest_(bytes), source_(std::move(source)) {}

    const SharedSource& source() const { return source_; }
    std::string_view    name() const { return source_->name; }
    bool                done() const { return rest_.empty(); }
    /// @throws InvalidInput unless all of it is there
    Element next();
    /// @param what  it is, for the message of another type
    Element next(std::uint32_t type, std::string_view what)
    {
        const Element one = next();
        if (one.type != type) throw_damaged(name(), fmt::format("{} of type {} instead of {}", what, one.type, type));
        return one;
    }
    /// The numbers of the next one, `count` of them or more.
    std::vector<double> numbers(std::size_t count);

private:
    std::string_view rest_;
    SharedSource     source_;
};

Element Elements::next()
{
    if (rest_.size() < 8) throw_damaged(name(), "an element ends early: is the file truncated?");
    const auto        word = load<std::uint32_t>(rest_.data(), source_->order);
    const std::size_t small = word >> 16;  // up to four bytes stand where else the length is
    const std::size_t at = small > 0 ? 4 : 8;
    const std::size_t size = small > 0 ? small : load<std::uint32_t>(rest_.data() + 4, source_->order);
    if (size > (small > 0 ? 4 : rest_.size() - at))
        throw_damaged(name(), fmt::format("an element of {} bytes where {} are: is the file truncated?", size,
                                          small > 0 ? 4 : rest_.size() - at));
    const Element     one{small > 0 ? word & 0xffff : word, rest_.substr(at, size)};
    const std::size_t whole = one.type == packed ? at + size : (at + size + 7) / 8 * 8;
    rest_.remove_prefix(std::min(whole, rest_.size()));
    return one;
}

template <class E>
std::vector<double> widened(std::string_view data, std::endian order)
{
    std::vector<double> all(data.size() / sizeof(E));
    for (std::size_t p = 0; p < all.size(); ++p)
        all[p] = static_cast<double>(load<E>(data.data() + p * sizeof(E), order));
    return all;
}

std::vector<double> numbers_of(const Element& one, std::endian order, std::string_view name)
{
    switch (one.type) {
        case int8:
            return widened<std::int8_t>(one.data, order);
        case uint8:
            return widened<std::uint8_t>(one.data, order);
        case int16:
            return widened<std::int16_t>(one.data, order);
        case uint16:
            return widened<std::uint16_t>(one.data, order);
        case int32:
            return widened<std::int32_t>(one.data, order);
        case uint32:
            return widened<std::uint32_t>(one.data, order);
        case single:
            return widened<float>(one.data, order);
        case real:
            return widened<double>(one.data, order);
        case int64:
            return widened<std::int64_t>(one.data, order);
        case uint64:
            return widened<std::uint64_t>(one.data, order);
        default:
            throw_damaged(name, fmt::format("values of type {}, which are no numbers", one.type));
    }
}

std::vector<double> Elements::numbers(std::size_t count)
{
    std::vector<double> all = numbers_of(next(), source_->order, name());
    if (all.size() < count) throw_damaged(name(), fmt::format("{} values where {} are expected", all.size(), count));
    return all;
}

MatlabNumbers dense_numbers(Elements rest, const MatlabVariable& of)
{
    const auto part = [&] {
        auto all = rest.numbers(static_cast<std::size_t>(of.entries));
        if (std::ssize(all) != of.entries)
            throw_damaged(rest.name(), fmt::format("{} values of {} × {}", all.size(), of.rows, of.cols));
        return all;
    };
    MatlabNumbers all{.real = part()};
    if (of.complex) all.imag = part();
    return all;
}

MatlabNumbers sparse_numbers(Elements rest, const MatlabVariable& of)
{
    const auto    row = rest.numbers(0), ptr = rest.numbers(static_cast<std::size_t>(of.cols) + 1);
    MatlabNumbers all{.row = matlab_indices(row, 0), .col = matlab_columns(ptr, row.size(), rest.name())};
    const auto    count = all.col.size();
    all.real = rest.numbers(count);
    if (of.complex) all.imag = rest.numbers(count);
    for (auto* numbers : {&all.real, &all.imag}) numbers->resize(std::min(numbers->size(), count));
    all.row.resize(count);  // there may be room for more entries
    return all;
}

MatlabVariable variable_of(std::string_view content, const SharedSource& source);

std::vector<MatlabVariable> fields_of(Elements rest)
{
    const auto length = rest.numbers(1)[0];
    if (!(length >= 1 && length <= 1024)) throw_damaged(rest.name(), fmt::format("field names of {} bytes", length));
    const auto                  each = static_cast<std::size_t>(length);
    std::vector<MatlabVariable> all;
    for (auto names = rest.next(int8, "field names").data; names.size() >= each; names.remove_prefix(each)) {
        all.push_back(variable_of(rest.next(array, "a field").data, rest.source()));
        const auto name = names.substr(0, each);
        all.back().name = name.substr(0, name.find('\0'));
    }
    return all;
}

/// @param content  of an element of type array; the values may be missing, unless they are asked for
MatlabVariable variable_of(std::string_view content, const SharedSource& source)
{
    constexpr std::uint32_t structure = 2, sparse = 5, first_dense = 6, last_dense = 15, complex_flag = 0x800;
    MatlabVariable          one;
    if (content.empty()) return one;  // []
    Elements   rest(content, source);
    const auto flags = rest.next(uint32, "flags").data;
    if (flags.size() != 8) throw_damaged(source->name, fmt::format("flags of {} bytes", flags.size()));
    const auto word = load<std::uint32_t>(flags.data(), source->order), kind = word & 0xff;
    if (kind == 0 || kind > last_dense) return one;  // functions and objects go on in another way
    const auto dims = numbers_of(rest.next(int32, "sizes"), source->order, source->name);
    if (std::ranges::any_of(dims, [](double size) { return size < 0; })) throw_damaged(source->name, "a size below 0");
    one.name = rest.next(int8, "a name").data;
    if (kind == structure && std::ranges::count(dims, 0) == 0) {
        one.kind = Kind::structure;
        one.fields = [rest] { return fields_of(rest); };
    }
    if (dims.size() != 2 || (kind != sparse && kind < first_dense)) return one;
    one.kind = kind == sparse ? Kind::sparse : Kind::dense;
    one.complex = (word & complex_flag) != 0;
    one.rows = static_cast<Offset>(dims[0]);
    one.cols = static_cast<Offset>(dims[1]);
    one.entries = kind == sparse ? load<std::uint32_t>(flags.data() + 4, source->order) : one.rows * one.cols;
    one.numbers = [rest, one] {
        return one.kind == Kind::sparse ? sparse_numbers(rest, one) : dense_numbers(rest, one);
    };
    return one;
}

/// What lies inside an unpacked element: one of type array, with nothing behind it.
std::string_view content_of(std::string_view unpacked, std::uint64_t size, const SharedSource& source)
{
    if (unpacked.size() < 8 || load<std::uint32_t>(unpacked.data(), source->order) != array ||
        load<std::uint32_t>(unpacked.data() + 4, source->order) + std::uint64_t{8} != size)
        throw_damaged(source->name, "a packed element holds no variable");
    return unpacked.substr(8);
}

MatlabVariable unpacked_variable(std::string_view packed, const SharedSource& file, const StopToken& stop)
{
    std::string    begin(begin_bytes, '\0');
    const Inflated all = inflate_all(packed, Deflated::zlib, begin, file->name, stop);
    if (all.in != packed.size())
        throw_damaged(file->name, fmt::format("{} bytes behind packed data", packed.size() - all.in));
    begin.resize(std::min<std::uint64_t>(begin.size(), all.out));
    MatlabVariable one = variable_of(content_of(begin, all.out, file), file);
    const auto     whole = [=] {
        Source source{file->name, file->order, std::string(all.out, '\0')};
        (void)inflate_all(packed, Deflated::zlib, source.unpacked, file->name, stop);
        const auto shared = std::make_shared<const Source>(std::move(source));
        return variable_of(content_of(shared->unpacked, all.out, shared), shared);
    };
    if (one.numbers) one.numbers = [whole] { return whole().numbers(); };
    if (one.fields) one.fields = [whole] { return whole().fields(); };
    return one;
}

}  // namespace
}  // namespace level_5

std::vector<MatlabVariable> matlab_5_variables(std::string_view bytes, std::string_view name, const StopToken& stop)
{
    using namespace level_5;
    const auto mark = bytes.size() < head_bytes ? "" : bytes.substr(head_bytes - 2, 2);
    if (mark != "IM" && mark != "MI") throw_damaged(name, "its head does not say in which order bytes are");
    const auto                  order = mark == "IM" ? std::endian::little : std::endian::big;
    const auto                  file = std::make_shared<const Source>(Source{name, order});
    std::vector<MatlabVariable> all;
    for (Elements rest(bytes.substr(head_bytes), file); !rest.done();) {
        const Element one = rest.next();
        if (one.type == packed) all.push_back(unpacked_variable(one.data, file, stop));
        else if (one.type == array) all.push_back(variable_of(one.data, file));
        else throw_damaged(name, fmt::format("an element of type {} where a variable is expected", one.type));
    }
    return all;
}

}  // namespace ilux::detail
