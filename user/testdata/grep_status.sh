seq 3 | grep 7; echo $?; seq 3 | grep 7 nosuchfile 2>/dev/null; echo $?; echo a.b axb | grep -F a.b; echo 1 > x; echo 1 > y; grep 1 x y
