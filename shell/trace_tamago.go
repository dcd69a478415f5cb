//go:build tamago && !noprobe

package shell

import (
	"fmt"
	"strconv"
	"strings"

	"sonde/kallsyms"
	"sonde/kprobes"
	"sonde/probe/attach"
	"sonde/probe/attach/quote"
)

// mostCallees is how many functions trace follows: each has two probes.
const mostCallees = 64

// mostDepth is how deep trace indents.
const mostDepth = 8

// withCallees puts the functions that a function calls in place of how deep they are to be followed, which is the second argument of
// trace, and says what is left out.
func withCallees(c *Context, args []string) ([]string, error) {
	depth := 2
	if len(args) > 1 {
		n, err := strconv.Atoi(args[1])
		if err != nil {
			return args, nil // they are named
		}
		if depth = n; depth < 1 || depth > mostDepth {
			return nil, Usagef("calls are followed 1 to %d deep, not %d", mostDepth, depth)
		}
	}
	if len(args) == 0 || len(args) > 2 {
		return args, nil // the tool says what is wrong
	}
	place := strings.TrimPrefix(strings.TrimPrefix(args[0], "kprobe:"), "k:")
	if at, err := c.site(place, attach.Kernel); err != nil || strings.ContainsAny(place, "*?") || at.Return {
		return nil, Usagef("what %s calls is known of one function of the kernel alone; name the CALLEES, as in trace %[1]s 'vfs.*'", args[0])
	}
	sym, err := kallsyms.Resolve(place)
	if err != nil {
		return nil, err
	}
	found := kprobes.CalleesOf(sym.Addr, depth, mostCallees)
	if len(found.Funcs) == 0 {
		return nil, fmt.Errorf("%s calls no function that can be followed", place)
	}
	sayCallees(c, place, depth, found)
	names := make([]string, len(found.Funcs))
	for i, f := range found.Funcs {
		names[i] = quote.Add(f.Name)
	}
	return []string{place, strings.Join(names, ",")}, nil
}

// sayCallees says which calls are followed, and which are not.
func sayCallees(c *Context, place string, depth int, found kprobes.Callees) {
	fmt.Fprintf(c.Err, "trace: %d functions that %s calls, %d deep", len(found.Funcs), place, depth)
	for _, left := range []struct {
		n    int
		what string
	}{{found.Beyond, "farther ones"}, {found.Runtime, "of the runtime"}, {found.Refused, "that cannot have probes"}} {
		if left.n > 0 {
			fmt.Fprintf(c.Err, "; without %d %s", left.n, left.what)
		}
	}
	fmt.Fprintln(c.Err)
	for _, f := range found.Blind {
		fmt.Fprintf(c.Err, "trace: not followed: calls by %s through an interface or a closure\n", kallsyms.Base(f.Name))
	}
}
