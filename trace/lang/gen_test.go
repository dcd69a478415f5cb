package lang

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sonde/arch/amd64/goabi"
	"sonde/bpf/verify"
	"sonde/probe/task"
)

// show is what is in the maps and the records after a run: numbers, and strings without their zeroes.
func (m *machine) show() string {
	var lines []string
	for _, user := range m.unit.Maps {
		for key, v := range m.maps[user.Index] {
			key, value, bucket, ok := user.Element([]byte(key), *v)
			if !ok {
				continue
			}
			text := parts(user.Key, []byte(key))
			if user.Value.HasBuckets() {
				text += fmt.Sprint(":", bucket)
			}
			lines = append(lines, user.Name+"["+text+"]="+parts(valueParts(user.Value), value))
		}
	}
	slices.Sort(lines)
	for _, r := range m.records {
		a := m.unit.Actions[binary.LittleEndian.Uint64(r)]
		if a.Bytes != len(r) {
			m.t.Errorf("a record of %d bytes, and the action says %d", len(r), a.Bytes)
		}
		line := fmt.Sprintf("%d(%s)", a.Kind, parts(a.Args, r[a.Head:]))
		if m.unit.Settings.Speculates {
			line += fmt.Sprintf("~%d", binary.LittleEndian.Uint64(r[a.Head-8:])) // the speculation that it belongs to
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, " ")
}

func valueParts(t Type) []Type {
	switch t.Kind {
	case Avg, Stats:
		return []Type{int64Type, int64Type}
	case TSeries: // as SeriesInterval and those after it say
		return []Type{int64Type, int64Type, int64Type}
	}
	return []Type{t}
}

func parts(types []Type, b []byte) string {
	var all []string
	for _, t := range types {
		switch t.Kind {
		case String:
			all = append(all, strings.TrimRight(string(b[:t.Size()]), "\x00"))
		case TupleOf:
			all = append(all, "("+parts(t.Elems, b)+")")
		case Bytes:
			all = append(all, fmt.Sprintf("%d:%s", int64(binary.LittleEndian.Uint64(b)), strings.TrimRight(string(b[8:t.Size()]), "\x00")))
		case ProbeID:
			all = append(all, fmt.Sprintf("%d@%#x", binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])))
		default:
			all = append(all, fmt.Sprint(int64(binary.LittleEndian.Uint64(b))))
		}
		b = b[t.Size():]
	}
	return strings.Join(all, ",")
}

