package main

import (
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sonde/internal/image"

	"sonde/qemu/draw"
)

// TestPicturesAreOfThisKernel draws them anew. Two runs differ in addresses and times, and in what other
// CPUs do meanwhile; the steps, and the words at them, must be the same.
func TestPicturesAreOfThisKernel(t *testing.T) {
	if testing.Short() {
		t.Skip("boots the kernel")
	}
	t.Chdir("../..")
	path, err := image.Build(image.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	all, err := drawAll(path, ".")
	if err != nil {
		t.Fatal(err)
	}
	compare(t, all)
}

// TestPicturesOfFiles: the same for those that need no kernel.
func TestPicturesOfFiles(t *testing.T) {
	t.Chdir("../..")
	all, err := drawTree(".")
	if err != nil {
		t.Fatal(err)
	}
	compare(t, all)
}

// compare compares what pictures say with what the files do.
func compare(t *testing.T, all map[string]*draw.Drawing) {
	t.Helper()
	for name, d := range all {
		for _, p := range draw.Palettes {
			file := filepath.Join("docs/pictures", name+p.Suffix+".svg")
			have, err := os.ReadFile(file)
			if err != nil {
				t.Error(err)
				continue
			}
			if was, is := words(t, have), words(t, d.SVG(p)); !slices.Equal(was, is) {
				t.Errorf("%s is not what go run ./qemu/pictures draws now.\nthe file:\n%s\nnow:\n%s", file, strings.Join(was, "\n"), strings.Join(is, "\n"))
			}
		}
	}
}

var (
	address = regexp.MustCompile(`0x[0-9a-f]{5,}`)
	bytes   = regexp.MustCompile(`(written: e9)( [0-9a-f]{2}){4}`)
	figure  = regexp.MustCompile(`\+?\b\d+(\.\d)? (us|ms|million|MiB)|(\.go:)\d+`)
)

// words returns what a picture says, line by line, without what differs between runs.
func words(t *testing.T, svg []byte) (list []string) {
	t.Helper()
	var doc struct {
		Text []struct {
			Class string `xml:"class,attr"`
			Says  string `xml:",chardata"`
		} `xml:"text"`
	}
	if err := xml.Unmarshal(svg, &doc); err != nil {
		t.Fatal(err)
	}
	for _, x := range doc.Text {
		s := figure.ReplaceAllString(bytes.ReplaceAllString(address.ReplaceAllString(x.Says, "ADDRESS"), "$1 DISP"), "N")
		if x.Class != "other" && s != "N" {
			list = append(list, x.Class+" "+s)
		}
	}
	if len(list) == 0 {
		t.Error("a picture without words")
	}
	return list
}

func TestWordsOfBothColours(t *testing.T) {
	d := draw.Drawing{Title: "a < b", Width: 10, Height: 10}
	d.Text(1, 2, "trap", "x -> 0xffffffff84000000 & more")
	d.Text(1, 2, "other", "depends")
	for _, p := range draw.Palettes {
		if got := words(t, d.SVG(p)); !slices.Equal(got, []string{"trap x -> ADDRESS & more"}) {
			t.Errorf("%q", got)
		}
	}
}

// TestLayersLeadDown: a part is above those that it imports, and an arrow leads to none that another arrow's part
// imports.
func TestLayersLeadDown(t *testing.T) {
	text, err := os.ReadFile("../../internal/layers/layers.txt")
	if err != nil {
		t.Fatal(err)
	}
	of := imports(string(text))
	for i, lead := range of {
		for _, j := range lead {
			if parts[i].row >= parts[j].row {
				t.Errorf("%v is beside or below %v, which it imports", parts[i].folders, parts[j].folders)
			}
			for _, k := range lead {
				if slices.Contains(of[k], j) {
					t.Errorf("%v leads to %v and to what that imports, %v", parts[i].folders, parts[k].folders, parts[j].folders)
				}
			}
		}
		if len(lead) == 0 && i != len(parts)-1 {
			t.Errorf("%v imports nothing", parts[i].folders)
		}
	}
	made := imports("# words: no layer\nbpf: bpf/... < pure\narch: arch/...\nkernel.x: kernel/x < bpf arch\nprobe: probe/... < kernel bpf\nonly x: y\n")
	if want := [][]int{nil, nil, nil, nil, {5}, {6, 7}, nil, nil}; !slices.EqualFunc(made, want, slices.Equal) {
		t.Errorf("%v", made)
	}
}

func TestStagesAreRead(t *testing.T) {
	if s, ok := parseStage("05     0.188005 page tables"); !ok || s.name != "page tables" || s.at.Microseconds() != 188005 {
		t.Errorf("%+v, %v", s, ok)
	}
	for _, line := range []string{"", "sonde version 0.2", "00 1.0 x", `{"version":1}`} {
		if _, ok := parseStage(line); ok {
			t.Errorf("%q is a stage", line)
		}
	}
}

func TestLongWordsAreWrapped(t *testing.T) {
	for s, want := range map[string]int{"": 0, "one": 1, "one two": 2, strings.Repeat("a ", 20): 7, "muchtoolongaword": 1} {
		if got := draw.Wrap(s, 5); len(got) != want {
			t.Errorf("%q: %s", s, fmt.Sprintf("%q", got))
		}
	}
}

// TestMapIsToScale: a folder has as much of the map as its packages have of the instructions, and is filled as far as
// they were reached.
func TestMapIsToScale(t *testing.T) {
	page := "Made from commit abc; x\n" + packagesHead + "|---|---:|---:|---:|\n| fmt | 60 | 50 | 83.3 % |\n| sonde/large/a | 299 | 0 | 0.0 % |\n| time | 40 | 0 | 0.0 % |\n| sonde/large/b/c | 1 | 0 | 0.0 % |\n\n" +
		waysHead + "|---|---:|---:|\n| a jump | 390 | 50 |\n| nothing | 0 | 0 |\n| all | 400 | 50 |\n"
	d := drawProof(page)
	for _, want := range []string{
		`<rect x="20" y="70" width="748" height="558" rx="3" class="band"/>`, // large
		`<rect x="770" y="70" width="248" height="558" rx="3" class="band"/>`,
		`<rect x="770" y="349" width="248" height="279" rx="3" class="bar"/>`,
	} {
		if svg := string(d.SVG(draw.Palettes[0])); !strings.Contains(svg, want) {
			t.Errorf("no %s in\n%s", want, svg)
		}
	}
	got := words(t, d.SVG(draw.Palettes[0]))[2:]
	want := []string{"step large", "step 0 %", "step libraries", "step 50 %", "step 10000 of 400 instructions", "step     390  a jump", "faint 50 executed"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
