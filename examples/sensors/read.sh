#!/bin/sh
# Today's reading of a sensor in degrees, with an error of 0.2 that is another one in every trial: read.sh NAME TRIAL
sleep 0.05
LC_ALL=C awk -F, -v name="$1" -v trial="$2" '
  $1 == name {
    part = sin(12.9898 * (trial + 1)) * 43758.5453
    part -= int(part)
    if (part < 0) part += 1
    printf "%.4f\n", $2 + 0.2 * sqrt(12) * (part - 0.5)
    found = 1
  }
  END { if (!found) { print "no sensor " name > "/dev/stderr"; exit 1 } }
' "$(dirname "$0")/today.csv"
