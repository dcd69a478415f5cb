//go:build tamago

package bpf

import (
	"regexp"
	"strings"

	"sonde/ktest/suites"
)

func init() { suites.Add("bpf/command", command) }

// command types what a person does who wants to know how often a function is called.
func command(t *suites.T) {
	run := func(line string) string {
		var out strings.Builder
		suites.Script(&out, line)
		return out.String()
	}
	for line := range strings.Lines(strings.TrimSpace(count)) {
		run("echo '" + strings.TrimSpace(line) + "' >> /tmp/count.s")
	}
	id, _, _ := strings.Cut(run("bpf asm /tmp/count.s "+pkg+"square ret:"+pkg+"square"), ":")
	defer run("bpf rm " + id)
	for i := range uint64(5) {
		square(i)
	}
	for line, want := range map[string]string{
		"bpf prog":             id + `: kprobe count  instructions 12  worst \d+  stack 8  code \d+  maps 1  links 1  recursion 0\n`,
		"bpf link":             id + `: \S+square\+0x0  .*  handled 5  unexplained 0\n` + id + `: \S+square\+0x0  .*  handled 5  unexplained 0\n`,
		"bpf map":              id + `\.0: percpu_array hits  key 4  value 8  entries 1  bytes \d+  lost 0\n`,
		"bpf map " + id + ".0": `key 0  value [1-9]`,
		"bpf prog " + id:       `[0-9a-f]{16}    7: r1 = \*\(u64 \*\)\(r0 \+ 0\)\n`,
		"cat /proc/kallsyms":   `[0-9a-f]{16} t bpf_prog_count \[bpf\]\n`,
		"bpf prog 99":          `^bpf: there is no program 99\n$`,
		"bpf map 1":            `^bpf: "1" is no map`,
		"echo 'map a tree 4 8 1' > /tmp/bad.s; bpf asm /tmp/bad.s vfs.Open":                         `^bpf: /tmp/bad\.s: line 1: "tree" is no type of map`,
		"echo 'r0 = *(u64 *)(r1 + 4)' > /tmp/b.s; echo exit >> /tmp/b.s; bpf asm /tmp/b.s vfs.Open": `invalid bpf_context access off=4 size=8`,
		"echo 'r0 = 0' > /tmp/c.s; echo exit >> /tmp/c.s; bpf asm /tmp/c.s vfs.Opne":                `did you mean`,
	} {
		if got := run(line); !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%s: %.300q, want %q", line, got, want)
		}
	}
	run("rm /tmp/count.s /tmp/bad.s /tmp/b.s /tmp/c.s")
}
