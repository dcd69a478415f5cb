# The tests of lab 8 that students can see. Six more points are given by a person.

NAME the instrument begins and ends, and breaks no rule
ID builds
POINTS 2
SMP 2
DRAW s 1 9999
RUN measure insmod work do=ask,{answer.question},{s},1,1
RUN insmod work name=after do=probes
RUN dmesg
TRUE after.probes 0 probes are left
EXPECT_NOT may be abandoned
EXPECT_NOT forgot .*, which is unregistered
READ introduction, "An instrument"

NAME right on a workload whose answer is known
ID right
POINTS 3
SMP 2
DRAW s 1 9999
RUN measure insmod work do=ask,{answer.question},{s},4,1
RUN dmesg
AMOUNTS 25
READ introduction, "Is it right?"

NAME it costs no more than the report says
ID budget
POINTS 2
COUNTED yes
RUN insmod work name=before do=toll,{answer.question},40
RUN measure insmod work do=toll,{answer.question},40
BUDGET budget {work.toll} 20000
READ introduction, "What does it cost?"
