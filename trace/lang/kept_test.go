package lang

import (
	"strings"
	"testing"
)

// TestSeries: each interval has its own key as long as it is shown, and then it is begun anew. Each look at the clock
// takes 100 ns.
func TestSeries(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{`BEGIN { @ = tseries(5, 100, 3); @ = tseries(6, 100, 3); @ = tseries(7, 100, 3) }`, `@[:0]=3,7,300 @[:1]=1,5,100 @[:2]=2,6,200`},
		{`BEGIN { @ = tseries(5, 100, 3); @ = tseries(6, 100, 3); @ = tseries(7, 100, 3); @ = tseries(8, 100, 3) }`, `@[:0]=3,7,300 @[:1]=4,8,400 @[:2]=2,6,200`},
		{`BEGIN { @ = tseries(5, 200, 2); @ = tseries(6, 200, 2); @ = tseries(7, 200, 2) }`, `@[:0]=0,5,100 @[:1]=1,7,300`},
		{`BEGIN { @ = tseries(10, 200, 1, "avg"); @ = tseries(20, 200, 1, "avg"); @ = tseries(30, 200, 1, "avg"); }`, `@[:0]=1,50,2`},
		{`BEGIN { @ = tseries(10, 200, 1, "avg"); @ = tseries(20, 200, 1, "avg"); @ = tseries(30, 200, 1, "avg"); @ = tseries(40, 200, 1, "avg") }`, `@[:0]=2,40,1`},
		{`BEGIN { @ = tseries(10, 1000, 1, "sum"); @ = tseries(-20, 1000, 1, "sum") }`, `@[:0]=0,-10,2`},
		{`BEGIN { @ = tseries(10, 1000, 1, "min"); @ = tseries(-20, 1000, 1, "min"); @ = tseries(5, 1000, 1, "min") }`, `@[:0]=0,-20,2`},
		{`BEGIN { @ = tseries(10, 1000, 1, "max"); @ = tseries(-20, 1000, 1, "max"); @ = tseries(15, 1000, 1, "max"); @ = tseries(12, 1000, 1, "max") }`, `@[:0]=0,15,2`},
		{`BEGIN { @ = tseries((uint64)10, 1000, 1, "max"); @ = tseries((uint64)-20, 1000, 1, "max"); @ = tseries((uint64)15, 1000, 1, "max") }`, `@[:0]=0,-20,2`},
		{`BEGIN { @ = tseries((uint64)10, 1000, 1, "min"); @ = tseries((uint64)-20, 1000, 1, "min") }`, `@[:0]=0,10,1`},
		{`BEGIN { @[1] = tseries(5, 100, 2); @[2] = tseries(6, 100, 2) }`, `@[1:1]=1,5,100 @[2:0]=2,6,200`},
	} {
		m := newMachine(t, c.script)
		m.run("begin")
		if got := m.show(); got != c.want {
			t.Errorf("%s\ngot:  %s\nwant: %s", c.script, got, c.want)
		}
	}
}

// TestBytes: buf() has as many bytes as it is asked for, or as there is room for.
func TestBytes(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{`kprobe:f { printf("%r", buf(arg1, 3)) }`, `0(3:hel)`},
		{`kprobe:f { printf("%r", buf(arg1, arg2)) }`, `0(4:hell)`},
		{`kprobe:f { printf("%r", buf(arg1, arg0)) }`, `0(17:hello, you there,)`},
		{`kprobe:f { printf("%r", buf(arg1, arg4)) }`, `0(64:hello, you there, and all others too, however many there may be )`},
		{`config = { max_strlen = 8 } kprobe:f { printf("%r", buf(arg1, arg0)) }`, `0(8:hello, y)`},
		{`struct s { char n[3]; char rest[9]; } kprobe:f { printf("%r", buf(((struct s *)arg1)->n)) }`, `0(3:hel)`},
		{`struct s { char n[3]; char rest[9]; } kprobe:f { printf("%r", buf(((struct s *)arg1)->n, 2)) }`, `0(2:he)`},
		{`struct s { char n[3]; char rest[9]; } kprobe:f { printf("%r", buf(((struct s *)arg1)->n, arg0)) }`, `0(3:hel)`},
	} {
		m := newMachine(t, c.script)
		for off, v := range map[int]uint64{112: 17, 104: 0x5000, 96: 4, 88: 0x6000, 72: ^uint64(4)} {
			m.setReg(off, v)
		}
		m.memory[0x5000] = "hello, you there, and all others too, however many there may be of them now"
		m.run("kprobe")
		if got := m.show(); got != c.want {
			t.Errorf("%s\ngot:  %s\nwant: %s", c.script, got, c.want)
		}
	}
}

