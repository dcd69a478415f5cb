//go:build tamago

package cpu

// Emulated reports whether QEMU's own emulator (TCG) is the processor: it says so where a
// hypervisor does.
//
// Context: any.
// Source: QEMU, target/i386/cpu.c, cpu_x86_cpuid, leaf 0x40000000.
func Emulated() bool {
	const hypervisor = 1 << 31
	if _, _, c, _ := CPUID(1, 0); c&hypervisor == 0 {
		return false
	}
	_, b, c, d := CPUID(0x4000_0000, 0)
	return b == 0x5447_4354 && c == 0x4354_4743 && d == 0x4743_5447 // TCGTCGTCGTCG
}
