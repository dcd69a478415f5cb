// Command host tries a student's protocols in a model of a machine, with all that its CPUs can do in all
// orders. The grader builds it with the student's file in place of the starter's; see package
// sonde/course/grade.
//
//	host CPUS [interrupts]    says which mixture of old and new code a CPU can execute
//	host needless             says how many steps could be left out without harm
//
// With interrupts, a CPU can synchronize between the two instructions of the old code.
package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"

	lab6 "sonde/course/labs/6/starter"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "host:", err)
		os.Exit(1)
	}
	fmt.Println("done host")
}

func run(args []string) error {
	if len(args) == 0 {
		return errors.New("usage: host CPUS [interrupts], or host needless")
	}
	code, jump := draw()
	install := record("Install", code, jump, func(m lab6.Machine) { lab6.Install(m, jump) })
	remove := record("Remove", jump, code, func(m lab6.Machine) { lab6.Remove(m, code) })
	if args[0] == "needless" {
		fmt.Println("wrong", first(install.try(2, true), remove.try(2, true)))
		fmt.Println("needless", install.needless()+remove.needless())
		return nil
	}
	cpus, err := strconv.Atoi(args[0])
	if err != nil || cpus < 1 || cpus > maxCPUs {
		return fmt.Errorf("%q is not a number of CPUs from 1 to %d", args[0], maxCPUs)
	}
	interrupts := len(args) > 1
	fmt.Println("wrong", first(install.try(cpus, interrupts), remove.try(cpus, interrupts)))
	return nil
}

// first returns the first that is not nothing.
func first(found ...string) string {
	for _, f := range found {
		if f != "" {
			return f
		}
	}
	return "nothing"
}

// draw returns code and a jump whose bytes all differ.
func draw() (code, jump [size]byte) {
	values := rand.Perm(lab6.Int3)
	for i := range size {
		code[i], jump[i] = byte(values[i]), byte(values[size+i])
	}
	return code, jump
}
