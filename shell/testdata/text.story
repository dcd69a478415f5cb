sonde# help grep
usage: grep [-EFceinoqv] [-A lines] pattern [file...]
print the lines that match a basic regular expression, in which (* is text, as in names of methods (-E: an extended one, -F: plain text, -i: ignore case, -v: lines that do not match, -c: count, -n: with numbers, -o: only what matches, -A: also so many lines after it, -q: print nothing)
sonde# help nothing
help: no command, program or purpose nothing
(status 1)
sonde# echo 'alpha\nx' | cat
alpha\nx
sonde# sysctl -a | grep -v random | grep -v file-nr | grep -n kernel
10:kernel.bpf_memory = 67108864
11:kernel.bpf_unsafe = 0
12:kernel.cap_last_cap = 40
13:kernel.core_pattern = core
14:kernel.core_uses_pid = 0
15:kernel.domainname = (none)
16:kernel.hostname = sonde
17:kernel.kptr_restrict = 0
18:kernel.osrelease = 6.1.0-sonde
19:kernel.ostype = Linux
20:kernel.panic = 5
21:kernel.perf_event_max_sample_rate = 100000
22:kernel.perf_event_paranoid = 2
23:kernel.pid_max = 4194304
24:kernel.sched_rr_timeslice_ms = 100
25:kernel.tainted = 0
26:kernel.unprivileged_bpf_disabled = 2
27:kernel.version = 
sonde# help kernel | grep ^un
uname      print the name of the system (-a: everything about it)
sonde# help files | grep -i -c CPU$
0
(status 1)
sonde# help board | grep -v a | head -n 2
lscpu      show the processors
sonde# ls /proc | tail -2
uptime
version
sonde# echo a b c | wc -w
3
sonde# head -n x /proc/version
head: "x" is not a number of lines
usage: head [-n lines | -c bytes] [file...]
(status 2)
sonde# grep
grep: no pattern given
usage: grep [-EFceinoqv] [-A lines] pattern [file...]
(status 2)
sonde# history | tail -1
   12  history | tail -1
sonde# sysclt -a
sysclt: command not found (did you mean sysctl?)
(status 127)
sonde# sysctl kernel.panik
sysctl: there is no parameter kernel.panik (did you mean kernel.panic?)
(status 1)
sonde# help grpe
help: no command, program or purpose grpe (did you mean grep?)
(status 1)
sonde# cat --help
usage: cat [file...]
print files, or the input of a pipe
sonde# echo --help
--help
sonde# repeat 3 echo 'a  b'
a  b
a  b
a  b
sonde# repeat 2 'echo x | wc -c; false'
2
(status 1)
sonde# repeat 2 'echo y' | wc -l
2
sonde# repeat x true
repeat: "x" is not a count
usage: repeat count command... | count 'script'
(status 2)
sonde# watch -c 2 -n 0.1 echo hi
[H[2JEvery 0.1s: echo hi

hi
[H[2JEvery 0.1s: echo hi

hi
sonde# watch true
watch: give -c COUNT: without a terminal, nobody can type ^C
usage: watch [-n seconds] [-c count] command... | 'script'
(status 2)
sonde# echo 'hello, world of bytes' | hexdump -C
00000000  68 65 6c 6c 6f 2c 20 77  6f 72 6c 64 20 6f 66 20  |hello, world of |
00000010  62 79 74 65 73 0a                                 |bytes.|
sonde# echo 'hello, world of bytes' | hexdump -s 7 -n 5
00000000  77 6f 72 6c 64                                    |world|
sonde# echo x | hexdump -n -1
hexdump: "-1" is not a number of bytes
usage: hexdump [-C] [-n bytes] [-s skip] [file...]
(status 2)
sonde# sysctl -a | grep -v random | grep -v file-nr | more
debug.kprobes-optimization = 1
fs.file-max = 65536
fs.inotify.max_queued_events = 16384
fs.inotify.max_user_instances = 128
fs.inotify.max_user_watches = 65536
fs.lease-break-time = 45
fs.nr_open = 1048576
fs.pipe-max-size = 1048576
fs.pipe-user-pages-soft = 4096
kernel.bpf_memory = 67108864
kernel.bpf_unsafe = 0
kernel.cap_last_cap = 40
kernel.core_pattern = core
kernel.core_uses_pid = 0
kernel.domainname = (none)
kernel.hostname = sonde
kernel.kptr_restrict = 0
kernel.osrelease = 6.1.0-sonde
kernel.ostype = Linux
kernel.panic = 5
kernel.perf_event_max_sample_rate = 100000
kernel.perf_event_paranoid = 2
kernel.pid_max = 4194304
kernel.sched_rr_timeslice_ms = 100
kernel.tainted = 0
kernel.unprivileged_bpf_disabled = 2
kernel.version = 
sonde# dmesg -w
dmesg: -w and -W need a terminal, where ^C can be typed
usage: dmesg [-cCpwW] [-l level] [-n level]
(status 2)
sonde# help board | head -n 1
lscpu      show the processors
sonde# help | tail -n 3
script   sh . source eval exec command type cd pwd set unset shift read test [
         printf trap break continue return :
help probe: a line about each. help explain: all about one. Tab completes.
sonde# echo abc | grep -q b && echo it is there
it is there
sonde# echo abc | grep -q d
(status 1)
sonde# for i in 2 3 7 12 15 25; do echo $i; done > /tmp/seq; grep '12\|^3$' /tmp/seq
3
12
sonde# grep -c '1.' /tmp/seq
2
sonde# grep -E '^(1|2)5$|7' /tmp/seq
7
15
25
sonde# grep -iE 'SEQ|x{3}' /tmp/seq; echo 'xXx)(' | grep -icE 'x{3}'; echo 'xXx)(' | grep -c ')('
1
1
sonde# grep -E '(' /tmp/seq
grep: error parsing regexp: missing closing ): `(`
usage: grep [-EFceinoqv] [-A lines] pattern [file...]
(status 2)
sonde# head -c 5 /tmp/seq; echo; head -c3 /tmp/seq; echo abc | head -c 100; head -c -1 /tmp/seq
2
3
7
2
3abc
head: "-1" is not a number of bytes
usage: head [-n lines | -c bytes] [file...]
(status 2)
sonde# rm /tmp/seq
