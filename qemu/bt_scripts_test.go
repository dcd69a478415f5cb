package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// printed is what scripts print. What they print of times is of those that they set.
var printed = []struct{ script, want string }{
	{`BEGIN { printf("%d %s\n", 1 + 2 * 3, "hi"); @a[1] = 2; exit() } END { printf("end\n") }`, "7 hi\nend\n\n@a[1]: 2\n\n"},
	{`often=interval:ms:10 { @ = count(); if (@ == 10) { exit(); } } interval:s:100 { exit(); }`, "\n@: 10\n\n"},
	{`BEGIN { @[1] = sum(2); @[1] = sum(3); @b[2] = 1; delete(@b, 2); clear(@) }`, "\n\n\n"},
	{`BEGIN { if (pid == 99999) { @c = count(); @s = sum(1); @h = hist(1); @a = avg(1); @x = count(); } @d = count(); delete(@d); @z = sum(5); zero(@z) } END { clear(@x) }`,
		"\n@c: 0\n\n@s: 0\n\n@z: 0\n\n"},
	{`BEGIN { @c = count(); @c = count(); clear(@c); @s = stats(2); @s = stats(4); print(@c) }`, "@c: 0\n\n\n@s: { .count = 2, .average = 3, .total = 6 }\n\n"},

	// Loops.
	{`BEGIN { @m[16] = 32; @m[64] = 128; $n = 1; for ($kv : @m) { $n += $kv.0 * 1000 + $kv.1; } print($n); clear(@m) }`, "80161\n\n\n"},
	{`BEGIN { @m["a", 1] = 2; @m["b", 2] = 3; for ($kv : @m) { if ($kv.0.1 == 1) { continue } printf("%s %d\n", $kv.0.0, $kv.1); delete(@m, $kv.0) } }`, "b 3\n\n@m[a, 1]: 2\n\n"},
	{`BEGIN { @m[1] = count(); @m[1] = count(); for ($kv : @m) { print($kv.1); return } print("no"); } END { clear(@m) }`, "2\n\n\n"},
	{`BEGIN { for ($i : (-1)..2) { print($i) } $e = 3; for ($i : 1..$e) { print(($i, $e)); $e = 9; } for ($i : 3..1) { print("no") } }`, "-1\n0\n1\n(1, 3)\n(2, 9)\n\n"},
	{`BEGIN { $n = 1000000; for ($i : 0..$n) { @s = $i } }`, "stdin:1:36-38: WARNING: this loop ends after 4096 rounds: its end is not known when the program is made\n" +
		"BEGIN { $n = 1000000; for ($i : 0..$n) { @s = $i } }\n                                   ~~\n\n@s: 4095\n\n"},

	// Types.
	{`BEGIN { $x = 1; @ = sizeof($x); @b = sizeof((int64)1); $t = ((int8)1, "abcdef", (int64)2); @c = sizeof($t); @d = sizeof(300); }`, "\n@: 1\n\n@b: 8\n\n@c: 16\n\n@d: 2\n\n"},
	{`BEGIN { print((true, 1 > 2)); @a[true] = false }`, "(true, false)\n\n@a[true]: false\n\n"},
	{`BEGIN { $r = (a=1, b=(2, "hi")); print($r); print($r.b.1); print((1, 2, 3)[1 + 1]) }`, "{ .a = 1, .b = (2, hi) }\nhi\n3\n\n"},
	{`enum e { ONE = 1, TWO, OTHER = -5 } BEGIN { @[ONE] = TWO; printf("%d %s %s\n", OTHER, OTHER, (enum e)2); print(ONE + 1); print((enum e)9) }`, "-5 OTHER TWO\n2\n9\n\n@[ONE]: TWO\n\n"},
	{`BEGIN { @ = (int32 *)0x32; @ += 1; $p = (int64 *)16; $p++; print($p); print($p - 1); if (0x10 < $p) { print("yes") } }`, "0x18\n0x10\nyes\n\n@: 0x36\n\n"},
	{`BEGIN { print((int8[])"hello"); @ = (bool[2])(uint16)1; print(((int8[8])12345)[0]); $s = "foo"; printf("%c %d\n", $s[0], $s[90]) }`, "[104,101,108,108,111,0]\n57\nf 0\n\n@: [true,false]\n\n"},
	{`struct A { int a; struct { char b; int c; } in; union { int x; char y; }; } __attribute__((packed)) BEGIN { print((sizeof(struct A), offsetof(struct A, in.c))) }`, "(16, 8)\n\n"},
	{`BEGIN { if (1) { $x = 1; } if (1) { let $x; print($x); $x = 5; } let $x = 7; print($x) }`, "0\n7\n\n"},
	{`BEGIN { @a[1, ("x", 2)] = 1; @a[1, ("longer string", 3)] = 2; $k = (1, ("x", 2)); print(@a[$k]) }`, "1\n\n@a[1, (x, 2)]: 1\n@a[1, (longer string, 3)]: 2\n\n"},

	// Arrays.
	{`BEGIN { $a = (int8[4])0x04030201; $i = 2; print($a[$i]); $i = 4; print($a[$i]); @[$a] = 1; @[$a] = 2; $b = (int8[4])0x04030201; if ($a == $b) { print("same") } if ($a != (int8[4])1) { print("other") } }`,
		"3\n0\nsame\nother\n\n@[[1,2,3,4]]: 2\n\n"},
	{`struct A { int8 x[2][4]; } BEGIN { print((sizeof(struct A), offsetof(struct A, x))) }`, "(8, 0)\n\n"},

	// Divisions.
	{`BEGIN { @z = 0; $m = (int64)-8; print($m / 2); print((7 % 4, 9 / (uint64)2)); @z = 3; print(10 / @z) } END { clear(@z) }`, "-4\n(3, 4)\n3\n\n"},
	{`BEGIN { @z = 0; print(10 / @z) } END { clear(@z) }`, "stdin:1:23-30: WARNING: Divide or modulo by 0 detected. This can lead to unexpected results. 1 is being used as the result.\n" +
		"BEGIN { @z = 0; print(10 / @z) } END { clear(@z) }\n                      ~~~~~~~\n1\n\n"},

	{`BEGIN { $x = 1; print($x << 33); print(1 << 95); }`, "8589934592\n2147483648\n\n"},

	// Numbers of several kinds in one variable.
	{`BEGIN { @a = 5; @a = (uint64)-1; @b = (int32)-1; @b = (uint32)4000000000; @c = (uint64)-1; @c = 5; @c = (uint64)-2; }`, "\n@a: 18446744073709551615\n\n@b: 4000000000\n\n@c: 18446744073709551614\n\n"},
	{`BEGIN { @d = avg(-4); @d = avg(-8); print((int64)@d); clear(@d); }`, "-6\n\n"},

	// Functions.
	{`BEGIN { @ = buf("ab\x01", 3); printf("%r %rx %rh\n", @, @, buf("ab", 2)); print(buf("hi", 2) == buf("hi", 2)); print(buf("a", 1) != buf("b", 1)) }`, "ab\\x01 \\x61\\x62\\x01 61 62\ntrue\ntrue\n\n@: ab\\x01\n\n"},
	{`BEGIN { print(strcontains("hello", "ell")); print(strcontains("", "x")); print(strlen("hello")); print(len("ab")); print(strncmp("ab", "ac", 1)); @[1] = 1; @[2] = 2; print(len(@)); clear(@) }`,
		"true\nfalse\n5\n2\n0\n2\n\n\n"},
	{`BEGIN { printf("%s %s %s %s\n", ntop(0x0100007f), ntop(2, pton("10.0.0.1")), ntop(pton("::1")), macaddr((uint8[6])0x060504030201)) }`, "127.0.0.1 10.0.0.1 ::1 01:02:03:04:05:06\n\n"},
	{`BEGIN { printf("%x %x %llx\n", bswap((int16)0x1234), bswap(bswap(0x1234)), bswap(0x1122334455667788)) }`, "3412 1234 8877665544332211\n\n"},
	{`BEGIN { print(strerror(2)); print(username); printf("%hhx %hx %x %jx\n", 0x12345678abcdef, 0x12345678abcdef, 0x12345678abcdef, 0x12345678abcdef) }`, "No such file or directory\nroot\nef cdef 78abcdef 12345678abcdef\n\n"},
	{`BEGIN { warnf("%d", 5); errorf("bad"); assert(1 == 1, "no"); assert(2 < 1, "yes"); print("no") }`, "stdin:1:9-23: WARNING: 5\n" +
		"BEGIN { warnf(\"%d\", 5); errorf(\"bad\"); assert(1 == 1, \"no\"); assert(2 < 1, \"yes\"); print(\"no\") }\n        ~~~~~~~~~~~~~~\nstdin:1:25-38: ERROR: bad\n" +
		"BEGIN { warnf(\"%d\", 5); errorf(\"bad\"); assert(1 == 1, \"no\"); assert(2 < 1, \"yes\"); print(\"no\") }\n                        ~~~~~~~~~~~~~\nstdin:1:62-82: ERROR: assert failed: yes\n" +
		"BEGIN { warnf(\"%d\", 5); errorf(\"bad\"); assert(1 == 1, \"no\"); assert(2 < 1, \"yes\"); print(\"no\") }\n                                                             ~~~~~~~~~~~~~~~~~~~~\n\n"},
	{`config = { dummy_ts_map = "@ts" } BEGIN { @ts = 1s; @x = tseries(3, 1s, 2, "avg"); @x = tseries(5, 1s, 2, "avg"); @ts = 2s; @x = tseries(8, 1s, 2, "avg"); clear(@ts) }`, "\n@x:\n         4                                                   8\nhh:mm:ss |___________________________________________________|\n" +
		"00:00:01 *                                                   | 4\n00:00:02 |                                                   * 8\n         v___________________________________________________v\n         4                                                   8\n\n"},
	{`BEGIN { @a = sum(10); @b = count(); @c = min(-3); @c = min(2); @d = avg(4); @d = avg(8); print((@a + @b, @c, (int64)@d)); if (@b == 1) { print("one") } clear(@a); clear(@b); clear(@c); clear(@d) }`, "(11, -3, 6)\none\n\n"},
	// Numbers without a sign are compared as such; negative ones are below [0]; a last step that is shorter counts what is in it.
	{`BEGIN { @a = max((uint64)1); @a = max((uint64)0xffffffffffffffff); @i = min((uint64)0xffffffffffffffff); @i = min((uint64)7); exit(); }`, "\n@a: 18446744073709551615\n\n@i: 7\n\n"},
	{`config = { print_maps_on_exit = false } BEGIN { @ = count(); print("x"); }`, "x\n"},
	{`BEGIN { @h = hist(-5); @h = hist(-1); @h = hist(0); @k = hist(-5, 2); @k = hist(0, 2); }`, "\n@h:\n(..., 0)               2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|\n[0]                    1 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |\n\n@k:\n(..., 0)               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|\n[0]                    1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|\n\n"},
	{`BEGIN { @ = lhist(-2147483648, -2147483648, 2147483647, 4294967295); @ = lhist(2147483646, -2147483648, 2147483647, 4294967295); @ = lhist(2147483647, -2147483648, 2147483647, 4294967295); @ = lhist(-2147483649, -2147483648, 2147483647, 4294967295); }`, "\n@:\n(..., -2G)             1 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |\n[-2G, 2147483647)       2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|\n[2147483647, ...)       1 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |\n\n"},
	{`BEGIN { @ = lhist(-3, -4, 4, 1099511627776); @ = lhist(3, -4, 4, 1099511627776); @ = lhist(4, -4, 4, 1099511627776) }`, "\n@:\n[-4, 4)                2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|\n[4, ...)               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |\n\n"},
	{`BEGIN { @ = lhist(8, 0, 10, 3); @ = lhist(9, 0, 10, 3); @ = lhist(10, 0, 10, 3); @ = lhist(11, 0, 10, 3); }`, "\n@:\n[6, 9)                 1 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |\n[9, 10)                1 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |\n[10, ...)              2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|\n\n"},
	{`config = { dummy_ts_map = "@ts" } BEGIN { @ts = 1s; @x = tseries((uint64)-1, 1s, 1, "max"); @x = tseries((uint64)1, 1s, 1, "max"); @y = tseries((uint64)-1, 1s, 1, "min"); @y = tseries((uint64)7, 1s, 1, "min"); clear(@ts) }`,
		"\n@x:\n18446744073709551614                                18446744073709551615\nhh:mm:ss |___________________________________________________|\n00:00:01 |                                                   * 18446744073709551615\n         v___________________________________________________v\n18446744073709551614                                18446744073709551615\n" +
			"\n@y:\n         6                                                   8\nhh:mm:ss |___________________________________________________|\n00:00:01 |                         *                         | 7\n         v___________________________________________________v\n         6                                                   8\n\n"},
	{`config = { dummy_ts_map = "@ts" } BEGIN { for ($i : 1..5) { @ts = $i * 1000000; @ = tseries($i, 1ms, 2, "sum"); } clear(@ts) }`, "\n@:\n             3                                                   4\nhh:mm:ss.ms  |___________________________________________________|\n00:00:00.003 *                                                   | 3\n00:00:00.004 |                                                   * 4\n             v___________________________________________________v\n             3                                                   4\n\n"},
	{`BEGIN { speculate(); print("in"); commit(); print("behind"); speculate(); print("never"); discard(); print("last"); }`, "in\nbehind\nlast\n\n"},
	{`BEGIN { $x = 5; print($x << 64); print($x << 65); print($x >> 66); $x <<= 70; print($x); print(-$x >> -1); }`, "5\n10\n1\n320\n-1\n\n"},
	{`config = { dummy_ts_map = "@ts" } BEGIN { @ts = 1s; @ = tseries(5, 1s, 1, "min"); @ = tseries(3, 1s, 1, "min"); @ = tseries(4, 1s, 1, "min"); clear(@ts) }`, "\n@:\n         2                                                   4\nhh:mm:ss |___________________________________________________|\n00:00:01 |                         *                         | 3\n         v___________________________________________________v\n         2                                                   4\n\n"},
	{`BEGIN { @[probe] = count(); } BEGIN { @[probe] = count(); } END { @[probe] = count(); }`, "\n@[end]: 1\n@[begin]: 2\n\n"},
	{`BEGIN { @ = hist(9, 1); @ = hist(13, 1); }`, "\n@:\n[8, 12)                1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|\n[12, 16)               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|\n\n"},
	{`BEGIN { print(delete(@a, 1)); @a[1] = 5; print(delete(@a, 1)); print(probetype); print(comm()); _ = 5; 7; }`, "false\ntrue\nspecial\nbt\n\n\n"},
	{`BEGIN { print((config().max_strlen, config.stack_mode, nsecs(tai) > nsecs)) }`, "(64, bpftrace, true)\n\n"},
	{`let @a = lruhash(1); let @b = hash(1); BEGIN { @a[1] = 1; @a[2] = 2; @b[1] = 1; @b[2] = 2 }`, "\n@a[2]: 2\n\n@b[1]: 1\n\nbt: WARNING: Map full; can't update element: 1 values of @b are lost; config = { max_map_keys = 16384 } makes it larger\n"},

	{`BEGIN { print("before"); $x = speculate(); print("in"); @s = $x > 0; @m[1] = 1; for ($kv : @m) { print("loop") } } END { print("end"); commit(); clear(@m); }`, "before\nend\nin\nloop\n\n\n@s: true\n\n"},
	{`BEGIN { speculate(); print("in"); discard(); print("out"); @s = speculate(); print("more") } END { commit(@s); print("last"); commit(); clear(@s) }`, "out\nmore\nlast\n\n"},

	// Macros, blocks, choices.
	{`macro inc($x) { $x += 1; $x } macro twice(x) { x + x } BEGIN { $a = 1; $b = inc($a); print(($a, $b)); print(twice({ print("hi"); 2 })) }`, "(2, 2)\nhi\nhi\n4\n\n"},
	{`macro set(@m) { @m[1] = 2; } macro hide(x) { $y = x + 1; $y } macro one { 1 } BEGIN { set(@a); $y = 2; $z = hide(5); print(($y, $z, one)) }`, "(2, 6, 1)\n\n@a[1]: 2\n\n"},
	{`macro sof(a, b) { sizeof(a[2]) + sizeof(b*) + sizeof(b) } BEGIN { print(sof(typeof(uint64), typeof(uint8))); let $z : typeof(5) = 3; print($z) }`, "25\n3\n\n"},
	{`macro bad() { warnf("b") } BEGIN { bad() }`, "stdin:1:15-25: WARNING: b\nmacro bad() { warnf(\"b\") } BEGIN { bad() }\n              ~~~~~~~~~~\nstdin:1:36-41: ERROR: expanded from\nmacro bad() { warnf(\"b\") } BEGIN { bad() }\n                                   ~~~~~\n\n"},
	{`BEGIN { $a = 1 ?: 10; $b = 0 ?: 20; print(($a, $b)); print(if (1) { if (0) { 1 } else { 2 } } else { 3 }); 1 ? printf("yes\n") : printf("no\n"); @ = { let $x = 100; avg($x) } }`, "(1, 20)\n2\nyes\n\n@: 100\n\n"},
	{"#include <linux/fs.h>\n#ifdef OTHER\nnonsense\n#else\n#define N 314\n#endif\n#ifndef BPFTRACE_HAVE_BTF\n#include <a.h>\n#endif\nBEGIN { print(N) }", "314\n\n"},
}

