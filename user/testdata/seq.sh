seq 3 | while read n; do echo "<$n>"; done; seq 2 5; seq 10 -4 0
