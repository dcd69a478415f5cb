package verify

import (
	"strings"
	"testing"

	"sonde/bpf"
	"sonde/bpf/random"
)

// TestRandomAreAccepted: of programs that do nothing wrong, only those are refused that have instructions
// which no path leads to.
func TestRandomAreAccepted(t *testing.T) {
	const n = 1000
	accepted := 0
	for i := range uint64(n) {
		insns := random.OnMap(random.Program(1, i, random.Helpers{}))
		_, err := Check(&bpf.Program{Type: bpf.Kprobe, Insns: insns, Maps: []*bpf.MapSpec{&random.Map}}, NewEnv())
		if err == nil {
			accepted++
		} else if !strings.Contains(err.Error(), "no path leads here") {
			text, _ := bpf.Disassemble(insns)
			t.Errorf("program %d: %v\n%s", i, err, text)
		}
	}
	if accepted < n/4 {
		t.Errorf("%d of %d programs are accepted", accepted, n)
	}
}
