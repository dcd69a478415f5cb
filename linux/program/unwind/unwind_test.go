//go:build linux && amd64

package unwind

import (
	"slices"
	"strings"
	"testing"
)

const cSource = `
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static volatile int sink;
__attribute__((noinline)) int leaf(int n) { asm volatile("int3"); sink += n; return sink; }
__attribute__((noinline)) static int compare(const void *a, const void *b) {
	char buf[64];
	snprintf(buf, sizeof buf, "%d", *(int *)a);
	return leaf(*(int *)a - *(int *)b) * 0 + *(int *)a - *(int *)b + (int)strlen(buf) * 0;
}
__attribute__((noinline)) static int deep(int n) { char big[300]; memset(big, n, sizeof big); sink += big[n]; return n ? deep(n - 1) + 1 : leaf(7) + big[1]; }
static void handler(int sig) { sink += leaf(sig); }
__attribute__((noinline, noreturn)) void never(int n) { leaf(n); for (;;) asm volatile("int3"); }
__attribute__((noinline)) void ends(int n) { char big[100]; memset(big, n, sizeof big); sink += big[n]; never(n); }
int main(void) {
	int v[] = {3, 1, 2};
	sink += deep(3);
	qsort(v, 3, sizeof v[0], compare);
	signal(SIGUSR1, handler);
	raise(SIGUSR1);
	leaf(0);
	ends(5);
	return 0;
}
`

// TestCWithoutFramePointers stops in functions that deep calls, that libc calls and that a
// signal calls.
func TestCWithoutFramePointers(t *testing.T) {
	for _, c := range []struct {
		name  string
		flags []string
	}{
		{"static", []string{"-static"}},
		{"dynamic", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := trace(t, build(t, "c.c", cSource, append([]string{"gcc", "-O2", "-fomit-frame-pointer", "-fno-optimize-sibling-calls"}, c.flags...)...))
			p.next()
			p.expect("leaf deep deep deep deep main")
			p.everywhere("main", 300)
			p.next()
			p.expect("leaf compare * qsort main")
			p.everywhere("main", 700) // fewer than up to the signal, whatever the libc
			p.until("handler")
			p.expect("leaf handler __restore_rt <signal> * raise main")
			p.everywhere("main", 30)
			p.until("never")
			p.expect("leaf never ends main") // the call of never is the last instruction of ends
		})
	}
}

// until continues to the first breakpoint where a function is on the stack.
func (p *traced) until(name string) {
	p.t.Helper()
	for range 50 {
		if slices.ContainsFunc(p.chain(), func(s string) bool { return same(s, name) }) {
			return
		}
		p.next()
	}
	p.t.Fatalf("%s is not called", name)
}

// expect fails unless the chain begins as it says; * is any functions.
func (p *traced) expect(want string) {
	p.t.Helper()
	got := p.chain()
	p.t.Log(strings.Join(got, " "))
	at, words := 0, strings.Fields(want)
	for i, w := range words {
		if w == "*" {
			for at < len(got) && !same(got[at], words[i+1]) {
				at++
			}
			continue
		}
		if at >= len(got) || !same(got[at], w) {
			p.t.Errorf("%v\nwant %s", got, want)
			return
		}
		at++
	}
	if last := got[len(got)-1]; last != "_start" && last != "runtime.goexit" {
		p.t.Errorf("ends with %s", last)
	}
}

// same: libc's functions have several names, and the compiler makes variants.
func same(got, want string) bool {
	got, _, _ = strings.Cut(got, ".constprop")
	return got == want || strings.HasSuffix(got, want) || want == "qsort" && got == "qsort_r" || want == "__restore_rt" && got == "?"
}

// everywhere steps on, and fails where the chain does not lead to a function that stays.
func (p *traced) everywhere(stays string, steps int) {
	p.t.Helper()
	wrong := 0
	for range steps {
		p.step()
		got := p.chain()
		last := got[len(got)-1]
		switch {
		case last == "_start" && len(got) <= 4 && !slices.Contains(got, stays): // it has returned
			return
		case slices.Contains(changesStack, last):
		case !slices.Contains(got, stays) || last != "_start" && last != "runtime.goexit":
			if wrong++; wrong <= 5 {
				p.t.Errorf("at %#x: %v", p.regs().IP, got)
			}
		}
	}
	if wrong > 0 {
		p.t.Errorf("%d of %d chains are wrong", wrong, steps)
	}
}

// changesStack are functions of Go's runtime that nobody can look beyond.
var changesStack = []string{"runtime.morestack", "gogo", "runtime.nanotime1", "runtime.walltime"}

const goSource = `package main

import (
	"os"
	"runtime"
	"sort"
	"strconv"
)

func init() { runtime.LockOSThread() }

//go:noinline
func leaf(n int) int { runtime.Breakpoint(); return n + len(strconv.Itoa(n)) }

//go:noinline
func deep(n int) int {
	var big [400]byte
	if n == 0 {
		return leaf(3)
	}
	big[n]++
	return deep(n-1) + int(big[n])
}

type byValue []int

func (b byValue) Len() int           { return len(b) }
func (b byValue) Less(i, j int) bool { return leaf(b[i]) < leaf(b[j]) }
func (b byValue) Swap(i, j int)      { b[i], b[j] = b[j], b[i] }

func main() {
	n := deep(3)
	sort.Sort(byValue{3, 1, 2})
	os.Exit(n & 1)
}
`

func TestGo(t *testing.T) {
	for _, c := range []struct {
		name  string
		flags []string
	}{
		{"static", nil},
		{"stripped", []string{"-ldflags=-s -w"}},
		{"pie", []string{"-buildmode=pie"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "pie" && testing.Short() {
				t.Skip("-short: compiles the whole library once more")
			}
			p := trace(t, build(t, "go.go", goSource, append([]string{"go", "build"}, c.flags...)...))
			p.next()
			p.expect("runtime.breakpoint main.leaf main.deep main.deep main.deep main.deep main.main runtime.main runtime.goexit")
			p.everywhere("main.main", 300)
			p.next()
			p.expect("runtime.breakpoint main.leaf main.byValue.Less main.(*byValue).Less sort.insertionSort sort.pdqsort sort.Sort main.main runtime.main runtime.goexit")
			p.everywhere("main.main", 300)
		})
	}
}