func TestRun(t *testing.T) {
	long := strings.Repeat("x", 100)
	for _, c := range []struct{ script, want string }{
		// Records: 0 printf, 1 a map, 2 a value, 3 clear, 4 zero, 5 delete, 6 exit, 7 time.
		{`BEGIN { printf("hello world\n"); exit(); printf("no"); }`, `0() 6()`},
		{`BEGIN { printf("%d %s %s", 5, "abc", comm); }`, `0(5,abc,cat)`},
		{`BEGIN { $t = (1, 2); @h[$t] = count(); delete(@h[$t]) }`, `@h[1,2]=1 5((1,2))`},
		{`BEGIN { $s = "abcdefg"; print($s == "abcdefgh"); print($s != "abcdefgh"); print($s == "abcdefg"); print("abcdefgh" == $s) }`, `2(0) 2(1) 2(1) 2(0)`},
		{`BEGIN { printf("%d %d %d %d %d", pid, tid, uid, gid, cpu); }`, `0(7,8,4,5,2)`},
		{`BEGIN { printf("%d %d", nsecs, elapsed); }`, `0(100,200)`},
		{`BEGIN { printf("%d %d %d", ncpus, goid, -5); }`, `0(4,77,-5)`},
		{`BEGIN { print(1 + 2 * 3 - 8 / 2 % 3); print((1, ("a", 2))); print(7 >> 1 | 8 ^ 3 & 6) }`, `2(6) 2((1,(a,2))) 2(11)`},
		{`BEGIN { $x = -7; print($x / 2); print($x % 2); print($x >> 1); print($x < 3); print(~$x); print(-$x); print(!$x) }`, `2(-3) 2(-1) 2(-4) 2(1) 2(6) 2(7) 2(0)`},
		{`BEGIN { $x = (uint64)-1; print($x / 2); print((uint8)300); print((int8)200); print((bool)7) }`, `2(9223372036854775807) 2(44) 2(-56) 2(1)`},
		{`BEGIN { print(1 ? "yes" : "no"); print(0 ? 1 : 2); print(1 == 1 && 2 > 3 || 5 != 4); print(1 && 0) }`, `2(yes) 2(2) 2(1) 2(0)`},
		{`BEGIN { print(0x123456789abc); $s = "` + long + `"; print($s) }`, `2(20015998343868) 2(` + long[:63] + `)`},

		{`BEGIN { @ = 5; @a["k", 3] = "v"; @b = (1, "two"); @c[@] = @; print(@b.1); print(@c[5]) }`, `@[]=5 @a[k,3]=v @b[]=(1,two) @c[5]=5 2(two) 2(5)`},
		{`BEGIN { @x++; @x++; @x += 5; @y--; @z -= 2; ++@k[1]; }`, `@k[1]=1 @x[]=7 @y[]=-1 @z[]=-2`},
		{`BEGIN { @w |= 6; @w &= 3; print(@x++); print(++@x) }`, `@w[]=2 @x[]=2 2(0) 2(2)`},
		{`BEGIN { @["a"] = 1; @["bcdefghijklm"] = 2; delete(@, "a"); print(has_key(@, "a")); print(has_key(@, "bcdefghijklm")) }`, `@[bcdefghijklm]=2 2(0) 2(1)`},
		{`BEGIN { @a[1,2] = 1; delete(@a[1,2]); @b[1,2] = 1; delete(@b, (1,2)); print(@a[1,2]) }`, `2(0)`},
		{`BEGIN { @c = count(); @c = count(); @k[comm] = count(); @s = sum(5); @s = sum(-7); @t[1] = sum(2); @t[1] = sum(2) }`, `@c[]=2 @k[cat]=1 @s[]=-2 @t[1]=4`},
		{`BEGIN { @a = min(5); @a = min(3); @a = min(4); @b = max(-5); @b = max(-9); @c = avg(4); @c = avg(8); @d[1] = stats(3) }`, `@a[]=3 @b[]=-5 @c[]=2,12 @d[1]=1,3`},
		{`BEGIN { @ = hist(-3); @ = hist(0); @ = hist(1); @ = hist(2); @ = hist(3); @ = hist(4); @ = hist(1023); @ = hist(1024); @ = hist(0x7fffffffffffffff) }`,
			`@[:0]=1 @[:11]=1 @[:12]=1 @[:1]=1 @[:2]=1 @[:3]=2 @[:4]=1 @[:64]=1`},
		{`BEGIN { @[7] = lhist(-1, 0, 100, 10); @[7] = lhist(0, 0, 100, 10); @[7] = lhist(99, 0, 100, 10); @[7] = lhist(100, 0, 100, 10); }`, `@[7:0]=1 @[7:10]=1 @[7:11]=1 @[7:1]=1`},
		{`BEGIN { @c[1] = count(); @n = 1; clear(@c); zero(@n); print(@c); print(@c, 5, 2); delete(@c[1]); time("%S") }`, `@c[1]=1 @n[]=1 3() 4() 1() 1() 5(1) 7()`},

		{`BEGIN { if (1) { @ = 1 } else { @ = 2 } if 0 { @a = 1 } else if (5 > 4) { @a = 2 } else { @a = 3 } }`, `@[]=1 @a[]=2`},
		{`BEGIN { $i = 0; while ($i < 10) { $i++; if ($i == 3) { continue } if ($i == 6) { break } @[$i] = $i * $i } }`, `@[1]=1 @[2]=4 @[4]=16 @[5]=25`},
		{`BEGIN { for $i : 2..5 { @ += $i } unroll(3) { @u++; } { let $z = 4; @z = $z } return; @no = 1 }`, `@[]=9 @u[]=3 @z[]=4`},
		{`BEGIN { let $s : string[16] = "abc"; $t = comm; @ = $t == "cat"; @a = $s == $t; @b = "catx" == comm; @c = $s != "abd"; @d = comm == "ca" }`, `@[]=1 @a[]=0 @b[]=0 @c[]=1 @d[]=0`},
		{`BEGIN { @ = strncmp("abc", "abd", 2); @a = strncmp("abc", "abd", 3) == 1; @b = strncmp("abc", "abc", 9) }`, `@[]=0 @a[]=1 @b[]=0`},
		{`BEGIN { @ = $1 + 1; @b = $2; @c = str($2); @d = $3; @n = $# }`, `@[]=13 @b[]=two @c[]=two @d[]=0 @n[]=2`},
		{`BEGIN { @ = sizeof(uint32) + sizeof(5); @f = (5, "x").0; $t = (1, "y"); @g = $t.1; @s[kstack] = 1; @u = ustack(2) }`, `@[]=5 @f[]=5 @g[]=y @s[3]=1 @u[]=30064771075`},
		{`BEGIN { $k = (struct known *)0; @ = sizeof(struct known); @a = sizeof(*$k); @o = offsetof(struct known, next); @p = sizeof($k->next->next) }`, `@[]=24 @a[]=24 @o[]=16 @p[]=8`},
		{`struct known { int a; } BEGIN { @ = sizeof(struct known) }`, `@[]=4`},
		{`BEGIN { @ = len(kstack); $s = ustack(2); @u = len($s) + len(ustack(raw)); @m[1] = kstack; @l = len(@m[1]) }`, `@[]=30 @l[]=30 @m[1]=3 @u[]=60`},
		{`BEGIN { @[probe] = 1; @f = func }`, `@[0@0x0]=1 @f[]=4660`},
		{`BEGIN { @x[1] = (1, "a"); @y = @x[1]; @z = @x[2]; @k[(1, "b")] = 1; @l[@x[1].1] = 2; if (@k[1, "b"]) { @m = 1 } }`, `@k[1,b]=1 @l[a]=2 @m[]=1 @x[1]=(1,a) @y[]=(1,a) @z[]=(0,)`},
	} {
		t.Run(c.script, func(t *testing.T) {
			m := newMachine(t, c.script, "12", "two")
			m.setReg(goabi.PtRegsIP, 0x1234)
			m.run("begin")
			if got := m.show(); got != c.want {
				t.Errorf("got:  %s\nwant: %s", got, c.want)
			}
		})
	}
}

