#pragma once
// A slow look at markup.

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

namespace ilux {

/// How often a word stands in a text.
inline int count(const std::string& text, const std::string& word)
{
    int found = 0;
    for (std::size_t p = text.find(word); p != std::string::npos; p = text.find(word, p + 1)) ++found;
    return found;
}

/// What is wrong with a document of elements, attributes in double quotes and text; "" when it is well-formed.
inline std::string why_not_xml(const std::string& text)
{
    std::vector<std::string> open;
    int                      roots = 0;
    for (std::size_t p = 0; p < text.size();) {
        if (text[p] != '<') {
            if (open.empty() && !std::isspace(static_cast<unsigned char>(text[p]))) return "text outside the root";
            if (text[p] == '>') return "a bare > at " + std::to_string(p);
            if (text[p] == '&' && text.find(';', p) > p + 5) return "a bare & at " + std::to_string(p);
            ++p;
            continue;
        }
        const std::size_t end = text.find('>', p);
        if (end == std::string::npos) return "a tag without end";
        const std::string tag = text.substr(p + 1, end - p - 1);
        p = end + 1;
        if (tag.find('<') != std::string::npos) return "a bare < in " + tag;
        if (std::count(tag.begin(), tag.end(), '"') % 2 != 0) return "an odd number of quotes in " + tag;
        if (tag.starts_with('/')) {
            if (open.empty() || open.back() != tag.substr(1)) return "</" + tag.substr(1) + "> closes nothing";
            open.pop_back();
            continue;
        }
        roots += open.empty();
        if (!tag.ends_with('/')) open.push_back(tag.substr(0, tag.find(' ')));
    }
    return !open.empty() ? "<" + open.back() + "> stays open" : roots != 1 ? "not one root" : "";
}

}  // namespace ilux
