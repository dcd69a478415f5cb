seq 20 | head; seq 20 | head -n 3; seq 20 | head -2; seq 20 | tail -n 2; printf 'no end' | tail -1; seq 20 | head -c 5; seq 20 | head -c7; echo; printf short | head -c 100
