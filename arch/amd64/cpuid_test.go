package amd64

import (
	"os"
	"strings"
	"testing"
)

// TestFeaturesHaveTheirBits spot-checks the table, first and last bits of the
// registers and those next to a gap, against the manual.
func TestFeaturesHaveTheirBits(t *testing.T) {
	for _, c := range []struct {
		leaf, sub uint32
		reg       int
		bit       int
		want      string
	}{
		{1, 0, 3, 0, "fpu"}, {1, 0, 3, 9, "apic"}, {1, 0, 3, 10, ""}, {1, 0, 3, 11, "sep"}, {1, 0, 3, 26, "sse2"}, {1, 0, 3, 31, "pbe"},
		{1, 0, 2, 0, "pni"}, {1, 0, 2, 13, "cx16"}, {1, 0, 2, 17, "pcid"}, {1, 0, 2, 23, "popcnt"}, {1, 0, 2, 27, ""}, {1, 0, 2, 31, "hypervisor"},
		{0x80000001, 0, 3, 11, "syscall"}, {0x80000001, 0, 3, 20, "nx"}, {0x80000001, 0, 3, 27, "rdtscp"}, {0x80000001, 0, 3, 29, "lm"},
		{0x80000001, 0, 2, 0, "lahf_lm"}, {0x80000001, 0, 2, 15, "lwp"}, {0x80000001, 0, 2, 22, "topoext"}, {0x80000001, 0, 2, 29, "mwaitx"},
		{7, 0, 1, 0, "fsgsbase"}, {7, 0, 1, 7, "smep"}, {7, 0, 1, 20, "smap"}, {7, 0, 1, 31, "avx512vl"},
		{7, 0, 2, 2, "umip"}, {7, 0, 2, 16, "la57"}, {7, 0, 2, 22, "rdpid"}, {7, 0, 2, 30, "sgx_lc"},
		{7, 0, 3, 4, "fsrm"}, {7, 0, 3, 14, "serialize"}, {7, 0, 3, 20, "ibt"}, {7, 0, 3, 29, "arch_capabilities"},
		{0xd, 1, 0, 3, "xsaves"}, {6, 0, 0, 2, "arat"}, {0x80000008, 0, 1, 9, "wbnoinvd"},
	} {
		got := Features(func(leaf, sub uint32) (_, _, _, _ uint32) {
			var r [4]uint32
			switch {
			case leaf&^0x80000000 == 0:
				r[0] = leaf + 0x1f
			case leaf == c.leaf && sub == c.sub:
				r[c.reg] = 1 << c.bit
			}
			return r[0], r[1], r[2], r[3]
		})
		if strings.Join(got, " ") != c.want {
			t.Errorf("leaf %#x.%d register %d bit %d: %q, want %q", c.leaf, c.sub, c.reg, c.bit, got, c.want)
		}
	}
}

// TestFeaturesAskOnlyForWhatThereIs: for a leaf beyond the highest, CPUID returns another leaf.
func TestFeaturesAskOnlyForWhatThereIs(t *testing.T) {
	got := Features(func(leaf, sub uint32) (_, _, _, _ uint32) {
		if leaf&^0x80000000 == 0 {
			return leaf + 1, 0, 0, 0
		}
		if leaf&^0x80000000 != 1 {
			t.Errorf("asked for leaf %#x", leaf)
		}
		return 0, 0, 0, 1
	})
	if strings.Join(got, " ") != "fpu" {
		t.Errorf("got %q", got)
	}
}

// TestFeaturesAreInLinuxOrder compares names with those of the machine the test
// runs on: all that both have must be in the same order.
func TestFeaturesAreInLinuxOrder(t *testing.T) {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		t.Skip(err)
	}
	_, rest, _ := strings.Cut(string(info), "\nflags\t\t: ")
	line, _, _ := strings.Cut(rest, "\n")
	place := map[string]int{}
	for i, name := range strings.Fields(line) {
		place[name] = i
	}
	last := -1
	all := Features(func(leaf, _ uint32) (a, b, c, d uint32) { return ^uint32(0), ^uint32(0), ^uint32(0), ^uint32(0) })
	for _, name := range all {
		if i, ok := place[name]; ok && i < last {
			t.Errorf("%s is out of order", name)
		} else if ok {
			last = i
		}
	}
}

// TestIdentify: the registers are those of an AMD EPYC, family 25, model 1.
func TestIdentify(t *testing.T) {
	leaves := map[uint32][4]uint32{
		0:          {16, 0x68747541, 0x444d4163, 0x69746e65}, // "Auth" "cAMD" "enti"
		1:          {0x00a00f11, 0, 0, 0},
		0x80000000: {0x80000004, 0, 0, 0},
		0x80000002: {0x20444d41, 0x43595045, 0x00000000, 0}, // "AMD EPYC", ends early
	}
	cpuid := func(leaf, _ uint32) (_, _, _, _ uint32) {
		r := leaves[leaf]
		return r[0], r[1], r[2], r[3]
	}
	want := Processor{"AuthenticAMD", "AMD EPYC", 25, 1, 1}
	if got := Identify(cpuid); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	leaves[0x80000000] = [4]uint32{0x80000001}
	if got := Identify(cpuid); got.Brand != "unknown" {
		t.Errorf("brand %q of a processor that has none", got.Brand)
	}
}

// TestUsable: what needs registers that nobody stores is not shown.
func TestUsable(t *testing.T) {
	all := strings.Fields("sse2 xsave avx f16c fsgsbase avx2 avx512f avx512_vnni xsaves pku amx_tile vaes sse4a")
	for _, c := range []struct {
		avx  bool
		want string
	}{{true, "sse2 xsave avx f16c fsgsbase avx2 xsaves vaes sse4a"}, {false, "sse2 fsgsbase sse4a"}} {
		if got := strings.Join(Usable(all, c.avx), " "); got != c.want {
			t.Errorf("AVX %v: %q, want %q", c.avx, got, c.want)
		}
	}
	if len(all) != 13 {
		t.Error("it changes its argument")
	}
}
