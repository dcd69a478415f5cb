package amd64

import (
	"slices"
	"strings"
)

// features are the names of CPUID's feature bits, as /proc/cpuinfo of Linux shows them and in its
// order; "-" is a bit without a name there. The names of a register begin at bit 0.
//
// Source: Intel SDM vol. 2A, "CPUID"; AMD APM vol. 3, "Obtaining Processor Information Via the
// CPUID Instruction"; names: Linux 6.1 cpufeatures.h.
var features = []struct {
	leaf, sub uint32
	reg       int // 0 to 3: A, B, C, D
	names     string
}{
	{1, 0, 3, "fpu vme de pse tsc msr pae mce cx8 apic - sep mtrr pge mca cmov " +
		"pat pse36 pn clflush - dts acpi mmx fxsr sse sse2 ss ht tm ia64 pbe"},
	{0x80000001, 0, 3, "- - - - - - - - - - - syscall - - - - " +
		"- - - mp nx - mmxext - - fxsr_opt pdpe1gb rdtscp - lm 3dnowext 3dnow"},
	{1, 0, 2, "pni pclmulqdq dtes64 monitor ds_cpl vmx smx est tm2 ssse3 cid sdbg fma cx16 xtpr pdcm " +
		"- pcid dca sse4_1 sse4_2 x2apic movbe popcnt tsc_deadline_timer aes xsave - avx f16c rdrand hypervisor"},
	{0x80000001, 0, 2, "lahf_lm cmp_legacy svm extapic cr8_legacy abm sse4a misalignsse 3dnowprefetch osvw ibs xop skinit wdt - lwp " +
		"fma4 tce - nodeid_msr - tbm topoext perfctr_core perfctr_nb - bpext ptsc perfctr_llc mwaitx"},
	{7, 0, 1, "fsgsbase tsc_adjust sgx bmi1 hle avx2 - smep bmi2 erms invpcid rtm cqm - mpx rdt_a " +
		"avx512f avx512dq rdseed adx smap avx512ifma - clflushopt clwb intel_pt avx512pf avx512er avx512cd sha_ni avx512bw avx512vl"},
	{0xd, 1, 0, "xsaveopt xsavec xgetbv1 xsaves"},
	{0x80000008, 0, 1, "clzero irperf xsaveerptr - rdpru - - - - wbnoinvd"},
	{6, 0, 0, "dtherm ida arat - pln - pts hwp hwp_notify hwp_act_window hwp_epp hwp_pkg_req"},
	{7, 0, 2, "- avx512vbmi umip pku ospke waitpkg avx512_vbmi2 - gfni vaes vpclmulqdq avx512_vnni avx512_bitalg tme avx512_vpopcntdq - " +
		"la57 - - - - - rdpid - bus_lock_detect cldemote - movdiri movdir64b enqcmd sgx_lc"},
	{7, 0, 3, "- - avx512_4vnniw avx512_4fmaps fsrm - - - avx512_vp2intersect - md_clear - - - serialize - " +
		"tsxldtrk - pconfig arch_lbr ibt - amx_bf16 avx512_fp16 amx_tile amx_int8 - - flush_l1d arch_capabilities"},
}

// Processor is what CPUID says about a processor.
type Processor struct {
	Vendor, Brand           string // "GenuineIntel"; the marketing name
	Family, Model, Stepping int
}

// Identify returns what cpuid says about the processor.
//
// Source: Intel SDM vol. 2A, "CPUID": leaves 0, 1 and 0x80000002 to 0x80000004.
func Identify(cpuid func(leaf, sub uint32) (a, b, c, d uint32)) Processor {
	_, b, c, d := cpuid(0, 0)
	a, _, _, _ := cpuid(1, 0)
	return Processor{
		Vendor: words(b, d, c), Brand: brand(cpuid),
		Family: int(a>>8&15 + a>>20&255), Model: int(a>>4&15 | a>>12&0xf0), Stepping: int(a & 15),
	}
}

func brand(cpuid func(leaf, sub uint32) (a, b, c, d uint32)) string {
	const first, last = 0x80000002, 0x80000004
	if max, _, _, _ := cpuid(0x80000000, 0); max < last {
		return "unknown"
	}
	var s strings.Builder
	for leaf := uint32(first); leaf <= last; leaf++ {
		s.WriteString(words(cpuid(leaf, 0)))
	}
	return strings.TrimSpace(s.String())
}

// words returns the registers' bytes as text, up to a NUL.
func words(regs ...uint32) string {
	var b []byte
	for _, r := range regs {
		b = append(b, byte(r), byte(r>>8), byte(r>>16), byte(r>>24))
	}
	return strings.TrimRight(string(b), "\x00")
}

// Features returns the features of the processor, by Linux's names. That does not mean that this
// kernel uses them, or lets programs: see Usable.
func Features(cpuid func(leaf, sub uint32) (a, b, c, d uint32)) (flags []string) {
	for _, f := range features {
		if max, _, _, _ := cpuid(f.leaf&0x80000000, 0); f.leaf > max {
			continue
		}
		a, b, c, d := cpuid(f.leaf, f.sub)
		bits := [4]uint32{a, b, c, d}[f.reg]
		for i, name := range strings.Fields(f.names) {
			if bits>>i&1 != 0 && name != "-" {
				flags = append(flags, name)
			}
		}
	}
	return flags
}

// needsXSAVE and needsAVX are features that work only where XSAVE stores AVX's registers;
// neverUsable what has registers that nothing stores, or a bit of CR4 that is off.
const (
	needsXSAVE  = "xsave xsaveopt xsavec xgetbv1 xsaves"
	needsAVX    = "avx avx2 fma f16c fma4 xop vaes vpclmulqdq"
	neverUsable = "avx512* amx_* mpx pku ospke lwp"
)

// Usable returns those of the features that programs can use; avx says whether AVX's registers are
// kept.
func Usable(flags []string, avx bool) []string {
	hidden := strings.Fields(neverUsable)
	if !avx {
		hidden = append(hidden, strings.Fields(needsXSAVE+" "+needsAVX)...)
	}
	return slices.DeleteFunc(slices.Clone(flags), func(flag string) bool {
		return slices.ContainsFunc(hidden, func(pattern string) bool {
			prefix, whole := strings.CutSuffix(pattern, "*")
			return flag == pattern || whole && strings.HasPrefix(flag, prefix)
		})
	})
}
