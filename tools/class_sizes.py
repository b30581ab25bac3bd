"""How many functions and data members each C++ class of a source has: declarations are counted, overloads each."""
import re

HEAD = re.compile(r"\b(class|struct)\s+((?:\w+(?:<\w+>)?::)*\w+)(?:<[^;{}]*?>)?\s*(?:final\s*)?(?::(?!:)[^;{}]*)?\{")
NESTED = re.compile(r"\b(class|struct|enum|union)\b[^()]*$")
BODY_FOLLOWS = re.compile(r"\)\s*(const|noexcept|override|final|&|->[^;{]*|\s)*$|\)\s*:\s*[^;]*$")
LEFT_OUT = ("using", "friend", "static_assert", "enum", "typedef")


def without_comments_and_texts(source):
    source = re.sub(r"/\*.*?\*/", "", source, flags=re.S)
    source = re.sub(r"//[^\n]*", "", source)
    source = re.sub(r'"(\\.|[^"\\\n])*"', '""', source)
    source = re.sub(r"'(\\.|[^'\\\n])'", "' '", source)
    return re.sub(r"(?m)^\s*#.*(\\\n.*)*$", "", source)


def end_of_braces(text, begin):
    depth = 0
    for at in range(begin, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return at
    return len(text) - 1


def without_angles(text):
    while (shorter := re.sub(r"<[^<>]*>", "", text)) != text:
        text = shorter
    return text


def declarations(body):
    """(has a body of its own, text) of each declaration of a class, nested types left out."""
    at, text = 0, ""
    while at < len(body):
        if body[at] == ";":
            yield False, text
            text = ""
        elif body[at] != "{":
            text += body[at]
        else:
            end = end_of_braces(body, at)
            follows = body[end + 1:].lstrip()[:1]
            is_member_initialiser = re.search(r"\)\s*:\s*[^;]*\w\s*$", text) and follows in (",", "{")
            if not NESTED.search(text) and "(" in text and BODY_FOLLOWS.search(text) and not is_member_initialiser:
                yield True, text
                text = ""
            elif NESTED.search(text):
                text = "NESTED "
            at = end
        at += 1


def sizes(body):
    functions = members = 0
    for has_body, text in declarations(body):
        text = re.sub(r"\b(public|private|protected)\s*:", "", text).strip()
        text = without_angles(re.sub(r"^template\s*<", "template <", text)).replace("template ", "", 1).strip()
        if not text or text.startswith(LEFT_OUT) or re.search(r"=\s*(default|delete)\s*$", text):
            continue
        if "NESTED" in text and not re.search(r"NESTED\s+\w", text):
            continue
        head = text if "operator" in text else text.split("=")[0]
        if has_body or "operator" in head or re.search(r"[\w&*\])]\s*\(", head):
            functions += 1
        elif not re.search(r"\bstatic\b", text):
            members += 1 + head.count(",")
    return functions, members


def classes(source, outer=""):
    """(keyword, name, functions, members) of every class and struct."""
    source, at = without_comments_and_texts(source), 0
    while found := HEAD.search(source, at):
        if re.search(r"\benum\s+$", source[max(0, found.start() - 10):found.start()]):
            at = found.end()
            continue
        end = end_of_braces(source, found.end() - 1)
        body = source[found.end():end]
        yield (found.group(1), outer + found.group(2), *sizes(body))
        yield from classes(body, outer + found.group(2) + "::")
        at = end
