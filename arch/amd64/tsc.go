package amd64

// HasLAHF reports whether LAHF and SAHF exist in 64-bit mode: the first processors did not have
// them.
//
// Source: AMD APM vol. 3, CPUID Fn8000_0001_ECX[LahfSahf].
func HasLAHF(cpuid func(leaf, sub uint32) (a, b, c, d uint32)) bool {
	const leaf = 0x8000_0001
	if max, _, _, _ := cpuid(0x8000_0000, 0); max < leaf {
		return false
	}
	_, _, c, _ := cpuid(leaf, 0)
	return c&1 != 0
}

// TSCFrequency returns the frequency of the time-stamp counter in Hz according to CPUID; 0 if it
// does not say.
//
// Source: Intel SDM vol. 2A, "CPUID", leaves 15H and 16H.
func TSCFrequency(cpuid func(leaf, sub uint32) (a, b, c, d uint32)) uint64 {
	max, _, _, _ := cpuid(0, 0)
	if max < 0x15 {
		return 0
	}
	below, above, crystal, _ := cpuid(0x15, 0)
	if below == 0 || above == 0 {
		return 0
	}
	if crystal != 0 {
		return uint64(crystal) * uint64(above) / uint64(below)
	}
	if max < 0x16 {
		return 0
	}
	mhz, _, _, _ := cpuid(0x16, 0) // the counter runs at the processor's base frequency
	return uint64(mhz&0xffff) * 1e6
}
