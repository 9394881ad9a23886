"""A worker in Python that needs only the standard library.

    leasectl work --name Search --stdin json -- python3 search.py

Exit code 0 completes the event; any other fails it with the last lines of stderr. Following events are written to the
file LEASECTL_OUTPUT.
"""

import json
import os
import sys

job = json.load(sys.stdin)
shop = job["event"]["key"]
if not shop:
    sys.exit("no shop to search: the event has no key")

found = len(shop)

with open(os.environ["LEASECTL_OUTPUT"], "a", encoding="utf-8") as output:
    if found > 4:
        print("next=Rank", file=output)
        # The key stays the same if this attempt runs again, so work stored under it need not be repeated.
        print("ref=results/" + os.environ["LEASECTL_ATTEMPT_KEY"], file=output)
    print(f"msg={found} offers of {shop}", file=output)
