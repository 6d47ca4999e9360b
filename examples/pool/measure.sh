#!/bin/sh
# The strength of an adhesive by the name of its formulation, in MPa. A laboratory would be asked here.
sleep 0.05
LC_ALL=C awk -F, -v name="$1" '
  $1 == name {
    resin = $2 / 100; hardener = $3 / 100; filler = $4 / 100
    cured = 4 * resin * hardener                    # resin sets with as much hardener
    packed = exp(-((filler - 0.25) / 0.15) ^ 2)     # some filler makes it tough, more makes it brittle
    printf "%.6f\n", 5 + 20 * cured + 30 * packed * cured + 3 * resin * filler
    found = 1
  }
  END { if (!found) { print "no formulation " name > "/dev/stderr"; exit 1 } }
' "$(dirname "$0")/pool.csv"