// runScripts runs bt with each line of arguments, in which FILE is a file with the script, and returns what each has
// printed. Errors name the file stdin.
func runScripts(t *testing.T, scripts, args []string) (out []string) {
	t.Helper()
	folder, run := t.TempDir(), ""
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for i, script := range scripts {
		write(strconv.Itoa(i), script)
		run += fmt.Sprintf("bt %s 2>&1\necho @@\n", strings.Replace(args[i], "FILE", fmt.Sprint("/s/", i), 1))
	}
	write("run", run)
	text, err := launch(t, "-add", folder+":/s", "-c", "source /s/run").Output()
	if err != nil {
		t.Error(err)
	}
	out = strings.Split(regexp.MustCompile(`/s/\d+:`).ReplaceAllString(string(text), "stdin:"), "@@\n")
	if len(out) != len(scripts)+1 {
		t.Fatalf("%d of %d scripts have ended:\n%s", len(out)-1, len(scripts), text)
	}
	return out
}

func TestScripts(t *testing.T) {
	runsBeside(t)
	var scripts, args []string
	for _, c := range printed {
		scripts, args = append(scripts, c.script), append(args, "-q FILE")
	}
	for i, got := range runScripts(t, scripts, args)[:len(printed)] {
		if c := printed[i]; got != c.want {
			t.Errorf("%s\nprints %q\nexpected %q", c.script, got, c.want)
		}
	}
}