// TestTypesThatAreKept: errors name the type that a map or a variable has.
func TestTypesThatAreKept(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{`BEGIN { @x = (int32)1; @x = (uint32)2; $y = @x; $y = "a" }`, "type int64"},
		{`BEGIN { @x = (int32)1; @x = (uint16)2; $y = @x; $y = "a" }`, "type int64"},
		{`BEGIN { @x = (uint16)1; @x = (uint32)2; $y = @x; $y = "a" }`, "type uint32"},
		{`BEGIN { @x = (uint16)1; @x = -2; $y = @x; $y = "a" }`, "type uint16"},
		{`BEGIN { @x = -1; @x = (uint16)2; $y = @x; $y = "a" }`, "type uint16"},
		{`BEGIN { @c[1] = count(); for ($kv : @c) { $y = $kv.1; $y = "a" } }`, "type int64"},
		{`BEGIN { @c[1] = sum((uint64)5); for ($kv : @c) { $y = $kv.1; $y = "a" } }`, "type uint64"},
		{`BEGIN { @c[1] = max(-5); for ($kv : @c) { $y = $kv.1; $y = "a" } }`, "type int64"},
		{`BEGIN { @c = count(); $y = @c; $y = "a" }`, "type int64"},
		{`struct e { int64 a; } struct s { struct e p[2]; int64 q[2]; } kprobe:f { $s = (struct s *)arg1; @ = $s->p; @ = $s->q }`, "@ has values of type"},
		{`struct s { int64 p[2]; int64 q[3]; } kprobe:f { $s = (struct s *)arg1; @ = $s->p; @ = $s->q }`, "@ has values of type"},
		{`kprobe:f { print(kvar(arg1, kstack)) }`, "kvar() takes a pointer to a struct of the kernel and the calls that use it"},
		{`struct s { int64 p; } kprobe:f { @x[kvar((struct s *)arg1, kstack(4))] = 1; @x[1] = 2 }`, "@x has keys of type ((struct s *,stack)), and this"},
		{`kprobe:f { @x = umap(arg1); @x = 1 }`, "@x has values of type"},
	} {
		s, err := Parse("stdin", c.script)
		if err == nil {
			_, err = Compile(s, &Options{Resolver: anywhere{}, CPUs: 4})
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\ngot:  %v\nwant: %s", c.script, err, c.want)
		}
	}
}

