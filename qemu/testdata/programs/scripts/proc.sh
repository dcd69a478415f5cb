# What a program finds about itself in /proc, as far as it does not depend on the kernel.
script=$PWD/$0
readlink /proc/self/exe
cd /usr/bin && readlink /proc/self/cwd && cd /proc/self/cwd && pwd -P
cat /proc/self/comm
tr '\0' ' ' </proc/self/cmdline && echo
env -i A=1 B=2 /usr/bin/cat /proc/self/environ | tr '\0' ' ' && echo
head -c 16 /proc/self/auxv | od -An -t u8 | wc -w
read -r pid rest </proc/$$/stat && [ "$pid" = $$ ] && echo "$rest" | cut -d' ' -f1
cut -d' ' -f 3 /proc/self/stat
wc -w </proc/$$/stat
trap '' HUP INT QUIT # or the host's may be ignored, and ours not
grep -E '^(Name|Threads|Uid):' /proc/self/status
# without signal 32, which make ignores in what it starts, with some versions of libc
ignored=$(grep SigIgn: /proc/self/status)
echo "SigIgn ${ignored#"${ignored%???????}"}"
[ "$(grep ^PPid: /proc/self/status | cut -f 2)" = $$ ] && echo "the parent"
grep -c 'r-xp.*/libc.so.6$' /proc/self/maps
(tail -n 1 /proc/self/fd/0) <"$script" | cut -c 1-20
echo piped | cat /dev/stdin
echo "to a file" | tee /dev/fd/3 3>/tmp/proc.$$ >/dev/null && cat /tmp/proc.$$ && rm /tmp/proc.$$
sleep 1000 & kill -0 $! && cat /proc/$!/comm >/dev/null && echo "it runs"
{ kill $!; wait $!; } 2>/dev/null; cat /proc/$!/comm 2>/dev/null || echo "it is gone"
ls /proc/self/nothing 2>&1
for df in df "busybox df"; do
	$df -P /proc
	$df -P | busybox awk '$6 == "/" { print $6, ($2 > 0), ($4 > 0) }'
done
df --output=fstype,target /proc/self/fd /sys
busybox awk '$2 == "/proc" { print $1, $3, NF }' /proc/mounts
busybox awk '$5 == "/proc" { print $4, (NF > 8) }' /proc/self/mountinfo
grep -cE '^nodev.(proc|tmpfs)$' /proc/filesystems
