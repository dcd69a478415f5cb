sonde# help grep
usage: grep [-civn] text [file...]
print the lines that hold a text (^ and $ tie it to the ends; -i: in any case, -v: that do not, -c: count, -n: number)
sonde# help nothing
help: no command nothing
(status 1)
sonde# echo 'alpha\nx' | cat
alpha\nx
sonde# sysctl -a | grep -n kernel
2:kernel.panic = 5
sonde# help | grep ^ls
ls         list directories (-l: with mode, size and time; -d: themselves)
lscpu      tell about the processors
lsmod      list the loaded modules (-a: all there are)
sonde# help | grep -i -c CPU$
0
(status 1)
sonde# help | grep -v a | head -n 2
echo       print words (-n: without newline)
free       show memory in kB (-b: bytes, -m: MB, -h: for people)
sonde# ls /proc | tail -2
uptime
version
sonde# echo a b c | wc -w
3
sonde# head -n x /proc/version
head: "x" is no number of lines
usage: head [-n lines] [file...]
(status 2)
sonde# grep
grep: no text given
usage: grep [-civn] text [file...]
(status 2)
sonde# history | tail -1
   12  history | tail -1
