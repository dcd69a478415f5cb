package draw

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
)

// stack makes frames of the kernel.
func stack(names ...string) (all []Frame) {
	for _, n := range names {
		all = append(all, Frame{Name: n, Kind: Kernel})
	}
	return all
}

// box is a frame that was drawn.
type box struct{ x, w, n, y, class, text, title string }

// drawn reads a picture as XML, and returns its frames by name, and all its text.
func drawn(t *testing.T, f *Flame) (map[string]box, string) {
	t.Helper()
	var b bytes.Buffer
	if err := f.SVG(&b); err != nil {
		t.Fatal(err)
	}
	boxes, name, in, all := map[string]box{}, "", "", ""
	for d := xml.NewDecoder(&b); ; {
		token, err := d.Token()
		if err == io.EOF {
			return boxes, all
		}
		if err != nil {
			t.Fatalf("no XML: %v", err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			at := map[string]string{}
			for _, a := range e.Attr {
				at[a.Name.Local] = a.Value
			}
			in = e.Name.Local
			if at["class"] == "frame" {
				name = at["data-name"]
				boxes[name] = box{x: at["data-x"], w: at["data-w"], n: at["data-n"]}
			} else if b := boxes[name]; in == "rect" && name != "" {
				b.y, b.class = at["y"], at["class"]
				boxes[name] = b
			}
		case xml.CharData:
			b := boxes[name]
			switch in {
			case "title":
				b.title = string(e)
			case "text":
				b.text = string(e)
				all += string(e) + "\n"
			}
			if name != "" && (in == "title" || in == "text") {
				boxes[name] = b
			}
		case xml.EndElement:
			if in = ""; e.Name.Local == "g" {
				name = ""
			}
		}
	}
}

// TestFlame: a frame is as wide as what was counted in it and in what it called, and lies above its caller.
func TestFlame(t *testing.T) {
	f := Flame{Root: &Frame{Name: "all"}, Title: "t", Unit: "samples"}
	f.Root.Count(stack("main", "a"), 30, false)
	f.Root.Count(stack("main", "b", "c"), 50, false)
	f.Root.Count(stack("main"), 10, false)
	f.Root.Count(stack(`</svg><script>alert("x")</script>`+"\x00\xff"), 10, false)
	boxes, _ := drawn(t, &f)
	for name, want := range map[string]struct{ x, w string }{
		"all": {"0.000000", "1.000000"}, "main": {"0.100000", "0.900000"}, "a": {"0.100000", "0.300000"}, "b": {"0.400000", "0.500000"},
		"c": {"0.400000", "0.500000"}, `</svg><script>alert("x")</script>.` + "\ufffd": {"0.000000", "0.100000"},
	} {
		if b := boxes[name]; b.x != want.x || b.w != want.w {
			t.Errorf("%s is at %s, %s wide; want %s, %s", name, b.x, b.w, want.x, want.w)
		}
	}
	if b := boxes["b"]; b.title != "b: 50 samples, 50.00 %" || b.class != "kernel" || b.text != "b" {
		t.Errorf("%+v", b)
	}
	below := func(lower, upper string) {
		l, _ := strconv.Atoi(boxes[lower].y)
		if u, _ := strconv.Atoi(boxes[upper].y); l-u != flameRow {
			t.Errorf("%s is at %d, %s above it at %d", lower, l, upper, u)
		}
	}
	below("all", "main")
	below("main", "a")
	below("b", "c")
}

// TestFlamesCompared: colours say whether the share of a frame has grown; what is gone is said.
func TestFlamesCompared(t *testing.T) {
	f := Flame{Root: &Frame{Name: "all"}, Unit: "samples", Compared: true}
	for i, n := range []struct{ now, was int64 }{{30, 10}, {10, 30}, {0, 40}, {60, 20}} {
		if name := fmt.Sprint("f", i); n.now > 0 {
			f.Root.Count(stack(name), n.now, false)
		}
		f.Root.Count(stack(fmt.Sprint("f", i)), n.was, true)
	}
	boxes, text := drawn(t, &f)
	for name, want := range map[string]string{"f0": "grown", "f1": "shrunk", "f3": "grown"} {
		if boxes[name].class != want {
			t.Errorf("%s has %s", name, boxes[name].class)
		}
	}
	if want := "f0: 30 samples, 30.00 %; before 10, 10.00 %"; boxes["f0"].title != want {
		t.Errorf("%s", boxes["f0"].title)
	}
	if _, ok := boxes["f2"]; ok || !strings.Contains(text, "40 samples of before are in frames that are gone") {
		t.Errorf("what is gone: %v, %s", ok, text)
	}
}

// TestManyFrames: what is too narrow is counted, and nothing is a picture, too.
func TestManyFrames(t *testing.T) {
	f := Flame{Root: &Frame{Name: "all"}, Unit: "samples"}
	f.Root.Count(stack("wide"), 1e6, false)
	for i := range 100_000 {
		f.Root.Count(stack("wide", fmt.Sprint("f", i)), 1, false)
	}
	boxes, text := drawn(t, &f)
	if len(boxes) != 2 || !strings.Contains(text, "100000 frames are too narrow to be drawn") {
		t.Errorf("%d boxes, %.200s", len(boxes), text)
	}
	if boxes, _ := drawn(t, &Flame{Root: &Frame{Name: "all"}, Unit: "samples"}); len(boxes) != 0 {
		t.Errorf("nothing is %v", boxes)
	}
}

func TestNamesAreCut(t *testing.T) {
	for wide, want := range map[float64]string{6: "", 20: "", 30: "v..", 46: "vfs..", 70: "vfs.Read"} {
		if got := cut("vfs.Read", wide); got != want {
			t.Errorf("%v pixels: %q, want %q", wide, got, want)
		}
	}
	if got := cut("äöüßäöü", 46); got != "äöü.." {
		t.Errorf("%q", got)
	}
}
