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
	t.OneProcessor()
	run := func(line string) string {
		var out strings.Builder
		suites.Script(&out, line)
		return out.String()
	}
	for line := range strings.Lines(strings.TrimSpace(count)) {
		run("echo '" + strings.TrimSpace(line) + "' >> /tmp/count.s")
	}
	loaded := run("bpf asm /tmp/count.s " + pkg + "square ret:" + pkg + "square")
	id, rest, _ := strings.Cut(loaded, ":")
	_, rest, _ = strings.Cut(rest, "map_ids ")
	m, rest, _ := strings.Cut(rest, " ")
	_, rest, _ = strings.Cut(rest, "link_ids ")
	l, _, _ := strings.Cut(rest, "\n")
	defer run("bpf rm " + id)
	for i := range uint64(5) {
		square(i)
	}
	for _, c := range []struct{ line, want string }{
		{"bpf prog", `(?m)^` + id + `: kprobe  name count  tag [0-9a-f]{16}  worst \d+  run_cnt 10  recursion_misses 0\n\tloaded_at 20\S+Z  xlated 96B  jited \d+B  stack 8B  map_ids ` + m + `  link_ids ` + l + `$`},
		{"bpf prog show name count", `^` + id + `: kprobe  name count `},
		{"bpf prog dump xlated id " + id, `\n   7: \(79\) r1 = \*\(u64 \*\)\(r0 \+ 0\)\n`},
		{"bpf prog dump xlated " + id, `\) r1 = map\[id:` + m + `\]\n`},
		{"bpf prog dump jited " + id, `\n   7: r1 = \*\(u64 \*\)\(r0 \+ 0\) +\+0x[0-9a-f]+  48 .*ADDQ \$0x1, 0\(AX\)\n`},
		{"bpf link", `(?m)^` + l + `: prog ` + id + `  name count  places 2\n\t\S+square\+0x0  .*  handled 5  missed 0  unexplained 0\n\t\S+square\+0x0  .*  handled 5  missed 0  unexplained 0$`},
		{"bpf map show " + m, `^` + m + `: percpu_array  name hits  flags 0x0\n\tkey 4B  value 8B  max_entries 1  memlock \d+B  lost 0  prog_ids ` + id + `\n$`},
		{"bpf map dump name hits", `key: 00 00 00 00 \(0\)  value( \(CPU 0\d\))?: [0-9a-f]{2} 00 00 00 00 00 00 00 \(\d+\)\nFound \d elements\n$`},
		{"bpf map update " + m + " key 0 0 0 0 value 258; bpf map lookup " + m + " key 0", `value( \(CPU 00\))?: 02 01 00 00 00 00 00 00 \(258\)\n`},
		{"bpf map delete " + m + " key 0", `^bpf: map hits: delete 00000000: this is not possible in a map of this type\n$`},
		{"bpf map lookup " + m + " key 1", `^bpf: map hits: lookup 01000000: there is nothing\n$`},
		{"bpf map lookup " + m + " key 1 2", `^bpf: key: these are 2 bytes \(0102\), and the map's have 4\n$`},
		{"bpf map lookup " + m + " key 0x100000000", `^bpf: key: 0x100000000 has more than 4 bytes\n$`},
		{"bpf map update " + m + " key 0 value hex 01 02", `^bpf: value: these are 2 bytes \(0102\), and the map's have 8\n$`},
		{"cat /proc/kallsyms", `[0-9a-f]{16} t bpf_prog_count \[bpf\]\n`},
		{"bpf prog show 99", `^bpf: there is no program with id 99\n$`},
		{"bpf prog dump xlated name x", `^bpf: there is no program with name x\n$`},
		{"bpf map show a", `^bpf: there is no map with id a\n$`},
		{"bpf prog lst", `^bpf: prog has no command "lst"`},
		{"bpf prog dump " + id, `^bpf: prog has no command "dump ` + id + `": give one of .*show, dump xlated, dump jited, `},
		{"bpf prok", `^bpf: there is no command prok; bpf help lists them`},
		{"bpf help", `bpf prog dump jited PROG\n`},
		{"bpf prog pin " + id + " /tmp/x", `^bpf: /tmp/x: files for programs, maps and links are in /sys/fs/bpf`},
		{"tracetop -n 2 -d 0.1", `^ +ID PROGRAM .* CPU0.*\n +` + id + ` count +\d+ +\d+ +0 .*%\n +\d+ \S+square\+0x0\n`},
		{"tracetop", `^tracetop: give -n COUNT`},
		{"bpf prog budget " + id + " 101", `^bpf: "101" is no share of a CPU`},
		{"bpf prog budget " + id + " 5%; bpf prog show " + id, `\tbudget 5.0%  throttled 0\n`},
		{"cat /sys/kernel/debug/bpf/ledger", `\ncount +10 +10 +0 +0 +0 +0 +0 +0 +0 +0 +0 +0 +0\n  CPU 0 `},
		{"cat /sys/kernel/debug/bpf/cost", `\ncount +0 +0 +0 +0 +0 +5.0%\n`},
		{"bpf link pin " + l + " /sys/fs/bpf/counting; bpf rm " + id, `^bpf: link ` + l + ` of prog ` + id + ` count is kept by /sys/fs/bpf/counting: remove that first\n$`},
		{"bpf prog show pinned /sys/fs/bpf/counting", `^bpf: /sys/fs/bpf/counting is link \d+ of prog \d+ count, not a program\n$`},
		{"bpf link show pinned /sys/fs/bpf/counting", `\tpinned /sys/fs/bpf/counting\n$`},
		{"rm /sys/fs/bpf/counting; ls /sys/fs/bpf", `^$`},
		{"bpf link detach " + l + "; bpf link show " + l, `^bpf: there is no link with id ` + l + `\n$`},
		{"bpf prog show " + id, `run_cnt 10 `},
		{"echo 'map a tree 4 8 1' > /tmp/bad.s; bpf asm /tmp/bad.s vfs.Open", `^bpf: /tmp/bad\.s: line 1: "tree" is not a type of map`},
		{"echo 'r0 = *(u64 *)(r1 + 4)' > /tmp/b.s; echo exit >> /tmp/b.s; bpf asm /tmp/b.s vfs.Open", `invalid bpf_context access off=4 size=8`},
		{"echo 'r0 = 0' > /tmp/c.s; echo exit >> /tmp/c.s; bpf asm /tmp/c.s vfs.Opne", `did you mean`},
	} {
		if got := run(c.line); !regexp.MustCompile(c.want).MatchString(got) {
			t.Errorf("%s: %.600q, want %q", c.line, got, c.want)
		}
	}
	run("rm /tmp/count.s /tmp/bad.s /tmp/b.s /tmp/c.s")
}