// TestKept: what scripts compare, compute and keep, at the edges.
func TestKept(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		// Comparisons that do not hold, of equal numbers, with and without sign.
		{`BEGIN { $x = 5; if ($x <= 5) { @a = 1 } else { @a = 2 } if ($x < 5) { @b = 1 } else { @b = 2 } if ($x >= 5) { @c = 1 } else { @c = 2 } if ($x > 5) { @d = 1 } else { @d = 2 } }`,
			`@a[]=1 @b[]=2 @c[]=1 @d[]=2`},
		{`BEGIN { $x = -5; @a = $x < 5; @b = $x > 5; @c = $x <= 5; @d = $x >= 5; if (!($x < 5)) { @e = 1 } if (!($x > 5)) { @f = 1 } }`, `@a[]=1 @b[]=0 @c[]=1 @d[]=0 @f[]=1`},
		{`BEGIN { $x = (uint64)-5; @a = $x < (uint64)5; @b = $x > (uint64)5; if (!($x <= (uint64)5)) { @c = 1 } }`, `@a[]=0 @b[]=1 @c[]=1`},
		{`BEGIN { $z = 0; $o = 1; @a = !($z || $o); @b = !($z && $o); @c = !($z || $z); @d = ($o || $z) && ($z || $o); @e = ($o && $z) || ($z && $o) }`, `@a[]=0 @b[]=1 @c[]=1 @d[]=1 @e[]=0`},
		// Tuples are compared to their end, and as the wider of both.
		{`BEGIN { $a = (1, 2); $b = (1, 3); @a = $a == $b; @b = $a != $b; @c = $a == (1, 2); @d = (1, "abc") == (1, "abcdefghijkl"); @e = (1, "abcdefghijkl") != (1, "abc"); @f = (1, "abcdefgh") == (1, "abcdefghijkl") }`,
			`@a[]=0 @b[]=1 @c[]=1 @d[]=0 @e[]=1 @f[]=0`},
		{`BEGIN { @k[1] = 1; @a = delete(@k, 1); @b = delete(@k, 1); @k[2] = 2; @c = delete(@k[2]); @d = has_key(@k, 2) }`, `@a[]=1 @b[]=0 @c[]=1 @d[]=0`},
		// Buckets: of powers of 2 in four parts, and of a range that does not begin at 0.
		{`BEGIN { @ = hist(-1, 2); @ = hist(0, 2); @ = hist(3, 2); @ = hist(4, 2); @ = hist(7, 2); @ = hist(8, 2); @ = hist(9, 2); @ = hist(15, 2); @ = hist(16, 2) }`,
			`@[:0]=1 @[:12]=1 @[:13]=1 @[:1]=1 @[:4]=1 @[:5]=1 @[:8]=1 @[:9]=2`},
		{`BEGIN { @ = lhist(4, 5, 20, 5); @ = lhist(5, 5, 20, 5); @ = lhist(12, 5, 20, 5); @ = lhist(19, 5, 20, 5); @ = lhist(20, 5, 20, 5) }`, `@[:0]=1 @[:1]=1 @[:2]=1 @[:3]=1 @[:4]=1`},
		{`BEGIN { @ = lhist(20, 5, 21, 5); @ = lhist(21, 5, 21, 5) }`, `@[:4]=1 @[:5]=1`},
		// What one CPU of four has is what all have.
		{`BEGIN { @a[1] = min(5); @b[1] = max(-5); @c[1] = avg(-7); @c[1] = avg(-8); @d[1] = count(); @e = sum(3); @f[1] = min((uint64)-5); print(@a[1]); print(@b[1]); print(@c[1]); print(@d[1]); print(@e); print(@f[1]); print(@a[2]) }`,
			`@a[1]=5 @b[1]=-5 @c[1]=2,-15 @d[1]=1 @e[]=3 @f[1]=-5 2(5) 2(-5) 2(-7) 2(1) 1() 2(-5) 2(0)`},
		{`BEGIN { @a[1] = avg(5); @a[1] = avg(6); @a[2] = avg(7) }`, `@a[1]=2,11 @a[2]=1,7`},
		// Pointers move by what they point to.
		{`BEGIN { @p = (int32 *)0x100; @p += 2; @q = (int32 *)0x100; @q -= 1; $p = (int64 *)0x100; @r = $p + 2; @s = $p - 1; @t = 2 + $p }`, `@p[]=264 @q[]=252 @r[]=272 @s[]=248 @t[]=272`},
		{`BEGIN { @x = 5; print(@x--); print(++@x); @y[1] -= 2; @y[1] -= 3; print(--@y[1]) }`, `@x[]=5 @y[1]=-6 2(5) 2(5) 2(-6)`},
		// A thread's speculation is its number plus 1: 8 and 1.
		{`BEGIN { print(1); $s = speculate(); print($s); commit(); print(2); speculate(); discard(); discard(7) }`, `2(1)~0 2(9)~9 13(9)~0 2(2)~0 14(9)~0 14(7)~0`},
		{`BEGIN { $s = "a\xffb"; print($s[0]); print($s[1]); print($s[cpu]); print($s[2000]); }`, `2(97) 2(-1) 2(98) 2(0)`},
		{`BEGIN { for ($i : 3..5) { @a += $i } for ($i : 3..3) { @b++ } for ($i : 5..3) { @c++ } for ($i : (0-2)..0) { @d += $i } }`, `@a[]=7 @d[]=-3`},
	} {
		m := newMachine(t, c.script)
		m.run("begin")
		if got := m.show(); got != c.want {
			t.Errorf("%s\ngot:  %s\nwant: %s", c.script, got, c.want)
		}
	}
}

// TestParts: fields and elements, in memory of the kernel and of the script, by indexes that are known before or not.
func TestParts(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{`enum e { A, B = 3 } struct s { u8 x:3; enum e d:2; s8 z:3; } kprobe:f { $s = (struct s *)arg3; print($s->x); printf("%d", $s->d); print($s->z) }`, `2(6) 0(3) 2(-1)`},
		{`struct s { s16 v[4]; } kprobe:f { $a = ((struct s *)arg3)->v; print($a[0]); print($a[1]); print($a[arg2]); print($a[arg0]); print($a[arg4]); $k = 7777; print($a[arg5]) }`, `2(-2) 2(5) 2(-16) 2(0) 2(0) 2(0)`},
		{`struct s { u16 v[4]; } kprobe:f { $a = ((struct s *)arg3)->v; print($a[0]); print($a[arg2]); $p = ((struct s *)arg3); print($p->v[arg2]) }`, `2(65534) 2(65520) 2(65520)`},
		{`struct s { s32 a; s32 b; } kprobe:f { $s = *(struct s *)arg3; print($s.a); print($s.b); $p = (struct s *)arg3; print(($p + 1)->a) }`, `2(393214) 2(-1043916) 2(-2147483631)`},
		{`kprobe:f { $p = (s8 *)arg3; print(*$p); print($p[2]); print(*($p + 2)); print((uint8)*$p) }`, `2(-2) 2(5) 2(5) 2(254)`},
	} {
		m := newMachine(t, c.script)
		for off, v := range map[int]uint64{112: 17, 96: 3, 88: 0x6000, 72: ^uint64(4), 64: 4} {
			m.setReg(off, v)
		}
		m.memory[0x6000] = "\xfe\xff\x05\x00\x34\x12\xf0\xff\x11\x00\x00\x80\x00\x00\x00\x00"
		m.run("kprobe")
		if got := m.show(); got != c.want {
			t.Errorf("%s\ngot:  %s\nwant: %s", c.script, got, c.want)
		}
	}
}
