# The hidden tests of lab 8.

NAME right when several goroutines do it at once
ID several
POINTS 3
SMP 4
DRAW s 1 9999
PICK g 3 4 5
RUN measure insmod work do=ask,{answer.question},{s},3,{g}
RUN dmesg
AMOUNTS 25
READ introduction, "Is it right?"
