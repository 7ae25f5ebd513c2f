#!/usr/bin/python3
"""Whether what the code cites can be found: exits 1 and names file and citation if not.

What stands after `Source:` in a comment, also in an example of the manual, begins with a key of docs/references.md, a
page of docs/design/, a file of the repository, or an own choice.  Wherever a page of docs/design/ is named, in code,
configurations and documents, the sections, rules and quoted words behind its name stand in it.
"""
import argparse
import pathlib
import re
import sys

FOLDERS = ("core", "models", "partitioner", "jobs", "tests", "configs")
CODE = (".hpp", ".cpp", ".cc", ".py", ".yaml", ".cmake")
OWN = ("own choice", "our choice", "design of the project")
COMMENT = re.compile(r"(?:^[ \t]*(?://|#)[^\n]*\n)+|\"\"\".*?\"\"\"|(?://|#)[^\n]*\n", re.MULTILINE | re.DOTALL)
EXAMPLE = re.compile(r"^ *```cpp\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
PAGE = r"(?<![\w/])((?:\w+-)+\w+\.md|architecture\.md)"
NUMBER = r"\d+(?:\.\d+)*(?: to \d+(?:\.\d+)*)?"
LIST = rf"{NUMBER}(?:(?: *,(?: and)?| +and) +{NUMBER})*"


def comments(text):
    """The paragraphs of comments, each on one line."""
    for block in COMMENT.findall(text):
        lines = [re.sub(r"^\s*(?://[/<!]*|#) ?", "", line) for line in block.splitlines()]
        for paragraph in "\n".join(lines).split("\n\n"):
            yield re.sub(r"\s+", " ", paragraph)


def numbers(text):
    """2, 3 and 8 to 10 -> 2, 3, 8, 9, 10; 5.3.1 stays."""
    for first, last in re.findall(r"(\d+(?:\.\d+)*)(?: to (\d+))?", text):
        yield first
        if last:
            yield from map(str, range(int(first) + 1, int(last) + 1))


class Pages:
    def __init__(self, root):
        self.root = root
        self.text = {page.name: page.read_text(encoding="utf-8") for page in (root / "docs/design").glob("*.md")}
        references = (root / "docs/references.md").read_text(encoding="utf-8")
        first_cells = re.findall(r"^\| ([^|]+?) \|", references, re.MULTILINE)
        self.keys = [cell for cell in first_cells if cell != "key"]

    def knows(self, cited):
        """Whether words after `Source:` name something that can be looked up, or an own choice."""
        files = re.findall(r"[\w/]+/[\w.]+\.[a-z]+", cited)
        return any(key in cited for key in (*self.keys, *self.text, *OWN)) or any(
            (self.root / file).exists() for file in files)

    def lacks(self, name, rest):
        """What the words behind a page's name cite and the page does not have."""
        if name not in self.text:
            yield "no such page"
            return
        page = self.text[name]
        words = re.sub(r"\s+", " ", page).replace("`", "").lower()
        clause = re.sub(r"\([^)]*\)|\"[^\"]*\"", "", re.split(r"; |\. ", rest)[0])
        match = re.match(rf",? (?:sections? )?({LIST})", clause)
        for section in numbers(match[1]) if match else ():
            if not re.search(rf"^##+ {re.escape(section)}\.? ", page, re.MULTILINE):
                yield f"section {section}"
        rules = re.search(rf"^[^;.]*?rules? ({LIST})", rest)
        for rule in numbers(rules[1]) if rules else ():
            if not re.search(rf"^{rule}\. ", page, re.MULTILINE):
                yield f"rule {rule}"
        quoted = re.match(r"[^;.\"]*(?:\"[^\"]+\"[^;.\"]*)*", rest)[0]
        for quote in re.findall(r"\"([^\"]+)\"", quoted):
            if quote.replace("`", "").lower() not in words:
                yield f'"{quote}"'


def unresolved(root):
    """(file, what cannot be found) for every citation that does not resolve."""
    pages = Pages(root)
    files = [path for folder in FOLDERS for path in sorted((root / folder).rglob("*")) if path.suffix in CODE]
    for path in [*files, *sorted((root / "docs").rglob("*.md"))]:
        text = path.read_text(encoding="utf-8")
        for comment in comments(text) if path.suffix in CODE else [re.sub(r"\s+", " ", text)]:
            _, *found = re.split(PAGE, comment)
            for name, rest in zip(found[::2], found[1::2]):
                for missing in pages.lacks(name, rest):
                    yield path.relative_to(root), f"{name}: {missing}"
        code = text if path.suffix in CODE else "".join(re.findall(EXAMPLE, text))
        for comment in comments(code):
            for cited in re.findall(r"\bSources?: ([^;]{1,160})", comment):
                if not pages.knows(cited):
                    yield path.relative_to(root), cited


def main():
    parser = argparse.ArgumentParser(description="Whether what the code cites can be found.")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[1])
    found = list(unresolved(parser.parse_args().root))
    for path, what in found:
        print(f"{path}: cites {what}")
    print("citations: all resolve" if not found else f"citations: {len(found)} do not resolve")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