// TestPoints: arguments, results and addresses are where the attach point has them.
func TestPoints(t *testing.T) {
	for _, c := range []struct{ provider, script, want string }{
		{"kprobe", `kprobe:f { print(arg0); print(arg2); print(str(arg1)); print(str(arg1, 2)) }`, `2(17) 2(3) 2(hello) 2(he)`},
		{"kprobe", `kprobe:f { print(str(arg1, arg2)); print(kstr(arg1)); print(str(0)) }`, `2(hel) 2(hello) 2()`},
		{"kprobe", `kprobe:f /arg0 == 17/ { @ = 1 } kprobe:f /arg0 > 17 || comm == "dog"/ { @ = 2 }`, `@[]=1`},
		{"kretprobe", `kretprobe:f { print(retval); @[func] = 1 }`, `@[17185]=1 2(-5)`},
		{"tracepoint", `tracepoint:a:b { printf("%d %s", args.fd, str(args.filename)); print(args->fd) }`, `0(17,hello) 2(17)`},
		{"kretprobe", `kretprobe:f /ret.0/ { printf("%s", ret.0); print(ret.0); @[ret.0, str(ret.0)] = 1; $e = ret.0; print($e) }`, `@[17,error 3 of 17]=1 0(error 3 of 17) 2(error 3 of 17) 2(17)`},
		{"tracepoint", `tracepoint:a:* { @[probe] = 1 }`, `@[1@0x0]=1`},
		// What is spelled alike is one place, also of a pattern: the second that a:* stands for is a:c.
		{"tracepoint", `tracepoint:a:* { @[probe] += 1 } tracepoint:a:c { @[probe] += 5 } tracepoint:a:b { @[probe] += 20 }`, `@[0@0x0]=20 @[1@0x0]=6`},
		{"kprobe", `kprobe:f { @[probe] += 1 } kprobe:g { @[probe] += 1 } kprobe:f { @[probe] += 1 }`, `@[0@0x0]=2 @[1@0x0]=1`},
		{"watchpoint", `watchpoint:a:4:w { printf("%d -> %d", watch.old, watch.new) }`, `0(7,5)`},
		{"kprobe", `struct s { int a; struct s *next; char name[4]; u16 v[3]; } kprobe:f { $s = (struct s *)arg3; print($s->a); print($s.next->a); print($s->name); print($s->v[2]); print(*(uint32 *)arg3); print(((u8 *)arg3)[1]) }`,
			`2(-2) 2(66) 2(nam) 2(772) 2(4294967294) 2(255)`},
		{"kprobe", `enum e { A, B } struct s { int a:3; int b:5; unsigned c:4; enum e d:2; s64 f; } kprobe:f { $s = (struct s *)arg3; print($s->a); print($s->b); print($s->c); printf("%d", $s->d) }`, `2(-2) 2(-1) 2(15) 0(3)`},
		{"kprobe", `struct s { int a; int b; } kprobe:f { $s = container_of((int *)(arg3 + 4), typeof(struct s), b); print($s->a); print($s == arg3) }`, `2(-2) 2(1)`},
		{"kprobe", `kprobe:f { @s[tid] = nsecs; } kretprobe:f /@s[tid]/ { @ns[comm] = hist(nsecs - @s[tid]); delete(@s, tid); }`, `@s[8]=100`},
		{"uprobe", `uprobe:/bin/a:f { @[ustack, comm] = count(); print(str(arg1)) }`, `@[30064771075,cat]=1 2(hello)`},
	} {
		t.Run(c.script, func(t *testing.T) {
			m := newMachine(t, c.script)
			for off, v := range map[int]uint64{112: 17, 104: 0x5000, 96: 3, 88: 0x6000, 80: ^uint64(4)} {
				m.setReg(off, v)
			}
			m.memory[0x5000] = "hello\x00more"
			m.memory[0x6000] = "\xfe\xff\xff\xff0000\x00\x70\x00\x00\x00\x00\x00\x00nam\x00\x01\x00\x02\x00\x04\x03\x00\x00"
			m.memory[0x7000] = "\x42\x00\x00\x00"
			m.run(c.provider)
			if got := m.show(); got != c.want {
				t.Errorf("got:  %s\nwant: %s", got, c.want)
			}
		})
	}
}

