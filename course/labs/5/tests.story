# The tests of lab 5 that students can see.

NAME tiers.txt, the first four places
ID ends
POINTS 1
PICK a load.placeShort+0x0 load.placeShort+0x5 load.placeLoop+0x0
PICK b load.placeLoop+0x12 cpu.Pause+0x0 load.placeShort+0x7
PICK c load.placeOwn+0x4 load.placeLoop+0x3 load.placeShort+0x2
PICK d trap.entryBP+0x0 kprobes.onBreakpoint+0x0
RUN insmod work do=tiers,{a},{b},{c},{d}
ANSWER {a} {work.tier1} how a probe at {a} is hit
ANSWER {b} {work.tier2} how a probe at {b} is hit
ANSWER {c} {work.tier3} how a probe at {c} is hit
ANSWER {d} {work.tier4} how a probe at {d} is hit
READ introduction, "What a jump takes"

NAME tiers.txt, four more
ID ways
POINTS 1
PICK a load.placeLoop+0x5 load.placeLoop+0x7 load.placeLoop+0xb
PICK b load.placeCall+0x2 load.placeCall+0x7 load.placeCall+0x9
PICK c load.placeOwn+0x7 load.placeOwn+0x9 load.placeOwn+0xb
PICK d load.placeShared+0x0 load.placeShared+0x2 load.placeShared+0x4
RUN insmod work do=tiers,{a},{b},{c},{d}
ANSWER {a} {work.tier1} how a probe at {a} is hit
ANSWER {b} {work.tier2} how a probe at {b} is hit
ANSWER {c} {work.tier3} how a probe at {c} is hit
ANSWER {d} {work.tier4} how a probe at {d} is hit
READ introduction, "What leads to the code"

NAME tiers.txt, the last four
ID copies
POINTS 1
PICK a load.placeEnters+0x0 load.placeEnters+0x5 load.placeEnters+0xe
PICK b load.placeWaits+0x0 load.placeWaits+0x2 load.placeWaits+0x6
PICK c load.Letter+0x0 load.Crate+0x0 vfs.Read+0x0
PICK d load.placeCall+0xb load.placeCall+0xd load.placeCall+0x0
RUN insmod work do=tiers,{a},{b},{c},{d}
ANSWER {a} {work.tier1} how a probe at {a} is hit
ANSWER {b} {work.tier2} how a probe at {b} is hit
ANSWER {c} {work.tier3} how a probe at {c} is hit
ANSWER {d} {work.tier4} how a probe at {d} is hit
READ introduction, "An instruction somewhere else"

NAME Check agrees with the kernel on 200 functions
ID agrees
POINTS 4
RUN host {host.self} 200 100
TRUE first none of the places differs
TRUE missing 0 functions short of all
READ introduction, "Writing the function"
