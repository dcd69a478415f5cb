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
//	WANT line         the script prints this line, behind the time of the log, if there is one
//	TRUE key n words  the workload has reported n as key; words say what n counts, or what it means
//	BETWEEN in out    the histogram is between these of the workload
//	ANSWER a b words  the answer to a is b; words say what was asked
//	NEAR a b n words  the answer to a is a number, b or at most n percent off
//	TREES f           the trees of the requests that the lab's program reports of function f, and no others
//	NESTED f          in these trees, times are within those of the caller
//	AMOUNTS n         what the workload reports as amount.F is in the output, at most n percent off
//	BUDGET a b n      the answer to a is a number, at least b and at most n
//	FEWER n words     the last line that begins with these words goes on with a number from 1 to below n
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
package main
