#!/usr/bin/env python3
"""Compares the packages of a workspace with deny.toml: licences, sources, duplicates. Does nothing else that
cargo-deny does.

usage: cargo metadata --format-version 1 --all-features | ci/deny.py DENY_TOML CARGO_LOCK
"""

import json
import re
import sys
import tomllib


def permits(expression, allowed):
    """Whether an SPDX expression can be fulfilled by allowed licences."""
    words = re.findall(r"[()]|[^\s()]+", expression.replace("/", " OR "))

    def either():
        fulfilled = both()
        while words and words[0] == "OR":
            words.pop(0)
            other = both()
            fulfilled = fulfilled or other
        return fulfilled

    def both():
        fulfilled = one()
        while words and words[0] == "AND":
            words.pop(0)
            other = one()
            fulfilled = fulfilled and other
        return fulfilled

    def one():
        word = words.pop(0)
        if word == "(":
            fulfilled = either()
            words.pop(0)
            return fulfilled
        if words and words[0] == "WITH":
            word = f"{word} WITH {words[1]}"
            del words[:2]
        return word in allowed

    return either()


def is_of(version, wanted):
    return version == wanted or version.startswith(wanted + ".")


def faults(deny, lock, packages):
    allowed = set(deny["licenses"]["allow"])
    registries = {"registry+" + registry for registry in deny["sources"]["allow-registry"]}
    for package in packages:
        name = f"{package['name']} {package['version']}"
        source = package["source"]
        if source is not None and source not in registries:
            yield f"{name} comes from {source}, which is no registry of deny.toml"
        if not package["license"]:
            yield f"{name} says nothing of its licence"
        elif not permits(package["license"], allowed):
            yield f"{name} can be had under {package['license']} only: deny.toml allows {', '.join(sorted(allowed))}"
    for package in lock["package"]:
        if "source" in package and "checksum" not in package:
            yield f"{package['name']} {package['version']} has no checksum in Cargo.lock"
    skipped = deny["bans"]["skip"]
    versions = {}
    for package in packages:
        is_skipped = any(s["name"] == package["name"] and is_of(package["version"], s["version"]) for s in skipped)
        if not is_skipped:
            versions.setdefault(package["name"], set()).add(package["version"])
    for name, found in sorted(versions.items()):
        if len(found) > 1:
            yield f"{name} is there in {len(found)} versions: {', '.join(sorted(found))}"
    for skip in skipped:
        if not any(p["name"] == skip["name"] and is_of(p["version"], skip["version"]) for p in packages):
            yield f"deny.toml excepts {skip['name']} {skip['version']}, which is not there any more"


def main():
    with open(sys.argv[1], "rb") as file:
        deny = tomllib.load(file)
    with open(sys.argv[2], "rb") as file:
        lock = tomllib.load(file)
    packages = json.load(sys.stdin)["packages"]
    found = list(faults(deny, lock, packages))
    for fault in found:
        print(fault)
    if not found:
        print(f"{len(packages)} packages: licences, sources and versions are as deny.toml allows them")
    sys.exit(bool(found))


main()
