# What bash has that other shells have not.
list=(one two three)
declare -A table=([x]=1 [y]=2)
echo "${list[@]:1} ${#list[@]} ${table[y]} ${list[0]^^}"
for ((i = 0; i < 3; i++)); do printf '%s,' $((i ** 2)); done
echo
[[ "key=value" =~ ^([a-z]+)=(.*)$ ]] && echo "${BASH_REMATCH[2]} ${BASH_REMATCH[1]}"
cat <<<"here"
cat <<END
$(echo nested $(echo twice))
END
diff <(seq 3) <(seq 4)
while read -r a b; do echo "$b $a"; done < <(printf '1 2\n3 4\n')
sum=0
seq 1 100 | { while read -r n; do ((sum += n)); done; echo $sum; }
f() { local x=$1; ((x <= 1)) && echo 1 || echo $((x * $(f $((x - 1))))); }
f 6
trap 'echo "signal"' USR1
kill -USR1 $BASHPID
(sleep 0.05; exit 3) & wait $!
echo "waited $?"
{ sleep 1000 & kill -KILL $!; wait $!; } 2>/dev/null
echo "killed $?"
coproc cat
echo "through a process" >&"${COPROC[1]}"
read -r line <&"${COPROC[0]}"
echo "$line"
exec 5>/tmp/bash.$$ && echo five >&5 && exec 5>&- && cat /tmp/bash.$$ && rm /tmp/bash.$$
echo {a..e} {01..03} | { read -r x; echo "${x// /-}"; }
set -o pipefail
false | true
echo "pipe $?"
exit 9
