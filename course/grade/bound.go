package main

import (
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"time"
)

// A bound is what each process of a command may take. Only Linux keeps it.
type bound struct {
	time   time.Duration // of a processor; 0: any
	memory int           // KiB
}

// compilers is the bound of the go command and of what it starts, on the reference machine. Tests
// allow less.
var compilers = bound{time: 10 * time.Second, memory: 4 << 20}

// scaled returns the bound for a machine that is slower by a factor. A busy machine takes less than
// that factor of processor time, so no more than ten counts.
func (b bound) scaled(factor float64) bound {
	b.time = time.Duration(float64(b.time) * min(factor, 10) * margin)
	return b
}

// words are those of a program that runs the command which follows them.
func (b bound) words() []string {
	if runtime.GOOS != "linux" {
		return nil
	}
	limit := fmt.Sprintf("ulimit -d %d", b.memory)
	if b.time > 0 {
		limit += fmt.Sprintf(" && ulimit -t %.0f", b.time.Seconds())
	}
	return []string{"sh", "-c", limit + ` && exec "$0" "$@"`}
}

// crashed fits what a compiler says that gets no more memory: its own check, or the signal for a nil
// pointer, with its stacks.
var crashed = regexp.MustCompile(`(?m)^(fatal error: runtime|SIGSEGV|SIGBUS|unexpected fault address)`)

// explain returns what a compiler has said or, if it has met the bound, what that is.
func (b bound) explain(said string) string {
	switch {
	case strings.Contains(said, "signal: killed"):
		return fmt.Sprintf("the compiler was stopped after %.0f s of processor time: look for a type or a function with very many instances", b.time.Seconds())
	case crashed.MatchString(said):
		return fmt.Sprintf("the compiler needs more than %d MB of memory: look for a very large table, or a type with very many instances", b.memory>>10)
	}
	return said
}
