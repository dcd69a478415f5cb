# The hidden tests of lab 4.

NAME the cause
ID cause
POINTS 4
SMP 2
RUN insmod work do=post,{answer.seed},400
ANSWER function {fault.function} the function that loses letters
ANSWER line {fault.line} the line of the mistake
ANSWER cause {fault.cause} one of the three causes
ANSWER every {fault.every} of how many letters one is lost
ANSWER first {fault.first} the number of the first that is lost
READ introduction, "Who writes this?"

NAME nothing else is changed, on four CPUs
ID order
POINTS 2
SMP 4
RUN insmod lab4
RUN insmod work do=post,{answer.seed},4000
RUN insmod work name=probes do=probes
RUN rmmod lab4
RUN insmod work name=after do=probes
RUN dmesg
TRUE lost 0 letters are lost
TRUE disordered 0 letters out of order
TRUE changed 0 letters with another address or postmark
TRUE probes.unexplained 0 hits without an explanation
TRUE after.probes 0 probes are left after rmmod
EXPECT_NOT forgot .*, which is unregistered
READ introduction, "A handler that changes something"
