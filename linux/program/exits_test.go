package program

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// exitsOf compiles C and returns what is found of each of its functions.
func exitsOf(t *testing.T, source string, flags ...string) func(name string) (*Exits, error) {
	t.Helper()
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("there is no gcc")
	}
	out := filepath.Join(t.TempDir(), "lib.so")
	c := exec.Command(gcc, append([]string{"-O2", "-shared", "-fPIC", "-fcf-protection=none", "-x", "c", "-", "-o", out}, flags...)...)
	c.Stdin = strings.NewReader(source)
	if b, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	f := open(t, out)
	return func(name string) (*Exits, error) {
		s, err := f.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		return f.Exits(s.Addr)
	}
}

const exiting = `
extern int other(int); extern void never(int) __attribute__((noreturn, cold)); extern int (*known)(int);
int two(int *p, int n) { if (n) { p[0] = other(n); return p[n] * 3; } other(5); other(n + 1); return other(2) + 9; }
int tail(int n) { return other(n + 1); }
int maybe(int n, int *p) { *p = n; return n > 5 ? other(n) : n * 3; }
int through(int n) { return known(n); }
int cold(int n) { if (n < 0) never(n); return other(n) + other(n + 1); }
int framed(int n) { int k = other(n); if (k < 0) never(k); return k + other(n + 1); }
void ends(int n) { never(n); }
int chooses(int n) {
	int a[40]; other((long)a);
	switch (n) {
	case 0: return other(1) + a[1]; case 1: return other(2) * a[2]; case 2: return other(4) - a[3]; case 3: return other(5) ^ a[4];
	case 4: return other(7) | a[5]; case 5: return other(8) & a[6]; case 6: return other(9) % a[7]; }
	return a[n];
}
int leafy(int n, int *p) {
	switch (n) {
	case 0: p[3]++; return 4; case 1: p[4] ^= 3; return p[5]; case 2: return p[3] * p[7]; case 3: p[9] = p[1]; return 0;
	case 4: return p[7] - p[9]; case 5: p[8] |= 3; return 8; case 6: return p[7] % 9; }
	return p[n];
}
__asm__(".globl falls\n.type falls,@function\nfalls: .cfi_startproc\nxorl %eax,%eax\nje 1f\nret\n1: nop\n.cfi_endproc\n.size falls,.-falls\n"
	".globl inside\n.type inside,@function\ninside: .cfi_startproc\nje 1f+1\n1: movl $0xc3c3c3c3,%eax\nret\n.cfi_endproc\n.size inside,.-inside\n"
	".globl loops\n.type loops,@function\nloops: .cfi_startproc\ndecl %edi\njnz loops\nret\n.cfi_endproc\n.size loops,.-loops\n"
	".globl switches\n.type switches,@function\nswitches: .cfi_startproc\nmovq %rsp,(%rdi)\nmovq (%rsi),%rsp\nret\n.cfi_endproc\n.size switches,.-switches\n"
	".globl pops\n.type pops,@function\npops: .cfi_startproc\nret $16\n.cfi_endproc\n.size pops,.-pops\n"
	".globl many\n.type many,@function\nmany: .cfi_startproc\n.rept 5000\njmp *%rax\n.endr\n.cfi_endproc\n.size many,.-many\n"
	".globl bare\n.type bare,@function\nbare: ret\n.size bare,.-bare\n");
`

// TestExits: how many returns and jumps, in how many parts; or why not all are known.
func TestExits(t *testing.T) {
	find := exitsOf(t, exiting)
	for _, c := range []struct {
		name                  string
		returns, jumps, parts int // returns -1: one or more
	}{
		{"two", -1, 0, 1},
		{"tail", 0, 1, 1},
		{"maybe", 1, 1, 1},
		{"through", 0, 1, 1},
		{"cold", 1, 0, 2},
		{"framed", 1, 0, 2},
		{"chooses", -1, 0, 1}, // its jump has a frame: it stays in the function
		{"leafy", -1, 1, 1},   // where this one goes is seen when it does
		{"ends", 0, 0, 1},     // it does not return
	} {
		e, err := find(c.name)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		n := len(e.Returns)
		if n != c.returns && (c.returns >= 0 || n == 0) || len(e.Jumps) != c.jumps || len(e.Parts) != c.parts {
			t.Errorf("%s: %d returns, %d jumps, %d parts", c.name, n, len(e.Jumps), len(e.Parts))
		}
	}
	for name, why := range map[string]string{
		"falls": "runs on", "inside": "into an instruction", "loops": "its own beginning",
		"switches": "switches stacks", "pops": "pops arguments", "bare": "not in .eh_frame", "many": "too many jumps",
	} {
		if _, err := find(name); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, not: %s", name, err, why)
		}
	}
}

// TestExitsWithoutTable: without .eh_frame nothing says where a function ends.
func TestExitsWithoutTable(t *testing.T) {
	find := exitsOf(t, "int f(int n) { return n; }", "-fno-asynchronous-unwind-tables", "-nostdlib")
	if _, err := find("f"); err == nil || !strings.Contains(err.Error(), "not in .eh_frame") {
		t.Error(err)
	}
}
