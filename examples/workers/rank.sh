#!/bin/sh
# A shell script as a worker: leasectl work --name Rank -- ./rank.sh
# LEASECTL_STREAM, LEASECTL_EVENT, LEASECTL_OWNER and LEASECTL_FENCE are set, so calls of leasectl need no flags.
set -eu

leasectl event touch "$LEASECTL_STREAM" "$LEASECTL_EVENT" -q > /dev/null
echo "msg=ranked by $LEASECTL_OWNER" >> "$LEASECTL_OUTPUT"
