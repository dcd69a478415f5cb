package main

import (
	"strings"
	"testing"
)

// someTrees are two requests as a module prints them, with other lines before, between and after.
const someTrees = `lab1: loaded
lab1: request 3 of clerk[5], thread 7, 48 bytes: 0 to 900 ns
lab1:   write 40: 100 to 300 ns
lab1:     vfs.Write 40: 120 to 280 ns
something else
lab1:   read 8: 300 to 800 ns
lab1: request 4 of clerk[5], thread 8, 1 bytes: 0 to 50 ns
lab1: 2 trees`

const someRequests = `line1 Letter 800 1000 request 3 of clerk[5], thread 7, 48 bytes;  write 40;    vfs.Write 40;  read 8
line2 Parcel 1 2 request 9 of clerk[5], thread 7, 1 bytes
line3 Letter 40 60 request 4 of clerk[5], thread 8, 1 bytes
done file
`

// TestTrees: each change of the trees is found, by the test that must find it.
func TestTrees(t *testing.T) {
	g := &grader{lab: lab1(t), module: "lab1"}
	for _, c := range []struct{ from, to, trees, nested string }{
		{"", "", "", ""},
		{"lab1:   read 8: 300", "lab1:   read 0: 300 to 310 ns\nlab1:     vfs.Read 0: 301 to 309 ns\nlab1:   read 8: 310", "", ""},
		{"vfs.Write 40", "vfs.Write 0", "request 3 of", ""},
		{"read 8:", "read 0:", "request 3 of", ""},
		{"write 40: 100", "write 41: 100", "request 3 of", ""},
		{"lab1:   read 8: 300 to 800 ns\n", "", "request 3 of", ""},
		{"request 4 of", "request 5 of", "request 4 of", ""},
		{", 1 bytes: 0 to 50 ns\n", ", 1 bytes: 0 to 50 ns\nlab1: request 4 of clerk[5], thread 8, 1 bytes: 0 to 50 ns\n", "2 trees", ""},
		{"lab1:     vfs.Write 40: 120 to 280 ns", "lab1:   vfs.Write 40: 120 to 280 ns", "request 3 of", ""},
		{"120 to 280", "90 to 280", "", "within"},
		{"120 to 280", "120 to 310", "", "within"},
		{"read 8: 300", "read 8: 290", "", "within"},
		{"read 8: 300 to 800", "read 8: 300 to 901", "", "within"},
		{"100 to 300", "300 to 100", "", "within"},
		{"0 to 900", "5 to 900", "", "within"},
		{"0 to 50 ns", "0 to 39 ns", "", "between 40 and 60"},
		{"0 to 50 ns", "0 to 61 ns", "", "between 40 and 60"},
	} {
		lines := strings.Split(strings.Replace(someTrees, c.from, c.to, 1), "\n")
		work, _ := facts(someRequests)
		printed, want := g.trees(lines), requests(work, "Letter")
		first, _ := sameTrees(printed, want)
		second, _ := nested(printed, want)
		if !strings.Contains(first, c.trees) || (first == "") != (c.trees == "") {
			t.Errorf("%q: trees: %q, want %q", c.to, first, c.trees)
		}
		if !strings.Contains(second, c.nested) || c.trees == "" && (second == "") != (c.nested == "") {
			t.Errorf("%q: times: %q, want %q", c.to, second, c.nested)
		}
	}
	if expected, _ := sameTrees(nil, nil); expected == "" {
		t.Error("no request and no tree is right")
	}
}

// TestProgram: the programs of lab 7 are built, and a script gets the offset of a function in both.
func TestProgram(t *testing.T) {
	l, err := readLab(rootOf(t), 7)
	if err != nil {
		t.Fatal(err)
	}
	p, err := l.buildPrograms(rootOf(t), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	script := p.place("insmod lab7 place=/bin/teller:{offset.Letter}")
	if p.symbols["Letter"] < 0x1000 || !strings.HasPrefix(script, "insmod lab7 place=/bin/teller:0x") || strings.Contains(script, "{") {
		t.Errorf("%q, %#x", script, p.symbols["Letter"])
	}
}
