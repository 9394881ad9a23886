"""A worker in Python, with nothing but its standard library.

    leasectl work --name Search --stdin json -- python3 search.py

Exit code 0 ends the event as completed, anything else as failed with the last lines of stderr. What follows is said in
the file LEASECTL_OUTPUT.
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
        # The same whenever this attempt of this event is made again: what stands under it need not be done twice.
        print("ref=results/" + os.environ["LEASECTL_ATTEMPT_KEY"], file=output)
    print(f"msg={found} offers of {shop}", file=output)