// TestGo: strings are an address and a length, and so are slices, in registers and in memory.
func TestGo(t *testing.T) {
	m := newMachine(t, `fentry:f { print(args.s); print(len(args.p)); print(args.p[1]); print(args.f.n); printf("%s|%s", args.f.name, str(args.f->name)); print(len(args.f.list)); print(args.f.list[1]); @[args.f.name] = 1; }`)
	for off, v := range map[int]uint64{80: 0x6000, 40: 0x5000, 88: 3, 104: 0x5000, 72: 200} {
		m.setReg(off, v)
	}
	m.memory[0x5000] = strings.Repeat("hello world ", 10)
	name := string(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, 0x5006), 5))
	m.memory[0x6000] = "\x07\x00\x00\x00____" + name + name
	m.run("fentry")
	want := `@[world]=1 2(` + m.memory[0x5000][:63] + `) 2(3) 2(101) 2(7) 0(world,world) 2(5) 2(27762)`
	if got := m.show(); got != want {
		t.Errorf("got:  %s\nwant: %s", got, want)
	}
}

// TestProcesses: the number of the parent is read from the task, in the kernel, also at a probe in a program;
// a signal is sent to whom was hit, and a variable of a program is as far from its function as in the file.
func TestProcesses(t *testing.T) {
	const parent, nobody = 0x9000, 0xa000
	m := newMachine(t, `uprobe:a:f { print(ppid); print(ppid()); print(ppid(curtask)); print(ppid(arg1)); print(pid(init)); print(tid(curr_ns)); signal("SIGUSR1"); signal("TERM"); print(*uaddr("v")); print(uaddr("v")); printf("%s<%s", comm, pcomm); @[leader_comm] = 1; }`)
	m.task = 0x8000
	m.memory[m.task] = taskOf(7, parent, "worker")
	m.memory[parent] = taskOf(42, 0, "shell")
	m.memory[nobody] = taskOf(1, 0, "init")
	m.memory[0x2100] = "\x55\x00\x33\x00\xff"
	m.setReg(104, nobody)
	m.setReg(goabi.PtRegsIP, 0x2000)
	m.run("uprobe")
	if got, want := m.show(), "@[init]=1 2(42) 2(42) 2(42) 2(0) 2(7) 2(8) 2(3342421) 2(8448) 0(cat,shell)"; got != want || !slices.Equal(m.signals, []uint64{10, 15}) {
		t.Errorf("got %s and signals %v, want %s", got, m.signals, want)
	}
}

// taskOf is a task in memory.
func taskOf(pid int32, parent uint64, comm string) string {
	b := make([]byte, task.OffsetComm+16)
	copy(b[task.OffsetComm:], comm)
	binary.LittleEndian.PutUint64(b[task.OffsetLeader:], 0xa000)
	binary.LittleEndian.PutUint32(b[task.OffsetTGID:], uint32(pid))
	binary.LittleEndian.PutUint64(b[task.OffsetParent:], parent)
	return string(b)
}

