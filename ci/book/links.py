"""Checks links of the documents: every link leads to an existing file and to a heading in it, the guide's list of contents
has each chapter once, each chapter ends with links to its neighbours, and the programs of chapters are tests.
Checks pages that rustdoc has built as well.

usage: ci/book/links.py [--bless] [--rustdoc DIRECTORY] [--stage DIRECTORY] [--built DIRECTORY]
  --bless     rewrites the last line of each chapter
  --rustdoc   checks the pages of the library, too, which were built there
  --stage     writes the guide and the pages beside it as one book there, for mdBook
  --built     checks the pages of the book, too, which was built there
"""

import argparse
import html.parser
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs/guide/src"
# Documents that follow the guide in the book, in this order.
BESIDE = ["docs/from-openshmem.md", "docs/performance.md", "docs/fabrics.md", "docs/scale.md", "docs/design.md",
          "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md"]
# Crates whose pages users read.
CRATES = ["shmem"]

LINK = re.compile(r"(?<!\\)(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s]+)\)")
FOOTER = re.compile(r"\n---\n\n(?:\[← [^\n]*|\[Contents\][^\n]*)\n\Z")

faults: list[str] = []


def relative(path: pathlib.Path) -> str:
    return os.path.relpath(path, ROOT)


def prose(text: str) -> str:
    """Returns the text with the same length, in which code is blanked out."""
    lines, fence = [], None
    for line in text.split("\n"):
        mark = re.match(r"\s*(```+|~~~+)", line)
        if fence is None and mark:
            fence = mark[1]
            lines.append(" " * len(line))
        elif fence is not None:
            if mark and line.strip() == fence:
                fence = None
            lines.append(" " * len(line))
        else:
            lines.append(re.sub(r"`[^`]*`", lambda span: "`" + "x" * (len(span[0]) - 2) + "`", line))
    return "\n".join(lines)


def anchors(text: str) -> list[str]:
    """Returns the anchors of the headings, as GitHub and mdBook make them."""
    names: list[str] = []
    for readable, line in zip(prose(text).split("\n"), text.split("\n")):
        heading = re.match(r"#{1,6} +(.*?)#* *$", line)
        if heading and readable.strip():
            title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1]).strip().lower()
            name = re.sub(r"[^\w\- ]", "", title).replace(" ", "-")
            same = sum(1 for other in names if other == name or re.fullmatch(re.escape(name) + r"-\d+", other))
            names.append(f"{name}-{same}" if same else name)
    return names


def links(text: str) -> list[re.Match]:
    """Returns the links of a text. Group 3 of each match is the address."""
    return list(LINK.finditer(prose(text)))


def documents() -> list[pathlib.Path]:
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"], cwd=ROOT,
                            capture_output=True, text=True, check=True).stdout.splitlines()
    # Files that doc comments include are checked as rustdoc shows them.
    return [ROOT / name for name in listed if (ROOT / name).is_file() and "/src/" not in name.replace("docs/guide/src", "")]


def check_documents(pages: list[pathlib.Path]) -> int:
    texts = {page: page.read_text() for page in pages}
    count = 0
    for page, text in texts.items():
        for found in links(text):
            count += 1
            link, number = found[3], text.count("\n", 0, found.start()) + 1
            where, _, heading = urllib.parse.unquote(link).partition("#")
            if re.match(r"[a-z]+:", where):
                continue
            target = (page.parent / where).resolve() if where else page
            said = f"{relative(page)}:{number}: {link}"
            if not target.exists():
                faults.append(f"{said}: there is no {relative(target)}")
            elif not target.is_relative_to(ROOT):
                faults.append(f"{said}: leads out of the repository")
            elif heading and target.suffix == ".md" and heading not in anchors(texts.get(target) or target.read_text()):
                faults.append(f"{said}: {relative(target)} has no such heading")
    return count


def chapters() -> list[tuple[str, pathlib.Path]]:
    """Returns the title and the file of each chapter, in the order of the list of contents."""
    summary = GUIDE / "SUMMARY.md"
    listed = re.findall(r"\[([^\]]+)\]\(([^)]+)\)", summary.read_text())
    names = [name for _, name in listed]
    there = sorted(path.name for path in GUIDE.glob("*.md") if path.name != "SUMMARY.md")
    for name in there:
        if names.count(name) != 1:
            faults.append(f"{relative(summary)}: {name} is listed {names.count(name)} times")
    found = [(title, GUIDE / name) for title, name in listed if name in there]
    tests = ROOT / "examples/src/documents.rs"
    for _, path in found:
        if f'"../../{relative(path)}"' not in tests.read_text():
            faults.append(f"{relative(tests)}: has not {relative(path)}, so its programs are not compiled")
    for title, path in found:
        heading = path.read_text().split("\n", 1)[0]
        if heading != f"# {title}":
            faults.append(f"{relative(path)}:1: is called `{title}` in the list of contents, and begins with `{heading}`")
    return found


