// Command host compares a student's Check with the kernel's own, for functions of a program. The grader
// builds it with the student's file in place of the starter's; see package sonde/course/grade.
//
//	host PROGRAM FUNCTIONS PERCENT
//
// It prints how many functions it has compared, at how many places Check says that a jump may be where
// it may not, how many functions are missing to PERCENT that agree, and the first place that does not.
package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"

	"sonde/arch/amd64/insn"
	lab5 "sonde/course/labs/5/starter"
	"sonde/optprobe"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "host:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("usage: host PROGRAM FUNCTIONS PERCENT")
	}
	n, err1 := strconv.Atoi(args[1])
	percent, err2 := strconv.Atoi(args[2])
	p, err := load(args[0])
	if err != nil || err1 != nil || err2 != nil {
		return fmt.Errorf("%v %v %v", err, err1, err2)
	}
	if len(p.names) < n {
		return fmt.Errorf("%s has %d functions, not %d", args[0], len(p.names), n)
	}
	c := comparison{first: "none"}
	for _, i := range rand.Perm(len(p.names))[:n] {
		c.compare(p.names[i], p.function(i))
	}
	fmt.Println("functions", n)
	fmt.Println("first", c.first)
	fmt.Println("unsafe", c.unsafe)
	fmt.Println("missing", max(0, (n*percent+99)/100-c.agree))
	fmt.Println("done host")
	return nil
}

// A comparison counts.
type comparison struct {
	agree, unsafe int
	first         string
}

// places is at how many places of a function the two are compared.
const places = 24

// compare compares the two for a function.
func (c *comparison) compare(name string, fn optprobe.Function) {
	var s optprobe.Scan
	s.Read(fn)
	theirs := lab5.Function{Addr: fn.Addr, Code: slices.Clone(fn.Code), Entries: slices.Clone(fn.Entries)}
	good := true
	for range places {
		off := rand.IntN(len(fn.Code))
		if rand.IntN(3) > 0 {
			off = begin(fn.Code, off)
		}
		right := c.place(&s, theirs, off, name)
		good = good && right
	}
	if good {
		c.agree++
	}
}

// place compares the two at an offset.
func (c *comparison) place(s *optprobe.Scan, fn lab5.Function, off int, name string) bool {
	size, list := s.Explain(nil, off)
	var reasons []lab5.Reason
	for _, o := range list {
		word, ok := words[o.Reason]
		if !ok {
			return true // calls through the stack pointer: the lab leaves them out
		}
		reasons = append(reasons, word)
	}
	got, why := lab5.Check(fn, off)
	switch {
	case len(reasons) == 0 && why == lab5.Fine && got == size, why != lab5.Fine && slices.Contains(reasons, why):
		return true
	case len(reasons) > 0 && why == lab5.Fine:
		c.unsafe++
	}
	if c.first == "none" {
		is := fmt.Sprintf("a jump over %d bytes", size)
		if len(reasons) > 0 {
			is = string(reasons[0])
		}
		yours := fmt.Sprintf("a jump over %d bytes", got)
		if why != lab5.Fine {
			yours = string(why)
		}
		c.first = fmt.Sprintf("%s+%#x: you say %q, but it is %q", name, off, yours, is)
	}
	return false
}

// begin returns the last offset up to off at which an instruction begins.
func begin(code []byte, off int) int {
	at := 0
	for at < off {
		in, err := insn.Decode(code[at:])
		if err != nil || at+int(in.Len) > off {
			break
		}
		at += int(in.Len)
	}
	return at
}

// words are the lab's names of the kernel's reasons.
var words = map[optprobe.Reason]lab5.Reason{
	optprobe.NoDecode: lab5.NoFunction, optprobe.Overlap: lab5.NoFunction, optprobe.JumpAway: lab5.NoFunction, optprobe.BadTable: lab5.NoFunction,
	optprobe.Outside: lab5.Boundary, optprobe.NotStart: lab5.Boundary, optprobe.FuncEnd: lab5.End, optprobe.Branch: lab5.Branch,
	optprobe.Entry: lab5.Entry, optprobe.Return: lab5.Return, optprobe.Address: lab5.Address, optprobe.Unmovable: lab5.Unmovable,
}
