package insn

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestAssemblerAgreesOnLock asks GNU as which instructions allow LOCK: objdump prints it for any.
// It asks about each opcode of the four maps with each reg, for memory and registers.
func TestAssemblerAgreesOnLock(t *testing.T) {
	tool, err := exec.LookPath("as")
	if err != nil {
		t.Skip("as (binutils) is not installed: nothing to compare with")
	}
	var source strings.Builder
	var asked []*cell
	for _, s := range slots(t) {
		if s.extended() {
			continue
		}
		for i := range s.cells {
			c := &s.cells[i]
			if c.claim.n == 0 || c.claim.flow.Direct() || refusedOnPurpose(c) || plainText(c) == "" {
				continue
			}
			asked = append(asked, c)
			fmt.Fprintf(&source, "lock %s\n", plainText(c))
		}
	}
	forbidden, other := askAs(t, tool, source.String())
	compared, wrong := 0, 0
	for i, c := range asked {
		line := i + 1
		if other[line] { // as does not accept all that objdump prints
			continue
		}
		in, err := Decode(append([]byte{0xF0}, c.code[:MaxLen-1]...))
		if err != nil {
			continue
		}
		compared++
		if got := in.Movable() != BadLock; got == forbidden[line] {
			if wrong++; wrong <= 20 {
				t.Errorf("f0 % x: lock %s: allowed: %v", c.code[:c.claim.n], plainText(c), got)
			}
		}
	}
	t.Logf("%d instructions compared, LOCK forbidden on %d, not read %d, %d disagreements", compared, len(forbidden), len(other), wrong)
	if compared < 10_000 || compared-len(forbidden) < 500 {
		t.Errorf("%d instructions compared, LOCK forbidden on %d", compared, len(forbidden))
	}
}

// plainText is objdump's text of c without prefixes; "" if as would encode it as another
// instruction.
func plainText(c *cell) string {
	if strings.Contains(c.claim.text, "rex") || strings.Contains(c.claim.text, "data16") || strings.Contains(c.claim.text, "rep") {
		return ""
	}
	text, _, _ := strings.Cut(c.claim.text, "#")
	return strings.TrimSpace(text)
}

// askAs returns the lines of source in which as forbids LOCK, and those that it refuses for another
// reason.
func askAs(t *testing.T, tool, source string) (forbidden, other map[int]bool) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "lock.s")
	if err := os.WriteFile(file, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	out, _ := exec.Command(tool, "--64", "-o", filepath.Join(dir, "lock.o"), file).CombinedOutput()
	forbidden, other = map[int]bool{}, map[int]bool{}
	for line := range strings.Lines(string(out)) {
		rest, ok := strings.CutPrefix(line, file+":")
		if !ok {
			continue
		}
		n := 0
		fmt.Sscanf(rest, "%d:", &n)
		switch {
		case strings.Contains(line, "expecting lockable instruction after `lock'"):
			forbidden[n] = true
		case strings.Contains(line, "Error"):
			other[n] = true
		}
	}
	return forbidden, other
}
