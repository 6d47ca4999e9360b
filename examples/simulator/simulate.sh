#!/bin/sh
# A cantilever of steel, 1 m long, with 10 kN at its end: its mass in kg plus how far it bends in mm.
# As simulators do, it writes files where it runs, cannot do some designs, and now and then fails or hangs for no reason.
set -eu
trial=${MANYHANDS_TRIAL:-0}
attempt=$(basename "$PWD")  # a trial's folder has one folder for each attempt: 1, 2, ...

printf 'width_mm %s\nheight_mm %s\n' "$1" "$2" > input.txt
if [ "$attempt" = 1 ] && [ $((trial % 7)) = 3 ]; then
  echo "licence server did not answer" >&2
  exit 1
fi
if [ "$attempt" = 1 ] && [ $((trial % 13)) = 5 ]; then
  echo "waiting for the licence server" >&2
  sleep 60
fi
sleep 0.1
LC_ALL=C awk -v b="$1" -v h="$2" 'BEGIN {
  if (b < 13) { print "mesh is degenerate: width " b " mm is below 13 mm" > "/dev/stderr"; exit 1 }
  b /= 1000; h /= 1000
  mass = 7850 * b * h
  bending = 1000 * 1e4 * 12 / (3 * 2.1e11 * b * h * h * h)
  printf "mass_kg %.6f\nbending_mm %.6f\n", mass, bending > "result.txt"
  printf "{\"value\": %.9g, \"mass\": %.6g, \"bending\": %.6g}\n", mass + bending, mass, bending
}'
