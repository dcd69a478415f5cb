package blocks

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	all := Read("p.md", "x\n```sonde run smp=2\na\n\nb\n```\n\n```\n```\n")
	if len(all) != 2 || all[0].String() != "p.md:2" || all[0].Option("smp") != "2" || strings.Join(all[0].Text, "|") != "a||b" || all[1].Kind() != "" {
		t.Errorf("%+v", all)
	}
}

func TestWrong(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "f"), []byte("one\ntwo\nthree\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	run := Block{Head: []string{"sonde", "run"}}
	for _, c := range []struct {
		head, text, want string
		before           Block
	}{
		{"sonde run smp=2", "ls", "", Block{}},
		{"text drawing", "x", "", Block{}},
		{"output match=counts", "x", "", run},
		{"output match=counts", "x", "no block of commands", Block{}},
		{"output match=guess", "x", "unknown kind", run},
		{"output", "x", "unknown kind", run},
		{"", "x", "unknown kind", Block{}},
		{"go file=f", "two\nthree", "", Block{}},
		{"asm file=f", "one", "", Block{}},
		{"output file=f", "one\nthree", "does not have these lines", Block{}},
		{"sonde file=f", "one\n…\nthree", "", Block{}},
		{"output file=f", "three\n…\none", "does not have these lines", Block{}},
		{"output file=f", "one\n…\none", "does not have these lines", Block{}},
		{"go file=f", "wo", "does not have these lines", Block{}},
		{"go file=g", "one", "no such file", Block{}},
	} {
		b := Block{Head: strings.Fields(c.head), Text: strings.Split(c.text, "\n")}
		if got := b.Wrong(c.before, root); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s, %q: %q, want %q", c.head, c.text, got, c.want)
		}
	}
}

func TestCompare(t *testing.T) {
	const out = "[    1.000000] a 5 at 0xffffffff84101a20\nb 7\nffffffff84101a20 k f+0x4\nc +0x4 took 5 ns on CPU 1, f.go:9\n  0f 86 7e 01 00 00 JBE\n"
	for _, c := range []struct {
		match, text string
		ok          bool
	}{
		{"shape", "a 6 at 0xffffffff84000000|b 8", true},
		{"shape", "a 5 at 0xffffffff84101a20|c +0x4 took 5 ns on CPU 1, f.go:9", false}, // lines between
		{"lines", "a 5 at 0xffffffff84101a20|c +0x4 took 5 ns on CPU 1, f.go:9", true},
		{"lines", "b 7|a 5 at 0xffffffff84101a20", false},
		{"exact", "b 7", true},
		{"exact", "b 8", false},
		{"counts", "a 5 at 0xffffffff84000000|…|c +0x9 took 77 ns on CPU 0, f.go:10", true},
		{"counts", "a 6 at 0xffffffff84101a20", false},
		{"counts", "a 5 at 0xffffffff84000000|ffffffff84000000 k f+0x9|c +0x9 took 5 ns on CPU 1, f.go:1", true},
		{"counts", "a 5 at 0xffffffff84000000|ffffffff84000001 k f+0x9", true}, // two names may be one
		{"counts", "a 5 at 0xffffffff84000000|ffffffff84000000 k f+0x9|c +0x8 took 5 ns on CPU 1, f.go:1", true},
		{"counts", "0f 86 11 22 33 44 JBE", true},
		{"counts", "0f 87 11 22 33 44 JBE", false},
	} {
		b := Block{Head: []string{"output", "match=" + c.match}, Text: strings.Split(c.text, "|")}
		if err := b.Compare(Lines(out)); (err == nil) != c.ok {
			t.Errorf("%s %q: %v", c.match, c.text, err)
		}
	}
	two := Block{Head: []string{"output", "match=counts"}, Text: []string{"x +0x9", "y +0x9"}}
	if two.Compare([]string{"x +0x4", "y +0x4"}) != nil || two.Compare([]string{"x +0x4", "y +0x5"}) == nil {
		t.Error("an offset that is the same twice must be the same twice in the output")
	}
}

func TestRenew(t *testing.T) {
	b := Block{Text: []string{"a 5", "…", "gone 1", "b 0xffffffff84000000"}}
	if got := b.Renew([]string{"x", "a 6", "b 0xffffffff84000010"}); strings.Join(got, "|") != "a 6|…|gone 1|b 0xffffffff84000010" {
		t.Errorf("%q", got)
	}
}

// TestBoots: commands of one machine run in one boot, and each has its own output.
func TestBoots(t *testing.T) {
	const text = "```sonde run smp=2\na\n```\n```sonde run\nb\nc\n```\n```sonde run smp=2\nd\n```\n```sonde launch\ne\n```\n```sonde file=x\nf\n```\n"
	all := Boots(append(Read("p", text), Read("q", "```sonde run smp=2\ng\n```\n```sonde run smp=2 fresh\nh\n```\n")...), false)
	if len(all) != 4 || !all[3].Fresh || all[0].SMP != 2 || all[1].SMP != 0 || !all[2].Launch {
		t.Fatalf("%+v", all)
	}
	if got, want := all[0].Script(false), reset+"a"+after+"d"+after+reset+"g"+after; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := all[0].Script(true), reset+"a"+after+reset+"d"+after+reset+"g"+after; got != want {
		t.Errorf("apart: %q, want %q", got, want)
	}
	said, err := all[0].Split("1\n2\n" + mark + "0\n3\n\n" + mark + "1\n" + mark + "0\n")
	if err != nil || strings.Join(said["p:1"], "|") != "1|2" || strings.Join(said["p:8"], "|") != "3" || len(said["q:1"]) != 0 {
		t.Errorf("%q, %v", said, err)
	}
	if _, err := all[0].Split("1\n" + mark + "0\n3\n"); err == nil || !strings.Contains(err.Error(), "1 of 3") || !strings.Contains(err.Error(), "p:1") {
		t.Errorf("%v", err)
	}
}
