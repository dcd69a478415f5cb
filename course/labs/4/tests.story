# The tests of lab 4 that students can see.

NAME answer.txt has a seed, and how many of 1000 letters are lost
ID answer
POINTS 2
SMP 2
RUN insmod work do=post,{answer.seed},1000
ANSWER lost {work.lost} how many of 1000 letters are lost with your seed
READ introduction, "Which letters?"

NAME with lab4, {n}000 letters arrive
ID repair
POINTS 4
SMP 2
DRAW n 10 14
RUN insmod lab4
RUN insmod work do=post,{answer.seed},{n}000
RUN rmmod lab4
TRUE lost 0 letters are lost
READ introduction, "A handler that changes something"