def check_footers(found: list[tuple[str, pathlib.Path]], bless: bool) -> None:
    for i, (_, path) in enumerate(found):
        ways = []
        if i > 0:
            ways.append(f"[← {found[i - 1][0]}]({found[i - 1][1].name})")
        ways.append("[Contents](SUMMARY.md)")
        if i + 1 < len(found):
            ways.append(f"[{found[i + 1][0]} →]({found[i + 1][1].name})")
        text = path.read_text()
        whole = FOOTER.sub("", text).rstrip() + "\n\n---\n\n" + " · ".join(ways) + "\n"
        if text != whole and bless:
            path.write_text(whole)
        elif text != whole:
            faults.append(f"{relative(path)}: does not end with the way to the next chapter: run ci/book.sh --bless")


def stage(found: list[tuple[str, pathlib.Path]], place: pathlib.Path) -> None:
    """Writes the sources of the book for mdBook: the guide, its pictures, and the documents beside it, in one folder."""
    shutil.rmtree(place, ignore_errors=True)
    (place / "src").mkdir(parents=True)
    for name in ("book.toml", "book.css"):
        shutil.copy(GUIDE.parent / name, place)
    shutil.copytree(GUIDE / "pictures", place / "src/pictures")
    names = {path: path.name for _, path in found}
    names |= {ROOT / name: pathlib.Path(name).name for name in BESIDE}

    def moved(page: pathlib.Path, link: str) -> str | None:
        where, mark, heading = link.partition("#")
        if not where or re.match(r"[a-z]+:", where):
            return link
        target = (page.parent / where).resolve()
        if target in names:
            return names[target] + mark + heading
        if target.is_relative_to(GUIDE):
            return link
        # A file of the sources is not in the book, so its link becomes plain text.
        return None

    for page, name in names.items():
        text = FOOTER.sub("\n", page.read_text())
        for found in reversed(links(text)):
            link, said = moved(page, found[3]), text[slice(*found.span(2))]
            text = text[: found.start()] + (f"{found[1]}[{said}]({link})" if link else said) + text[found.end() :]
        (place / "src" / name).write_text(text)
    summary = (GUIDE / "SUMMARY.md").read_text()
    beside = [f"- [{(ROOT / name).read_text().split(chr(10), 1)[0].removeprefix('# ')}]({pathlib.Path(name).name})"
              for name in BESIDE]
    # mdBook accepts chapters without a number at the very end only.
    front, _, last = summary.partition("\n---\n\n")
    (place / "src/SUMMARY.md").write_text("\n".join([front, "# Beside the guide\n", *beside, "\n---\n", last]))


class Page(html.parser.HTMLParser):
    """The links of a page, and the places in it that links can name."""

    def __init__(self, path: pathlib.Path):
        super().__init__(convert_charrefs=True)
        self.links: list[str] = []
        self.names: set[str] = set()
        # Items that are shown elsewhere have a page that leads there.
        self.elsewhere: pathlib.Path | None = None
        self.path = path
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        meta = dict(attributes)
        if tag == "meta" and meta.get("http-equiv") == "refresh":
            there = (meta["content"] or "").partition("URL=")[2].partition("#")[0]
            self.elsewhere = pathlib.Path(os.path.normpath(self.path.parent / urllib.parse.unquote(there)))
        for key, value in attributes:
            if key in ("href", "src") and value and tag in ("a", "img"):
                self.links.append(value)
            elif key in ("id", "name") and value:
                self.names.add(value)


def check_built(place: pathlib.Path, folders: list[str]) -> int:
    """Checks links between built pages, and returns their number."""
    pages: dict[pathlib.Path, Page] = {}

    def page(path: pathlib.Path) -> Page:
        if path not in pages:
            pages[path] = Page(path)
        there = pages[path].elsewhere
        return page(there) if there and there != path and there.is_file() else pages[path]

    count = 0
    for folder in folders:
        for path in sorted((place / folder).rglob("*.html")):
            pages.setdefault(path, Page(path))
            for link in pages[path].links:
                where, _, heading = link.partition("#")
                # In documentation of other crates, rustdoc may leave `Type::name` unresolved.
                if re.match(r"[a-z]+:|\w+::", where):
                    continue
                count += 1
                where = urllib.parse.unquote(where)
                named = {heading, urllib.parse.unquote(heading)}
                target = pathlib.Path(os.path.normpath(path.parent / where)) if where else path
                said = f"{path.relative_to(place)}: {link}"
                if not target.is_relative_to(place):
                    faults.append(f"{said}: leads out of the documentation")
                elif not target.exists():
                    faults.append(f"{said}: there is no such page")
                # A script names the lines of sources, and signatures link to associated types that are hidden.
                elif target.suffix == ".html" and heading and not re.fullmatch(r"[\d-]+|associatedtype\..*", heading) and not named & page(target).names:
                    faults.append(f"{said}: there is no such place in that page")
    return count


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--bless", action="store_true")
    arguments.add_argument("--stage", type=pathlib.Path)
    arguments.add_argument("--rustdoc", type=pathlib.Path)
    arguments.add_argument("--built", type=pathlib.Path)
    asked = arguments.parse_args()
    found = chapters()
    check_footers(found, asked.bless)
    pages = documents()
    print(f"{check_documents(pages)} links of {len(pages)} documents, {len(found)} chapters")
    if asked.rustdoc:
        print(f"{check_built(asked.rustdoc, CRATES)} links of the library's documentation")
    if asked.built:
        print(check_built(asked.built, ["."]), "links of the book")
    if asked.stage:
        stage(found, asked.stage)
    if faults:
        print("\n".join(faults))
        sys.exit(1)


main()
