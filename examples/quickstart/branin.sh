#!/bin/sh
# The Branin function of two numbers. Its smallest value is 0.397887; the sleep stands for work.
sleep 0.1
LC_ALL=C awk -v x="$1" -v y="$2" 'BEGIN {
  pi = atan2(0, -1)
  slope = y - 5.1 / (4 * pi * pi) * x * x + 5 / pi * x - 6
  printf "%.12g\n", slope * slope + 10 * (1 - 1 / (8 * pi)) * cos(x) + 10
}'
