# Text through pipes, by coreutils, grep and gawk.
seq 1 20 | sort -rn | head -n 3 | tr '\n' ' '
echo
seq 1 2000 | tail -n 2 | tac | nl
printf 'b 2\na 1\nb 2\nc 3\n' | sort | uniq -c | sort -k1,1nr -k2
printf 'x:y:z\n' | cut -d: -f2,3 | tr yz YZ
seq 1 6 | paste - - - | tee /dev/stderr 2>/dev/null
printf 'abcdefgh' | fold -w 3 | od -An -c
printf 'hello' | base64 | base64 -d | md5sum
seq 1 50000 | sha256sum
head -c 1000000 /dev/zero | sha1sum
expr 6 \* 7
date -u -d @86400 +%F
env -i A=1 B=2 env | sort
printf 'alpha\nbeta\ngamma\n' | grep -n -E '^(a|g).*a$'
printf 'alpha\nbeta\n' | grep -c delta
seq 1 300 | grep -o '[0-9]*7$' | xargs echo | wc -w
seq 1 10 | gawk '{ s += $1; a[$1 % 3] = a[$1 % 3] " " $1 } END { print s; for (i = 0; i < 3; i++) print i a[i] }'
gawk 'BEGIN { while (("seq 5" | getline x) > 0) n += x; print n; print "3\n1\n2" | "sort"; close("sort"); printf "%.3f %s\n", atan2(0, -1), toupper("done") }'
yes | head -n 2
timeout 0.2 sleep 1000
echo $?
