"""Package descriptions with grades between 0 and 1: how far the tags of two packages are the same.

Debian's packages have tags that people gave them (`use::editing`, `works-with::text`). Of these, the ones that say
what a package is for count, not those of how it is made: the facets in HOW are left out. The grade of a package for
another one's description is the share of common tags among the tags of both, in tenths; a package has grade 10 for
its own description.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "demo"))
import package_dataset  # noqa: E402

HOW = {"implemented-in", "interface", "made-of", "role", "scope", "special", "suite", "uitoolkit", "x11", "devel"}
LEAST_TAGS = 3
# The grades that a query has a document of besides its own package's, where there is one: from, below.
BANDS = ((7, 10), (5, 7), (3, 5), (1, 3))


def read_tags(index):
    """Package -> its tags, of all packages with enough of them."""
    tags = {}
    lists = package_dataset.index_files(index)
    for path in (path for kind, _, path in lists if kind == "Packages"):
        for fields in package_dataset.stanzas(path):
            said = {tag.strip() for tag in fields.get("Tag", "").replace("\n", " ").split(",")}
            counted = frozenset(tag for tag in said if tag and tag.split("::")[0] not in HOW)
            if len(counted) >= LEAST_TAGS:
                tags.setdefault(fields["Package"], counted)
    return tags


def grade(one, other):
    """Common tags among all tags of two packages, in tenths, rounded."""
    return round(10 * len(one & other) / len(one | other))


def judge(query, tags, holders, by_hash):
    """{package: grade as text} for the description of a package: itself, and one package for each band of
    grades. `holders` has the packages of each tag."""
    of_query = tags[query]
    near = by_hash({name for tag in of_query for name in holders[tag]} - {query})
    graded = {name: grade(of_query, tags[name]) for name in near}
    judged = {query: "10"}
    for low, high in BANDS:
        found = next((name for name in near if low <= graded[name] < high), None)
        if found is not None:
            judged[found] = str(graded[found])
    return judged


def judge_split(judged, tags, by_hash):
    """The judgements of a split by tags: of its queries whose package has tags, and of packages that
    the split's own queries are about, so that splits share no package's text but by chance of its tags."""
    own = {query: next(name for name, score in documents.items() if score == "2")
           for query, documents in judged.items()}
    able = {query: package for query, package in own.items() if package in tags}
    holders = {}
    for package in sorted(able.values()):
        for tag in tags[package]:
            holders.setdefault(tag, set()).add(package)
    found = {query: judge(package, tags, holders, by_hash) for query, package in able.items()}
    return {query: documents for query, documents in found.items() if len(documents) > 2}