// TestOptionsOfScripts: a script has arguments by their number and by their name; -k says of a key that is not there;
// tuples are arrays in JSON, and records objects; exported events have a time and a thread.
func TestOptionsOfScripts(t *testing.T) {
	runsBeside(t)
	cases := []struct{ script, args, want string }{ // a regular expression
		{`BEGIN { printf("%d %s %s %lu\n", $#, str($1), str($2 + 1), $3); print(str($9)) }`, "-q FILE 7 hello 0xffffffffffffffff", `^3 7 ello 18446744073709551615\n\n\n$`},
		{`BEG$1 { print(1) } i:ms:$2 { print(2); exit() }`, "-q FILE IN 5", `^1\n2\n\n$`},
		{`$1 { print(1); exit() }`, "-q FILE i:ms:1", `^1\n\n$`},
		{`BEGIN { @ = lhist(5, 0, $1, 5) }`, "-q FILE 10", `^\n@:\n\[5, 10\)                1 \|@+\|\n\n$`},
		{`BEGIN { print((getopt("a", 1), getopt("b"), getopt("c", "x"), getopt("d", -1), $1)) }`, "-q FILE -- --a=20 --b pos --d=-5", `^\(20, true, x, -5, pos\)\n\n$`},
		{`BEGIN { print(getopt("aa", 10, "what it is")) }`, "-q FILE -- --b", `^ERROR: unexpected program command line options: --b\nHINT: expected program options: --aa: what it is\n$`},
		{`BEGIN { print(getopt("aa", 10)) }`, "-q FILE -- --aa=no", `^ERROR: program command line option --aa invalid integer \(value: no\)\n$`},
		{`enum { E = 3 } BEGIN { @ = (a=1, c=("x\r", true), e=E); print((int8 *)50) }`, "-f json FILE", `^{"type": "attached_probes", "count": 1, "data": {"probes": 1}}\n{"type": "value", "data": 50}\n` +
			`{"type": "map", "data": {"@": {"a": 1, "c": \["x\\r",true\], "e": 3}}}\n$`},
		{`BEGIN { @[1] = 1; printf("%d\n", @[2]); delete(@, 3); clear(@) }`, "-q -k FILE", `(?s)stdin:1:34-38: WARNING: Can't lookup map element.*stdin:1:41-53: WARNING: this key is not there`},
		{`BEGIN { printf("a %d\n", 1); @ = 1; } i:ms:5 { print(comm); print(@); @t = tseries(7, 1ms, 2); exit() }`, "--format chrome FILE",
			`(?s){"name":"begin","ph":"i","ts":\d+\.\d{3},"pid":\d+,"tid":\d+,"s":"t","args":{"says":"a 1","cpu":\d+}}.*"says":".+","cpu":\d+}}.*{"name":"@t","ph":"C","ts":\d+\.000,"pid":0,"args":{"value":7}}`},
	}
	var scripts, args []string
	for _, c := range cases {
		scripts, args = append(scripts, c.script), append(args, c.args)
	}
	for i, got := range runScripts(t, scripts, args)[:len(cases)] {
		if c := cases[i]; !regexp.MustCompile(c.want).MatchString(got) {
			t.Errorf("bt %s of %s\nprints %q\nexpected %q", c.args, c.script, got, c.want)
		}
	}
}

// TestWarningsOfAPlace: what divides by 0 at each hit says so once a second, and how often; another place says it itself.
func TestWarningsOfAPlace(t *testing.T) {
	runsBeside(t)
	out := runScripts(t, []string{`BEGIN { for ($i : 0..10) { $x = 1 / ($i - $i); } @z = 0; $y = 1 % @z; clear(@z); }`}, []string{"-q FILE"})[0]
	hits, lines := map[string]int{}, map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^stdin:1:(\d+)-\d+: WARNING: Divide or modulo by 0 detected\. This can lead to unexpected results\. 1 is being used as the result\.(?: \((\d+) times\))?$`).FindAllStringSubmatch(out, -1) {
		n, _ := strconv.Atoi(m[2])
		hits[m[1]] += max(n, 1)
		lines[m[1]]++
	}
	if hits["33"] != 10 || lines["33"] == 10 || hits["63"] != 1 {
		t.Errorf("hits by column %v in lines %v:\n%s", hits, lines, out)
	}
}
