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
