package lang

import (
	"strings"
	"testing"
)

func TestParseAccepts(t *testing.T) {
	for _, script := range []string{
		`BEGIN { printf("hello world\n"); exit(); }`,
		`begin{exit()}end{clear(@)}`,
		"#!/usr/bin/bt\n// a comment\n/* another\none */ BEGIN { }",
		`kprobe:vfs.Read { @[comm] = count(); } i:s:1 { exit(); }`,
		`kprobe:vfs.(*File).Read+0x10, kretprobe:vfs_read / @s[tid] && pid != 1 / { delete(@s, tid); }`,
		`kprobe:sonde/kernel/vfs.Read,kprobe:a.b[go.shape.int,go.shape.string]{@x++}`,
		`uprobe:/bin/sh:"operator new(int)" { $x = (int32)arg0 / 4; }`,
		`uprobe:libc:write /pid == $1/ { printf("%s", str(arg1, arg2)); }`,
		`watchpoint:printk.consoleLevel:4:w { printf("%d -> %d %s\n", watch.old, watch.new, func); }`,
		`line:vfs/io.go:76 { @ = count(); } inline:sync.(*Mutex).Lock { @[kstack(2)] = count(); }`,
		`t:syscalls:sys_enter_openat { @a[args.filename, 1 + 2 * 3] = -1; @b[(1, "x")] = !@c ? ~1 : 0x1F; }`,
		`config = { max_map_keys = 10; print_maps_on_exit=false } let @m = hash(16); BEGIN { @m[1] = 2 }`,
		`struct a { int x; struct b *next, **other; char name[16]; unsigned long long y; }; kprobe:f { print(((struct a *)arg0)->next->x[1]) }`,
		`BEGIN { if (1) { } else if 2 == 2 { let $x : int64 = 5; } else { let $y; return } unroll(3) { $i++; continue } while ($i < 5) { --$i; break; } }`,
		`BEGIN { for $i : 0..10 { @[$i] = 1; } for ($j : $i..3) { } }`,
		`BEGIN { @ = 1s + 5ms + 10us + 1_000 + 0x10 + 1e6 + 1m + 077; @t = (1, "a\x41\101\n", 2).1 }`,
		`BEGIN { @x = sizeof(uint64) + sizeof(struct a *) + sizeof($x); @y <<= 3; @z = $# + $1; }`,
		`tracepoint:a:b,tracepoint:c:d{}`,
	} {
		if _, err := Parse("stdin", script); err != nil {
			t.Errorf("%s\n%v", script, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{``, "1:1-2: ERROR: the script has no probe\n\n~"},
		{`BEGIN { printf("a) }`, "1:16-21: ERROR: this string has no end\nBEGIN { printf(\"a) }\n               ~~~~~"},
		{`BEGIN { @ = 12q; }`, "1:13-16: ERROR: \"12q\" is not a number: \"q\" is none of the units ns, us, ms, s, m, h and d"},
		{`BEGIN { @ = 99999999999999999999; }`, "1:13-33: ERROR: \"99999999999999999999\" is not a number of 64 bits"},
		{`BEGIN { @ = 20e18; }`, "is not a number of 64 bits"},
		{`BEGIN { @ = "\q"; }`, "1:14-16: ERROR: a string has no such escape"},
		{`BEGIN { $ = 1 }`, "1:9-10: ERROR: a $ needs a name or a number after it"},
		{`BEGIN { @ = $0 }`, "1:13-15: ERROR: $0 is not an argument of the script: give $1 to $65535"},
		{`BEGIN { @ = 1 ; ` + "`" + ` }`, "1:17-18: ERROR: \"`\" is not part of the language"},
		{`/* BEGIN { }`, "1:1-3: ERROR: this comment has no end"},
		{"#define a(x) x\nBEGIN { }", "#define needs a name and a value"},
		{"#define a 1 + 2\nBEGIN { }", "1:1-16: ERROR: #define stands for one number, string or name here"},
		{"#pragma once\nBEGIN { }", "the directive #pragma is not supported"},
		{`macro f() { }`, "the script has no probe"},
		{`macro f() { } macro f() { } BEGIN { }`, "the macro f is declared a second time"},
		{`import "stdlib/x"; BEGIN { }`, "1:1-7: ERROR: import is not supported"},
		{`BEGIN { exit( }`, "1:15-16: ERROR: found \"}\", expected an expression"},
		{`BEGIN { exit() `, "found the end of the script, expected \";\""},
		{`BEGIN { exit(1 2) }`, "1:16-17: ERROR: found \"2\", expected \",\" or \")\""},
		{`BEGIN exit() }`, "found \"exit\", expected \"{\""},
		{`BEGIN / 1 { }`, "found \"{\", expected the \"/\" that ends the filter"},
		{`kprobe:f, { }`, "found \"{\", expected a probe, such as kprobe:vfs.Read"},
		{`BEGIN { } }`, "1:11-12: ERROR: found \"}\", expected a probe\nBEGIN { } }\n          ~"},
		{`kprob:f { }`, "1:1-6: ERROR: there are no probes of the type \"kprob\"\nkprob:f { }\n~~~~~\nHINT: did you mean kprobe?"},
		{`kprobe { }`, "1:1-7: ERROR: kprobe needs more after it: kprobe:FUNCTION[+OFFSET]"},
		{`t:a:b:c { }`, "tracepoint takes no more after it: tracepoint:CATEGORY:NAME"},
		{`i::1 { }`, "something is missing between the colons"},
		{`uprobe:/bin/sh:"a { }`, "this string has no end"},
		{`BEGIN { 1 = 2; }`, "1:9-10: ERROR: only a variable or a map can be assigned to"},
		{`BEGIN { 5++; }`, "only a variable or a map can be changed by ++"},
		{`BEGIN { for $i : 5 { } }`, "a loop is over a range or a map"},
		{`BEGIN { for i : 1..2 { } }`, "found \"i\", expected a variable"},
		{`struct a { int x; int x; } BEGIN { }`, "two fields are called x"},
		{`struct a { struct b x; } BEGIN { }`, "there is no struct b in the script"},
		{`struct a { int x[5000]; } BEGIN { }`, "an array has at most 4096 elements, and says how many"},
		{`struct a { int x[2][]; } BEGIN { }`, "an array of arrays needs to know how long these are"},
		{`enum a { B, B } BEGIN { }`, "1:13-14: ERROR: B is declared a second time"},
		{`struct a { int x:40; } BEGIN { }`, "how many bits the number has"},
		{`let $x = hash(1); BEGIN { }`, "expected the name of a map"},
		{`config = { a } BEGIN { }`, "found \"}\", expected \"=\""},
		{"BEGIN {\n\t@x = ;\n}", "2:7-8: ERROR: found \";\", expected an expression\n\t@x = ;\n\t     ~"},
		{`BEGIN { @ = ` + strings.Repeat("(", 100) + `1 }`, "this is nested 64 deep, and no more can be"},
		{`BEGIN { ` + strings.Repeat("if 1 {", 100) + ` }`, "this is nested 64 deep"},
		{strings.Repeat("i:s:1{}", MaxProbes+1), "the script has more than 512 probes"},
		{strings.Repeat(" ", MaxBytes+1), "the script has 65537 bytes, more than 65536"},
	} {
		_, err := Parse("stdin", c.script)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.80s\ngot:  %v\nwant: %s", c.script, err, c.want)
		}
	}
}

// FuzzScript: a script of any bytes is compiled or refused in words.
func FuzzScript(f *testing.F) {
	for _, s := range []string{`BEGIN { printf("%d %s\n", $1, comm); exit(); }`, `kprobe:f /@s[tid]/ { @ns[comm] = hist(nsecs - @s[tid]); delete(@s, tid); }`,
		`struct a { int x; char n[4]; } kretprobe:f { @[((struct a *)retval)->x, kstack(3)] = lhist(retval, 0, 10, 2); }`,
		`BEGIN { let $x : int8 = 5; while ($x < 9) { $x++; if ($x == 7) { break } } @t = (1, "a", $x).1; print(@t) }`,
		`config = { max_strlen = 16 } uprobe:a:b { @ = strncmp(str(arg0, arg1), "x", 3) ? 1 : -@++; unroll(3) { @m = max(cpu) } }`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse("stdin", text, "7", "x", "--a=b")
		if err == nil {
			_, err = Compile(s, &Options{Resolver: anywhere{}, CPUs: 4})
		}
		if err != nil && !strings.HasPrefix(err.Error(), "stdin:") && !strings.Contains(err.Error(), "program command line option") {
			t.Errorf("the error has no place: %v", err)
		}
	})
}
