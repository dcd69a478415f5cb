seq 30 | grep 1; seq 30 | grep -v '[0-8]'; seq 30 | grep -c 2; seq 30 | grep -n '^2.$'; echo ABC | grep -i b; seq 3 | grep -q 2 && echo found
