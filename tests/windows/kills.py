"""Writing programs that are ended hard, thirty times: what they had committed is there."""

from __future__ import annotations

import json
import sys

from tests.faults.kills import run

KILLS = {"streaming": 15, "writing": 15}


def main() -> int:
    told: list[str] = []
    rows = [run(kind, count, seed=count, tell=told.append) for kind, count in KILLS.items()]
    lost = sum(row.lost for row in rows)
    survived, tried = sum(row.survived for row in rows), sum(row.tried for row in rows)
    committed = sum(row.committed for row in rows)
    right = survived == tried and not lost and committed > 0
    said = f"{survived} of {tried} homes open, {lost} of {committed} letters lost"
    print(json.dumps([right, said + "".join(f"; {one}" for one in told)]))
    return int(not right)


if __name__ == "__main__":
    sys.exit(main())
