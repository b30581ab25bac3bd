#include "ilux/direct/dataflow/product_lists.hpp"

#include <algorithm>
#include <array>

#include "ilux/direct/dataflow/sum_rules.hpp"

namespace ilux {
namespace {

using namespace sum_rule;
using Record = ProductLists::Record;
constexpr Offset most_records = 2 * chunk;  // of a unit: partial sums, and products

void insertion_sort(Record* r, Offset count)
{
    for (Offset k = 1; k < count; ++k) {
        const Record moved = r[k];
        Offset       to = k;
        for (; to > 0 && r[to - 1].level > moved.level; --to) r[to] = r[to - 1];
        r[to] = moved;
    }
}

/// By level, stable. Most come nearly sorted. Allocates nothing.
void sort_by_level(Record* r, Offset count)
{
    constexpr Offset few = 24;
    constexpr int    keys = 256;
    const auto       by_level = [](const Record& x, const Record& y) { return x.level < y.level; };
    if (std::is_sorted(r, r + count, by_level)) return;
    if (count <= few) return insertion_sort(r, count);
    const auto [least, most] = std::minmax_element(r, r + count, by_level);
    const std::int32_t base = least->level;
    if (most->level - base >= keys) return insertion_sort(r, count);
    std::array<std::uint16_t, keys + 1> next{};
    for (Offset k = 0; k < count; ++k) ++next[r[k].level - base + 1];
    for (int key = 0; key < keys; ++key) next[key + 1] += next[key];
    std::array<Record, most_records> sorted;
    for (Offset k = 0; k < count; ++k) sorted[next[r[k].level - base]++] = r[k];
    std::copy_n(sorted.begin(), count, r);
}

}  // namespace

std::int32_t ProductLists::put(Offset unit, const Record* r, Offset count, Offset late)
{
    units_.first[unit] = list_;
    units_.early[unit] = static_cast<std::uint32_t>(count - late);
    units_.late[unit] = static_cast<std::uint8_t>(late);
    for (Offset k = 0; k < count; ++k) units_.product[list_ + k] = r[k].product;
    list_ += count;
    return count > 0 ? r[count - 1].level : 0;
}

/// The last ones by level, and of one level in the order of subtraction, are late.
std::int32_t ProductLists::put_sum(Offset unit, Record* r, Offset count)
{
    sort_by_level(r, count);
    return put(unit, r, count, std::min<Offset>(count, most_late));
}

/// What is added is never late, and comes before products of its level.
std::int32_t ProductLists::put_long_sum(Offset entry, Record* r, Offset count)
{
    const LongSum s = cut_long_sum(count);
    const Offset  part = unit_, sum = part + s.parts;
    unit_ += s.units();
    std::array<Record, most_records> own, of_sum;
    for (Offset p = 0; p < s.parts; ++p) {
        level_[part + p] = put_sum(part + p, r + p * chunk, std::min(chunk, s.early - p * chunk));
        if (s.sums == 0) own[p] = added(part + p);
        else of_sum[p % chunk] = added(part + p);
        if (s.sums == 0 || ((p + 1) % chunk != 0 && p + 1 < s.parts)) continue;
        const Offset size = p % chunk + 1;
        sort_by_level(of_sum.data(), size);
        level_[sum + p / chunk] = put(sum + p / chunk, of_sum.data(), size, 0);
        own[p / chunk] = added(sum + p / chunk);
    }
    Record* const last = r + s.early;
    const Offset  products = count - s.early, late = std::min<Offset>(products, most_late), early = products - late;
    sort_by_level(last, products);
    const auto end = std::copy_n(last, early, own.begin() + s.added());
    sort_by_level(own.data(), end - own.begin());
    const std::int32_t before = own[s.added() + early - 1].level;
    std::copy_n(last + early, late, end);
    return std::max(before, put(entry, own.data(), s.added() + products, late));
}

}  // namespace ilux
