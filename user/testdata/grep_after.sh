seq 30 | grep -A2 '[27]$'; seq 30 | grep -n -A 1 5; seq 30 > x; seq 9 > y; grep -A1 7 x y; grep -n -A0 7 x y; echo aXbXc | grep -o '[abc]'; seq 30 | grep -no 2; seq 5 | grep -vo 3; grep -o 1 x y; seq 12 | grep -c -A1 2; echo abc | grep -o 'x*'; echo $?; seq 9 | grep -v -A1 '[2-8]'
echo abab | grep -oE 'a|ab' # the longest, not the first
