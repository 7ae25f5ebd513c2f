"""Claims of the papers: tests/validation/claims.yaml, and the page and the table that are made of it."""
import dataclasses
import re

import yaml

FILE = "tests/validation/claims.yaml"
# By verdict, the sign unless a claim says its own; the order is that of the tables.
VERDICTS = {"held": "same", "in sign": "same", "in part": "partly", "differs": "differs", "not measured": "-"}
SIGNS = ("same", "partly", "differs", "-")


class WrongClaim(Exception):
    """The file says what it cannot mean."""


@dataclasses.dataclass(frozen=True)
class Claim:
    id: str
    claim: str
    verdict: str
    paper: str = ""
    here: str = ""
    sign: str = ""
    cause: str = ""
    command: str = ""

    def __post_init__(self):
        def wrong(why):
            raise WrongClaim(f"{FILE}: {self.id}: {why}")

        if self.verdict not in VERDICTS:
            wrong(f"no verdict is called '{self.verdict}': {', '.join(VERDICTS)}")
        if self.sign not in ("", *SIGNS):
            wrong(f"no sign is called '{self.sign}': {', '.join(SIGNS)}")
        if (self.verdict == "not measured") == bool(self.here):
            wrong("a claim has a figure of ours if it is measured, and only then")
        if self.verdict in ("in sign", "in part", "differs") and not self.cause:
            wrong("a difference has a cause, if only 'not known'")
        if re.search(r"[.;:] [A-Z]", self.cause) or self.cause.endswith("."):
            wrong("a cause is one sentence without a full stop")
        if any("|" in getattr(self, field.name) for field in dataclasses.fields(self)):
            wrong("'|' ends a cell of a table")

    def shown_sign(self):
        return self.sign or VERDICTS[self.verdict]


@dataclasses.dataclass(frozen=True)
class Chapter:
    title: str
    page: str
    paper: str
    command: str
    claims: tuple


def load(root):
    """The chapters with their claims, in the file's order."""
    text = (root / FILE).read_text(encoding="utf-8")
    chapters, seen = [], set()
    for chapter in yaml.safe_load(text):
        claims = []
        for given in chapter.pop("claims"):
            try:
                claims.append(Claim(**given))
            except TypeError as error:
                raise WrongClaim(f"{FILE}: {given.get('id', given)}: {error}") from error
            if claims[-1].id in seen:
                raise WrongClaim(f"{FILE}: {claims[-1].id} stands there twice")
            seen.add(claims[-1].id)
        chapters.append(Chapter(claims=tuple(claims), **chapter))
    return chapters


def verdict_table(chapters):
    """How many claims of each chapter stand where: their names."""
    lines = ["| | " + " | ".join(VERDICTS) + " |", "|---|" + "---|" * len(VERDICTS)]
    counts = dict.fromkeys(VERDICTS, 0)
    for chapter in chapters:
        names = {verdict: [] for verdict in VERDICTS}
        for claim in chapter.claims:
            names[claim.verdict].append(claim.id)
            counts[claim.verdict] += 1
        cells = (", ".join(names[verdict]) or "-" for verdict in VERDICTS)
        lines.append(f"| [{chapter.title}]({chapter.page}.md) | " + " | ".join(cells) + " |")
    lines.append(f"| **{sum(counts.values())} claims** | " + " | ".join(map(str, counts.values())) + " |")
    return "\n".join(lines) + "\n"


HEAD = """# Claims of the five papers

This page lists each claim of the papers beside what was found here. It is generated (`jobs/manual/trust.py`) from
`tests/validation/claims.yaml`. The page of each chapter has the tables that the figures come from, and the commits at
which they were measured. The last column has the command that measures a claim, if it is not the one above the table.

- *Held*: as the paper says, in sign and about in size.
- *In sign*: the same winner, by less or by more.
- *In part*: for some of what the claim covers.
- *Differs*: another sign or order, or, where there is no sign (-), another size.
"""


def claims_page(chapters):
    lines = [HEAD]
    for chapter in chapters:
        lines += [f"## {chapter.title}", "", f"[{chapter.title}]({chapter.page}.md): {chapter.paper}.", "",
                  f"    {chapter.command}", "",
                  "| | claim | the paper | here | sign | verdict | cause | command |", "|---" * 8 + "|"]
        for claim in chapter.claims:
            command = f"`{claim.command}`" if claim.command not in ("", chapter.command) else ""
            lines.append(f"| {claim.id} | {claim.claim} | {claim.paper} | {claim.here} | {claim.shown_sign()} | "
                         f"{claim.verdict} | {claim.cause} | {command} |")
        lines.append("")
    return "\n".join(lines)


def open_claims(chapters):
    """Rows of the claims that do not hold, or hold in part."""
    for chapter in chapters:
        for claim in chapter.claims:
            if claim.verdict in ("differs", "in part"):
                name = f"[{chapter.title}](validation/{chapter.page}.md) {claim.id}"
                yield f"| {name} | {claim.claim} | {claim.paper} | {claim.here} | {claim.verdict} | {claim.cause} |"
