package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"sonde/qemu/machine"
)

// fusedScripts are what a script keeps of the lengths of writes, one for each way in which programs are fused with their
// places.
var fusedScripts = []string{
	"@ = count()", "@ = sum($n)", "@ = avg($n)", "@ = stats($n)", "@ = min($n)", "@ = max($n)", "@ = hist($n)", "@ = lhist($n, 0, 20, 3)",
	"@[3] = count()", "@[5] = hist($n)", "@[$n] = count()", "@[$n] = sum($n)", "@[$n] = avg($n)", "@[$n] = stats($n)", "@[$n] = min(-$n)",
	"@[$n] = max($n)", "@[$n] = hist($n)", "@[$n / 4] = lhist($n, 0, 20, 3)", "@[$n, $n % 3] = count()", "if ($n > 4) { @ = count(); }",
	"if ($n > 4) { @[$n] = count(); }",
}

// fusedNote is how explain says that hits ran the program in its place.
var fusedNote = regexp.MustCompile(`\d+ of them by the program itself`)

// TestFusedScriptsPrintTheSame: whether programs are fused with their places or called there, scripts print the same.
func TestFusedScriptsPrintTheSame(t *testing.T) {
	runsBeside(t)
	script := `for fused in 1 0; do sysctl -w debug.kprobes-fused=$fused; for s in '` + strings.Join(fusedScripts, "' '") + `'; do echo "== $fused $s"; ` +
		`bt -q -e "kprobe:vfs.Write { \$n = len(args.p); $s; }" -c 'for i in 1 2 3 4 5 6 7; do echo a > /dev/null; echo abcdef > /dev/null; ` +
		`echo abcdefghijklm > /dev/null; done; explain vfs.Write'; done; echo "== end"; done`
	r := bootScript(t, normalImage, machine.Config{SMP: 2, Script: script})
	text := strings.ReplaceAll(string(r.Stdout), "\r", "")
	for _, s := range fusedScripts {
		var printed [2]string
		for fused := range printed {
			_, after, _ := strings.Cut(text, fmt.Sprintf("== %d %s\n", fused, s))
			said, maps, _ := strings.Cut(after, "\n@")
			printed[fused], _, _ = strings.Cut(maps, "== ")
			if how := fusedNote.FindString(said); (how == "") != (fused == 0) {
				t.Errorf("%s, with debug.kprobes-fused=%d: %q", s, fused, how)
			}
		}
		if printed[0] != printed[1] || len(printed[0]) < 3 || s == "@ = count()" && printed[0] != ": 21\n\n" {
			t.Errorf("%s: called, it prints\n%s\nfused,\n%s", s, printed[0], printed[1])
		}
	}
}
