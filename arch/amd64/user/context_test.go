package user

import (
	"testing"
	"unsafe"

	"sonde/arch/amd64"
)

func TestContextIsAlignedForXSAVE(t *testing.T) {
	if unsafe.Sizeof(Context{}) != sizeClass || unsafe.Sizeof(Context{})%64 != 0 ||
		unsafe.Offsetof(Context{}.frame)+unsafe.Sizeof(Context{}.frame) != unsafe.Offsetof(Context{}.Regs) || unsafe.Offsetof(Context{}.user) != 0 || unsafe.Offsetof(Context{}.user.X87)%64 != 0 || unsafe.Offsetof(Context{}.fx)%16 != 0 {
		t.Fatalf("%d bytes, fx at %d", unsafe.Sizeof(Context{}), unsafe.Offsetof(Context{}.fx))
	}
	var keep []*Context
	for range 100 {
		c := New()
		if uintptr(unsafe.Pointer(c))%64 != 0 {
			t.Fatalf("%p", c)
		}
		keep = append(keep, c, c.Clone())
	}
	_ = keep
}

func TestNewIsAsAProgramBegins(t *testing.T) {
	c := New()
	if !c.prepare() || c.Regs.CS != 0x23 || c.Regs.SS != 0x1b || c.Regs.Flags != 0x202 || c.sysret != 0 {
		t.Errorf("%+v", c.Regs)
	}
	fp := c.FP()
	if len(fp) != 512 || fp[0] != 0x7f || fp[1] != 3 || fp[24] != 0x80 || fp[25] != 0x1f {
		t.Errorf("FCW % x, MXCSR % x", fp[:2], fp[24:28])
	}
}

// TestSysretOnlyWhereItIsExact: SYSRET loads IP from CX and the flags from R11.
func TestSysretOnlyWhereItIsExact(t *testing.T) {
	for _, x := range []struct {
		name   string
		change func(r *amd64.Regs)
		want   uint32
	}{
		{"as SYSCALL leaves them", func(*amd64.Regs) {}, 1},
		{"AX changed", func(r *amd64.Regs) { r.AX = 9 }, 1},
		{"CX changed", func(r *amd64.Regs) { r.CX++ }, 0},
		{"IP changed", func(r *amd64.Regs) { r.IP++ }, 0},
		{"R11 changed", func(r *amd64.Regs) { r.R11 ^= amd64.RFLAGS_CF }, 0},
		{"flags changed", func(r *amd64.Regs) { r.Flags ^= amd64.RFLAGS_CF }, 0},
		{"single step", func(r *amd64.Regs) { r.Flags |= amd64.RFLAGS_TF; r.R11 = r.Flags }, 0},
		{"RF", func(r *amd64.Regs) { r.Flags |= amd64.RFLAGS_RF; r.R11 = r.Flags }, 0},
	} {
		c := New()
		r := &c.Regs
		r.IP, r.CX, r.R11 = 0x400000, 0x400000, r.Flags
		x.change(r)
		if !c.prepare() || c.sysret != x.want {
			t.Errorf("%s: sysret %d, want %d", x.name, c.sysret, x.want)
		}
	}
}

func TestPrepareRefusesWhatNoProgramCanHave(t *testing.T) {
	for name, set := range map[string]func(c *Context){
		"IP at the end":           func(c *Context) { c.Regs.IP = End },
		"IP not canonical":        func(c *Context) { c.Regs.IP = 1 << 62 },
		"IP in the kernel's half": func(c *Context) { c.Regs.IP = ^uint64(0) },
		"FS base not canonical":   func(c *Context) { c.FSBase = 1 << 47 },
		"GS base not canonical":   func(c *Context) { c.GSBase = 1 << 63 },
	} {
		c := New()
		c.Regs.Err = 5
		if set(c); c.prepare() || c.Regs.Vector != amd64.VEC_GP || c.Regs.Err != 0 {
			t.Errorf("%s: vector %d", name, c.Regs.Vector)
		}
	}
	c := New()
	c.Regs.CS, c.Regs.SS, c.Regs.Flags = amd64.SelKernelCode, amd64.SelKernelData, ^uint64(0)
	c.Regs.IP, c.FSBase = End-1, ^uint64(0)
	if !c.prepare() || c.Regs.CS != amd64.SelUserCode || c.Regs.SS != amd64.SelUserData {
		t.Errorf("%+v", c.Regs)
	}
	if f := c.Regs.Flags; f&(amd64.RFLAGS_IOPL|amd64.RFLAGS_VM|amd64.RFLAGS_VIF|amd64.RFLAGS_VIP) != 0 || f&amd64.RFLAGS_IF == 0 || f>>32 != 0 {
		t.Errorf("flags %#x", f)
	}
}

func TestCloneIsApart(t *testing.T) {
	c := New()
	c.Regs.AX, c.kick = 5, 1
	n := c.Clone()
	if n.Regs != c.Regs || n.kick != 0 || n.generation != c.generation {
		t.Errorf("%+v", n)
	}
	if n.id == c.id {
		t.Error("the x87 would keep the registers of one for the other")
	}
	if n.Regs.AX++; c.Regs.AX != 5 {
		t.Error("the copy is the original")
	}
	if !c.Kicked() || c.Kicked() {
		t.Error("Kicked tells once")
	}
}

// TestBind: binding and kicking do not affect each other.
func TestBind(t *testing.T) {
	c := New()
	c.Bind(4)
	if c.kick != bound || c.Kicked() || c.kick != bound {
		t.Errorf("bound: kick %d", c.kick)
	}
	c.kick |= kicked
	if n := c.Clone(); n.kick != bound || n.cpus.Load() != 4 {
		t.Errorf("clone: kick %d, CPUs %b", n.kick, n.cpus.Load())
	}
	if !c.Kicked() || c.kick != bound {
		t.Errorf("kicked: %d", c.kick)
	}
	if c.Reset(); c.cpus.Load() != 4 {
		t.Error("exec ends a bond")
	}
	if c.Bind(0); c.kick != 0 {
		t.Errorf("no longer bound: kick %d", c.kick)
	}
}