// TestLengths: strings have as many bytes as max_strlen says, with their end, wherever they come from.
func TestLengths(t *testing.T) {
	m := newMachine(t, `config = { max_strlen = 5 } fentry:f { print("abcdefgh"); print(str(0x5000)); print(str(0x5000, 7)); print(path(args.f)); print(args.s); @[str(0x5000)] = "abcdefgh"; print(@["abcdefgh"]); }`)
	for off, v := range map[int]uint64{80: 0x6000, 104: 0x5000, 72: 200} {
		m.setReg(off, v)
	}
	m.memory[0x5000] = "abcdefgh"
	m.memory[0x6000] = "________" + string(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, 0x5001), 7))
	m.run("fentry")
	if got, want := m.show(), "@[abcd]=abcd 2(abcd) 2(abcd) 2(abcd) 2(bcde) 2(abcd) 2(abcd)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestLatency: what one probe keeps, another one finds and deletes.
func TestLatency(t *testing.T) {
	m := newMachine(t, `kprobe:f { @s[tid] = nsecs; } kretprobe:f /@s[tid]/ { @ns[comm] = hist(nsecs - @s[tid]); delete(@s, tid); }`)
	m.run("kprobe")
	m.run("kretprobe")
	m.run("kretprobe")
	if got, want := m.show(), "@ns[cat:8]=1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestActive: programs do nothing before the script runs and after exit(); BEGIN and END always run.
func TestActive(t *testing.T) {
	m := newMachine(t, `BEGIN { @a++ } kprobe:f { @b++; if (@b == 2) { exit(); @b = 9; } } END { @c++ }`)
	m.control(0)
	m.run("begin")
	m.run("kprobe")
	m.control(1)
	for range 4 {
		m.run("kprobe")
	}
	m.run("end")
	if got, want := m.show(), "@a[]=1 @b[]=2 @c[]=1 6()"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestCompileRefuses(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{`BEGIN { print($x) }`, "1:15-17: ERROR: the variable $x has no value here\nBEGIN { print($x) }\n              ~~"},
		{`BEGIN { $abc = 1; print($abd) }`, "HINT: did you mean $abc?"},
		{`BEGIN { print(@x) }`, "1:15-17: ERROR: nothing is ever assigned to @x"},
		{`BEGIN { @abc = 1; @b = @abd; }`, "nothing is ever assigned to @abd\nBEGIN { @abc = 1; @b = @abd; }\n                       ~~~~\nHINT: did you mean @abc?"},
		{`BEGIN { @a = @b; @b = @a }`, "nothing is ever assigned to @"},
		{`BEGIN { print(pidd) }`, "1:15-19: ERROR: there is no builtin pidd\nBEGIN { print(pidd) }\n              ~~~~\nHINT: did you mean pid?"},
		{`BEGIN { printff("a") }`, "there is no function printff\nBEGIN { printff(\"a\") }\n        ~~~~~~~~~~~~\nHINT: did you mean printf?"},
		{`BEGIN { system("a") }`, "1:9-20: ERROR: system() runs commands"},
		{`BEGIN { @ = count(1) }`, "1:13-21: ERROR: count() takes 0 arguments, and has 1"},
		{`BEGIN { print() }`, "print() takes at least 1 argument, and has 0"},
		{`BEGIN { exit(1, 2) }`, "exit() takes at most 1 argument, and has 2"},
		{`BEGIN { count() }`, "1:9-16: ERROR: count() must be assigned to a map: @ = count(…)"},
		{`BEGIN { $x = count() }`, "count can only be in a map: give @x instead of $x"},
		{`BEGIN { @ = exit() }`, "1:13-19: ERROR: this has no value"},
		{`BEGIN { @ = 1; @ = "a" }`, "@ has values of type int8, and this is of type string[2]"},
		{`BEGIN { @ = count(); @ = 5 }`, "@ keeps count(): nothing else can be assigned to it"},
		{`BEGIN { @[1] = 1; @ = 2 }`, "@ needs a key of type (int8)"},
		{`BEGIN { @ = 1; @[1] = 2 }`, "@ has no key elsewhere"},
		{`BEGIN { @[1] = 1; @["a"] = 2 }`, "@ has keys of type (int8), and this is of type (string[2])"},
		{`BEGIN { @[1] = 1; @[1, 2] = 2 }`, "@ has keys of type (int8), and this is of type (int8,int8)"},
		{`BEGIN { $x = 1; $x = "a" }`, "$x has values of type int8, and this is of type string[2]"},
		{`BEGIN { @ = 1 + "a" }`, "1:13-20: ERROR: + does not work on int8 and string[2]"},
		{`BEGIN { @ = comm + 1 }`, "+ does not work on string[16] and int8"},
		{`BEGIN { if ("a") { } }`, "a condition is an integer, and this is of type string[2]"},
		{`BEGIN { @ = kstack == kstack }`, "values of type stack cannot be compared"},
		{`BEGIN { @ = 1 ? 1 : "a" }`, "both sides of \":\" must be of one type, and these are of int8 and string[2]"},
		{`BEGIN { printf("%d %d", 1) }`, "printf() has a format for 2 values, and is given 1"},
		{`BEGIN { printf("%d", "a") }`, "printf() prints %d, and this is of type string[2]"},
		{`BEGIN { printf("%s", 1) }`, "printf() prints %s, and this is of type int8"},
		{`BEGIN { printf("%q", 1) }`, "the format \"%q\" is not known"},
		{`BEGIN { printf("%1.99999d", 1) }`, "the width in \"%1.99999d\" is too large"},
		{`BEGIN { printf("%1.2.3d", 1) }`, "the format \"%1.2.3d\" is not known"},
		{`BEGIN { printf("%9999d", 1) }`, "the width in \"%9999d\" is too large"},
		{`BEGIN { printf(comm) }`, "printf() needs a string that is written out here"},
		{`BEGIN { @ = arg0 }`, "begin has no arguments: they are there in kprobe and uprobe"},
		{`kprobe:f { @ = arg7 }`, "kprobe:f has arg0 to arg5"},
		{`kprobe:f { @ = retval }`, "retval is there in kretprobe"},
		{`kprobe:f { @ = args.q }`, "nothing is known of the arguments of kprobe:f"},
		{`inline:f { @ = args.q }`, "nothing is known of the arguments of inline:f\ninline:f { @ = args.q }\n               ~~~~~~\nHINT: each copy has them elsewhere: give one function"},
		{`line:f.go:1 { @ = args.q }`, "HINT: they are known where the function is entered: kprobe has them"},
		{`fentry:f { @ = args.q }`, "fentry:f has no argument q\nfentry:f { @ = args.q }\n               ~~~~~~\nHINT: did you mean"},
		{`fentry:f { @ = args.v.n }`, "args.v is a struct File in registers: only what a pointer leads to can be read"},
		{`kretprobe:f { $e = ret.0; print(str($e)) }`, "str() takes an error of Go alone, and where it lies: str(ret.1)"},
		{`kretprobe:f { print(str(ret.0, 5)) }`, "str() takes an error of Go alone, and where it lies"},
		{`fentry:f { @ = len(args.f) }`, "len() takes a slice, a string, an array, a stack or a map, and this is of type struct File *"},
		{`fentry:f { @ = args.p }`, "a value of type []uint8 cannot be used here"},
		{`t:a:b { @ = args.f }`, "tracepoint:a:b has no argument f\nt:a:b { @ = args.f }\n            ~~~~~~\nHINT: did you mean fd?"},
		{`t:a:b { @ = args.quite }`, "HINT: there is fd, filename"},
		{`kprobe:f { @ = watch.old }`, "watch.old and watch.new are there in watchpoints alone"},
		{`kprobe:f { @ = ((struct s *)arg0)->x }`, "struct s has no field x"},
		{`kprobe:f { @ = *(int32)arg0 }`, "only a pointer or an address can be followed by *, and this is of type int32: cast it"},
		{`kprobe:f { @ = arg0[1] }`, "int64 cannot be indexed"},
		{`BEGIN { @ = lhist(1, 0, 10, 0) }`, "the step of lhist() is above 0, and this is 0"},
		{`BEGIN { @ = lhist(1, 10, 0, 1) }`, "lhist() goes from 10 to 0"},
		{`BEGIN { @ = lhist(1, 0, 1000000, 1) }`, "lhist() has at most 1000 steps"},
		{`BEGIN { @ = lhist(1, 0, pid, 1) }`, "lhist() needs numbers that are written out here"},
		{`BEGIN { unroll(200) { } }`, "unroll maximum value is 100"},
		{`BEGIN { unroll(100) { unroll(100) { unroll(100) { @++ } } } }`, "the program of this probe is longer than 32000 instructions"},
		{`BEGIN { break }`, "this is in no loop"},
		{`BEGIN { @ = kstack(200) }`, "kstack takes a number of frames from 1 to 127"},
		{`BEGIN { @c = hist(1); if (@c > 5) { } }`, "> does not work on hist and int8"},
		{`kprobe:f { @[1] = 1; for ($kv : @) { @b = arg0 } }`, "1:22-25: ERROR: arguments, results and stacks cannot be read in a loop over a map"},
		{`BEGIN { for ($kv : @x) { } @x = 1 }`, "a loop is over a map with keys, and not over int8: @x"},
		{`BEGIN { $x = 1; print(&$x) }`, "1:23-26: ERROR: &$x is not supported: programs give away no addresses"},
		{`BEGIN { signal(9) }`, "1:9-18: ERROR: signal() changes what programs do\nBEGIN { signal(9) }\n        ~~~~~~~~~\nHINT: start bt with --unsafe"},
		{`BEGIN { override(1) }`, "the function override is not supported\nBEGIN { override(1) }\n        ~~~~~~~~~~~\nHINT: no script changes what functions return"},
		{`BEGIN { print(cpid) }`, "the builtin cpid is not supported\nBEGIN { print(cpid) }\n              ~~~~\nHINT: -c runs a line of the shell"},
		{`kretprobe:f { @ = sarg0 }`, "1:19-24: ERROR: sarg0: the arguments on the stack are gone when a function returns"},
		{`t:a:b { @ = sarg0 }`, "sarg0: the arguments of system calls are in registers: args has their names"},
		{`s:page-faults:1 { @ = usermode }`, "usermode is not known at software:page-faults:1"},
		{`struct s { int a; } kprobe:f { print(container_of(arg0, typeof(struct s), q)) }`, "struct s has no field q"},
		{`kprobe:f { print(container_of(arg0, 5, q)) }`, "container_of() takes a pointer, typeof(struct NAME), and the name of a field"},
		{`BEGIN { print(pid(5)) }`, "pid() takes nothing, curr_ns or init"},
		{`kprobe:f { print(path(arg0)) }`, "path() takes a file, as args.f of vfs.Read, and this is of type int64"},
		{`kprobe:f { print(uaddr("x")) }`, "uaddr() is for uprobes on the beginning of a function"},
		{`uprobe:a:f { print(uaddr("none")) }`, "1:20-33: ERROR: there is no variable none"},
		{`import "a.bt" BEGIN { }`, "1:1-7: ERROR: import is not supported\nimport \"a.bt\" BEGIN { }\n~~~~~~\nHINT: bt has the functions"},
		{`BEGIN { print(kaddr("q")) }`, "1:15-25: ERROR: Failed to resolve kernel symbol: q"},
		{`BEGIN { print(reg("ip")) }`, "begin has no registers"},
		{`kprobe:f { print(reg("iq")) }`, "there is no register \"iq\""},
		{`BEGIN { @ = lhist(1, 0, 2147483648, 2147483648) }`, "lhist() has at most 1000 steps, and numbers of 32 bits"},
		{`BEGIN { @ = lhist(1, 0, 10, 1); @ = lhist(1, 0, 20, 1) }`, "@ keeps lhist(…, 0, 10, 1), and this is lhist(…, 0, 20, 1): in one map, they must be the same\nBEGIN { @ = lhist(1, 0, 10, 1); @ = lhist(1, 0, 20, 1) }\n                                ~~~~~~~~~~~~~~~~~~~~~~"},
		{`BEGIN { @[1] = hist(1, 2); @[2] = hist(1) }`, "@ keeps hist(…, 2), and this is hist(…, 0): in one map, they must be the same"},
		{`BEGIN { @ = tseries(1, 1s, 5, "max"); @ = tseries(1, 100ms, 5) }`, "@ keeps tseries(…, 1s, 5, \"max\"), and this is tseries(…, 100ms, 5): in one map, they must be the same"},
		{`uprobe:/bin/a:f { print(((struct q *)arg0)->x) }`, "struct q has no field x\nuprobe:/bin/a:f { print(((struct q *)arg0)->x) }\n                         ~~~~~~~~~~~~~~~~~~~~\nHINT: nothing is known of its fields: there is no q"},
		{`uprobe:/bin/a:f { print(sizeof(struct q)) }`, "there is no struct q in the script, nor in the program\nuprobe:/bin/a:f { print(sizeof(struct q)) }\n                               ~~~~~~~~\nHINT: there is no q"},
		{`BEGIN { @x = tseries(1, 1s, 0) }`, "tseries() needs a number of intervals that is written out here, from 1 to 1000"},
		{`BEGIN { @x = tseries(1, 1s, 5, "median") }`, "tseries() keeps the sum, min, max or avg of an interval, and not \"median\""},
		{`BEGIN { @x = hist(1, 6) }`, "hist() needs a number of bits that is written out here, from 0 to 5"},
		{`BEGIN { print(buf(arg0)) }`, "begin has no arguments"},
		{`kprobe:f { print(buf(arg0)) }`, "buf() needs to know how many bytes are meant"},
		{`BEGIN { print(pton("1.2")) }`, "\"1.2\" is not an address"},
		{`BEGIN { fail("no") }`, "1:9-19: ERROR: no"},
		{`macro m($x) { $x = 1 } BEGIN { m(5) }`, "1:34-35: ERROR: the macro m wants a variable here"},
		{`macro m() { @x = 1 } BEGIN { m() }`, "1:13-15: ERROR: the macro m has no argument @x"},
		{`macro m(a) { m(a) } BEGIN { m(1) }`, "macros are called more than 1024 times, or 64 deep"},
		{`BEGIN { if (1) { $x = 1; } print($x) }`, "1:34-36: ERROR: the variable $x has no value here"},
		{`BEGIN { @b = 5; has_key(@b, 1) }`, "call to has_key() expects a map with explicit keys, and @b has none"},
		{`BEGIN { print((int8[9])5) }`, "int8 has 8 bytes, and int8[9] would have 9"},
		{`BEGIN { $t = (a=1, b=2); print($t.c) }`, "(a=int8,b=int8) has no part c"},
		{`config = { max_map_keyz = 1 } BEGIN { }`, "max_map_keyz: not a known configuration option\nconfig = { max_map_keyz = 1 } BEGIN { }\n           ~~~~~~~~~~~~~~~~\nHINT: did you mean max_map_keys?"},
		{`config = { max_strlen = 1e6 } BEGIN { }`, "max_strlen is a number from 1 to 10240"},
		{`let @a = array(5); BEGIN { @a = 1 }`, "there are no maps of type array"},
		{`kprobe:vfs.Reed { }`, "1:1-16: ERROR: No matches for kprobe vfs.Reed: there is no function vfs.Reed\nkprobe:vfs.Reed { }\n~~~~~~~~~~~~~~~\nHINT: did you mean vfs.Read?"},
		{`BEGIN { @ = ` + strings.Repeat("($x + ", 70) + `1`, "this is nested 64 deep"},
		{`BEGIN { @["` + strings.Repeat("x", 300) + `", "` + strings.Repeat("x", 300) + `"] = 1 } config = { max_strlen = 1000 }`, "the keys of @ have 608 bytes, more than 512"},
	} {
		s, err := Parse("stdin", c.script)
		if err == nil {
			_, err = Compile(s, &Options{Resolver: anywhere{}, CPUs: 4})
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.100s\ngot:  %v\nwant: %s", c.script, err, c.want)
		}
	}
}

// TestOptionsRefused: a setting of the command line stands nowhere in the script.
func TestOptionsRefused(t *testing.T) {
	script, err := Parse("stdin", `BEGIN { }`)
	if err != nil {
		t.Fatal(err)
	}
	script.Config = append(script.Config, Setting{Name: "max_map_keyz", Value: "1"})
	_, err = Compile(script, &Options{})
	if want := "ERROR: max_map_keyz: not a known configuration option\nHINT: did you mean max_map_keys?"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestEndless: what the verifier refuses is shown in the script.
func TestEndless(t *testing.T) {
	for script, want := range map[string]string{
		`BEGIN { while (1) { } }`: "stdin:1:16-17: ERROR: this loop has no bound that can be seen",
		`kprobe:f { $i = 0; while ($i < 1000000) { $i++; $j = $i * arg0; if ($j > 5) { @ = $j } } }`: ": ERROR: a loop ends too late here: each of its rounds is checked, and there are too many",
	} {
		m := newMachine(t, script)
		p := m.unit.Programs[0]
		_, err := verify.Check(progOf(m.unit, p), m.env)
		e, ok := err.(*verify.Error)
		if !ok {
			t.Fatal(err)
		}
		if got := m.unit.Explain(p, e.PC, e.Why).Error(); !strings.Contains(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
