package place

import (
	"bufio"
	"encoding/hex"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// TestEveryInstructionOfRealPrograms decides all that objdump finds at the beginning of
// programs: the length is the same, there is a way, and the refused are of few kinds.
func TestEveryInstructionOfRealPrograms(t *testing.T) {
	tool, err := exec.LookPath("objdump")
	if err != nil {
		t.Skip("objdump (binutils) is not installed")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{exe, "/lib/x86_64-linux-gnu/libc.so.6", "/bin/busybox"} {
		if _, err := os.Stat(file); err != nil {
			t.Logf("%s: %v", file, err)
			continue
		}
		cmd := exec.Command(tool, "-d", "-w", "-j", ".text", "--insn-width=15", file)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ways, refused := decideAll(t, bufio.NewScanner(out))
		cmd.Process.Kill()
		cmd.Wait()
		t.Logf("%s: %v, refused: %v", file, ways, refused)
		if ways[Emulate] < 1000 || ways[Boost] < 1000 {
			t.Errorf("%s: hardly any instruction", file)
		}
	}
}

const enough = 100_000 // lines of a file

// decideAll counts the ways, and the mnemonics of what is refused.
func decideAll(t *testing.T, lines *bufio.Scanner) (map[Way]int, map[string]int) {
	ways, refused := map[Way]int{}, map[string]int{}
	for n := 0; n < enough && lines.Scan(); {
		f := strings.Split(lines.Text(), "\t")
		if len(f) < 3 {
			continue
		}
		addr, err := strconv.ParseUint(strings.Trim(f[0], " :"), 16, 64)
		code, err2 := hex.DecodeString(strings.ReplaceAll(f[1], " ", ""))
		if err != nil || err2 != nil || strings.Contains(f[2], "(bad)") {
			continue
		}
		n++
		p, err := Decide(append(code, make([]byte, 15)...), addr)
		switch word, _, _ := strings.Cut(f[2], " "); {
		case err == nil && p.Len() != len(code):
			t.Errorf("%s: %d bytes", lines.Text(), p.Len())
		case err == nil:
			ways[p.Way]++
		case word != "int3":
			t.Errorf("%s: %v", lines.Text(), err)
		default:
			refused[word]++
		}
	}
	return ways, refused
}
