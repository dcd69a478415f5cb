// Command grade builds a student's lab into a kernel, boots it for each test, and prints points.
//
//	go run ./course/grade -lab 1                 what is in lab/1
//	go run ./course/grade -lab 1 -test count     one test
//	go run ./course/grade -lab 1 -watch          again at each save
//	go run ./course/grade -lab 1 -hidden course/hidden -json points.json
//	go run ./course/grade -all ../handed-in -hidden course/hidden
//
// The exit status is
//
//	0  all tests that were run have passed
//	1  some have not
//	2  wrong arguments, or QEMU does not run
//	3  the lab does not build
//	4  the machine is too busy to grade
//
// # What is graded
//
// course/labs/N/lab.txt names the files that are taken from the student's folder. They are copied
// into a folder of their own, with a go.mod of the grader's; everything else is left aside.
//
// Files that end in .go are the student's module, but for those that HOST names: these take the place
// of the starter's when course/labs/N/host is built, a program for the host. GIVEN names files of the
// starter that are not graded, because they stay as they are. ANSWERS names a file of lines
// "name: answer".
//
// # Tests
//
// A test is a story (package sonde/qemu/story) with these words besides:
//
//	ID word           its name for -test, and for its log
//	POINTS n
//	DRAW x 500 1500   {x} stands for a number drawn for this run
//	PICK x a b c      {x} stands for one of the words, chosen by the name of the class
//	WANT line         the script prints this line, after the time of the log, if there is one
//	TRUE key n words  the workload has reported n as key; words say what n counts, or what it means
//	BETWEEN in out    the histogram is between these of the workload
//	ANSWER a b words  the answer to a is b; words say what was asked
//	NEAR a b n words  the answer to a is a number, b or at most n percent off
//	TREES f           the trees of the requests that the lab's program reports of function f, and no others
//	NESTED f          in these trees, times are within those of the caller
//	AMOUNTS n         what the workload reports as amount.F is in the output, at most n percent off
//	BUDGET a b n      the answer to a is a number, at least b and at most n
//	FEWER n words     the last line that begins with these words continues with a number from 1 to below n
//	COUNTED yes       the machine has one CPU, and a clock that counts instructions
//	READ text         where to read if the test fails
//	LIMIT n           seconds that it may take on the reference machine
//
// {work.x} stands for what the workload (package sonde/course/load) has reported as x. In what a test
// expects of the student's module, no number is fixed, and none comes from the module itself.
// {answer.seed} in a script is the answer to "seed", and {fault.x} in an ANSWER is what package
// sonde/course/load/fault says about it.
//
// {offset.F} in a script is where function F is in the lab's program, which PROGRAM names in lab.txt.
//
// "measure COMMAND" in a script runs a command with the student's instrument, which is a module or, if the
// file that SCRIPT names in lab.txt has more than comments, a script of bt. {answer.question} is the
// question that the student has chosen.
//
// A script of one line, "host WORDS", runs the lab's program for the host with these words. It reports
// as the workload does. Of these words, {host.self} stands for that program and {host.kernel} for the kernel, as
// files that the linker has made.
//
// A student's module runs in the kernel, where nothing can be kept from it: someone who wants to
// deceive the grader can. The tests make that more work than the lab.
//
// # Decisions
//
// The grader is in this tree's module. It builds kernels by internal/image, which no other module
// may import, and needs no library.
//
// Tests of labs are data, not Go. They are stories with a few more words. Hidden tests, and those
// of instructors, need not be compiled into the grader: they are files in a folder that it is told
// of. What cannot be said in such words, such as comparing two histograms, is a word of the
// grader's.
//
// Students' modules are not trusted, but nothing is hidden from them. A module runs in ring 0. It
// could read the drawn numbers out of the workload's memory and print them. So the grader does not
// try to hide them. It makes honest work easier than cheating: the numbers differ in each run, the
// workload reports on an I/O port of its own, and if two reports differ, neither counts.
//
// A histogram is compared with two others. How long a call takes depends on the host, so no test
// can know it. The workload measures each call inside the function and around it. What a probe
// measures is between the two for each call, and so the histogram is between theirs. This holds on
// a host of any speed; a tolerance would not.
//
// Wrong solutions are changes of the right one, as the defects in ktest/mutants are. All of a lab
// are linked into one kernel, each as a module with a name of its own, so that a lab takes one
// build and a boot for each test.
//
// The name of the class chooses what is probed; the numbers are random. So everyone in a class
// probes the same functions, but the number of calls cannot be known. Hidden tests for a class
// need no extra step: they are made when they are read. make hidden DIR=../hidden writes them for
// those who want to change them.
//
// Answers are compared without being shown. Students write their answers into a file of lines
// "name: answer". The fault of lab 4 follows from a seed, which is one of the answers, so that
// every student has another. A test that fails says what was asked and what was answered, never
// what is right. Every copy has the source of all faults, since a kernel cannot be built without
// it.
//
// Code of students that runs on the host can only compute. Sandboxes differ from host to host. The
// grader reads the imports instead: only packages pass by which nothing outside can be reached. So
// no result can be forged, because the code cannot print to where results are read. Time is
// limited everywhere, memory on Linux.
//
// The program of lab 7 knows what it has sent. Each request is a tree, and the program prints the
// tree that a probe should see. It measures how long each request took inside the function and
// around it, so times are checked without a tolerance, as in lab 3. Its workers are locked to
// threads, the collector is off, and Go's signals for preemption are, too: a read that is
// interrupted would be made twice.
//
// The grader runs the instrument of lab 8 around the workload. It makes no difference to a test
// whether the instrument is a script or a module. The workload measures what it is asked about in
// the functions themselves. Students' numbers may be 25 % off, because a probe cannot see the same
// instant.
//
// The protocol of lab 6 is tried in a model whose states are all visited. Each CPU may read any
// value that a byte has had since the CPU has last synchronized. This is more than processors do,
// and it makes the lab about what is guaranteed. Steps are left out one at a time, so a solution
// that synchronizes after every write does not get all points.
package main
