#!/bin/sh
# A worker that is a shell script: leasectl work --name Rank -- ./rank.sh
# LEASECTL_STREAM, LEASECTL_EVENT, LEASECTL_OWNER and LEASECTL_FENCE are set, so leasectl itself needs no flags.
set -eu

leasectl event touch "$LEASECTL_STREAM" "$LEASECTL_EVENT" -q > /dev/null
echo "msg=ranked by $LEASECTL_OWNER" >> "$LEASECTL_OUTPUT"
