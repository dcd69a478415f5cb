// Package attach calls a handler at places of all kinds. One grammar names them:
//
//	vfs.Read             a function of the kernel; the name may be cut at any slash
//	vfs.Read+0x10        an instruction in it, as traces print it (…+0x10/0x80 also)
//	0xffffffff84123456   an instruction of the kernel; without 0x, as lists print it
//	vfs.*                all functions whose names match
//	kernel/vfs/io.go:76  a line of the kernel's source
//	inline:vfs.join      all inlined copies of a function, and the function
//	/bin/sh:main         a function of a program, in all processes that run the file
//	sh:main+4            the same, of a program in /bin
//	/bin/sh:0x1ed880     what is at an offset of the file
//	7:0x401665           what is at an address of process 7
//	w@printk.consoleLevel:4     writes (w), accesses (rw), reads (r) of data, or execution (x); 4 bytes of it
//	7:w@0x601040:8       the same in process 7
//	sys:openat           a system call; sys:open*: all that match
//	tick:99hz            99 times a second on each CPU
//	every:1s             each second, on one CPU
//	event:sched:sched_switch   a tracepoint (probe/event)
//	ret:PLACE            when the function or the call returns
//	7:PLACE              in process 7 alone
//
// Quotes protect a file or a name: "/tmp/co:lon/prog":main, "operator+". In them, \" is a quote and \\ a backslash.
//
// The words before a colon (ret, inline, sys, tick, every, event) and numbers are not programs: give a file
// with such a name by its path. Functions whose names begin with "type:" and "go:" are the kernel's.
package attach
