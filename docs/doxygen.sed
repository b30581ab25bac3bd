# What Doxygen reads of a header: the comment at its top becomes the file's, a comment behind a member the member's.
/^#pragma once$/ {
    N
    s|^#pragma once\n// |/// @file\n/// |
    t head
    b
    :head
    n
    s|^// |/// |
    t head
}
/^    [^ /].*[;,{}]  *\/\/ /s|\([;,{}]  *\)// |\1///< |
# The C interface has no other comments than these.
1s|^/\* |/** @file\n|
s|^/\* |/** |
/^    .*[;,{]  *\/\* /s|\([;,{]  *\)/\* |\1/**< |
