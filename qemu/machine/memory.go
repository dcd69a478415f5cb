package machine

import (
	"fmt"
	"strconv"
	"strings"
)

// minMemory is the least the kernel boots with, in MiB: it is loaded at 64 MiB.
const minMemory = 96

// checkMemory refuses what the kernel cannot boot with, and what QEMU would take
// for something else than a size: it reads "1,slots=2" as well.
func checkMemory(s string) error {
	mib, ok := mebibytes(s)
	switch {
	case !ok:
		return fmt.Errorf("memory %q: give a number, in MiB or with one of the suffixes K, M, G, T", s)
	case mib < minMemory:
		return fmt.Errorf("memory %s: the kernel is loaded at 64 MiB and needs %d MiB at least", s, minMemory)
	}
	return nil
}

// mebibytes reads a size as QEMU's -m does: MiB, unless a suffix says otherwise.
func mebibytes(s string) (mib float64, ok bool) {
	factor := 1.0
	if s != "" {
		if i := strings.IndexByte("KMGT", s[len(s)-1]&^0x20); i >= 0 {
			factor = [...]float64{1. / 1024, 1, 1024, 1024 * 1024}[i]
			s = s[:len(s)-1]
		}
	}
	if strings.Trim(s, "0123456789.") != "" {
		return 0, false // what else Go accepts as a number: signs, exponents, Inf
	}
	n, err := strconv.ParseFloat(s, 64)
	return n * factor, err == nil
}
