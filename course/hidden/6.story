# The hidden tests of lab 6.

NAME three CPUs, with interrupts between the two instructions
ID three
POINTS 3
RUN host 3 interrupts
TRUE wrong nothing that can go wrong
READ introduction, "Standing inside"

NAME no step can be left out
ID needless
POINTS 2
RUN host needless
TRUE wrong nothing that can go wrong
TRUE needless 0 steps could be left out
READ introduction, "Is each step needed?"

NAME costs.txt: what a hit costs, in instructions
ID costs
POINTS 2
COUNTED yes
RUN insmod work do=cost,Letter,20000
RUN insmod lab6 symbol=load.Letter how=atomic
RUN sleep 0.3
RUN insmod work name=atomic do=cost,Letter,20000
RUN rmmod lab6
RUN insmod lab6 symbol=load.Letter how=percpu
RUN sleep 0.3
RUN insmod work name=percpu do=cost,Letter,20000
RUN rmmod lab6
NEAR atomic {work.atomic.cost} 20 instructions of a hit with how=atomic
NEAR percpu {work.percpu.cost} 20 instructions of a hit with how=percpu
READ introduction, "What does it cost?"
