package draw

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// hostileName is what a program may call itself.
const hostileName = "</svg><script>alert(1)</script>\x00\x1b[31m\xff\u202e"

// A rect is a rectangle that was drawn, with what it says.
type rect struct {
	x, y, w     float64
	class, says string
}

// seen reads a picture as XML: its rectangles, and its texts.
func seen(t *testing.T, draws func(io.Writer) error) (rects []rect, texts []string) {
	t.Helper()
	var b bytes.Buffer
	if err := draws(&b); err != nil {
		t.Fatal(err)
	}
	says, in := "", ""
	for d := xml.NewDecoder(&b); ; {
		token, err := d.Token()
		if err == io.EOF {
			return rects, texts
		}
		if err != nil {
			t.Fatalf("no XML: %v", err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			if in = e.Name.Local; in == "script" {
				t.Error("a script")
			}
			if at := attributes(e); in == "rect" && at["class"] != "paper" {
				r := rect{class: at["class"], says: says}
				for name, to := range map[string]*float64{"x": &r.x, "y": &r.y, "width": &r.w} {
					if *to, err = strconv.ParseFloat(at[name], 64); err != nil || math.IsNaN(*to) || *to < 0 || name != "y" && *to > timeWide {
						t.Errorf("%s of a rectangle: %q", name, at[name])
					}
				}
				rects = append(rects, r)
			}
		case xml.CharData:
			switch in {
			case "title":
				says = string(e)
			case "text":
				texts = append(texts, string(e))
			}
		case xml.EndElement:
			if in = ""; e.Name.Local == "g" {
				says = ""
			}
		}
	}
}

func attributes(e xml.StartElement) map[string]string {
	at := map[string]string{}
	for _, a := range e.Attr {
		at[a.Name.Local] = a.Value
	}
	return at
}

// of are the rectangles of a class.
func of(rects []rect, class string) (all []rect) {
	for _, r := range rects {
		if r.class == class {
			all = append(all, r)
		}
	}
	return all
}

// TestHistogram: a bar is as long as its bucket has values, the outline as long as it had; they are called as bt
// calls them.
func TestHistogram(t *testing.T) {
	h := Histogram{Title: "bytes", Compared: true}
	const printed = `[{"max": -1, "count": 1}, {"min": 1, "max": 1, "count": 10}, {"min": 16, "max": 31, "count": 20}, {"min": 32768, "max": 65535, "count": 0}, {"min": 100, "count": 5}]`
	if err := json.Unmarshal([]byte(printed), &h.Buckets); err != nil {
		t.Fatal(err)
	}
	h.Buckets[1].Was = 40
	rects, texts := seen(t, h.SVG)
	var wide []float64
	for _, r := range of(rects, "bar") {
		wide = append(wide, r.w)
	}
	if want := []float64{9.5, 95, 190, 0, 47.5}; !slices.Equal(wide, want) {
		t.Errorf("bars of %v, not %v", wide, want)
	}
	if was := of(rects, "was"); was[1].w != histBar || was[2].w != 0 {
		t.Errorf("%+v", was)
	}
	want := []string{"bytes", "(..., 0)", "1", "[1]", "10", "[16, 32)", "20", "[32K, 64K)", "0", "[100, ...)", "5", "36 in all; the outline is what was before"}
	if !slices.Equal(texts, want) {
		t.Errorf("%q, not %q", texts, want)
	}
	if says := of(rects, "bar")[1].says; says != "[1]: 10, before 40" {
		t.Error(says)
	}
}

// TestHistogramsOfAnySize: none, one, and more buckets than there is room for: none is lost.
func TestHistogramsOfAnySize(t *testing.T) {
	for _, n := range []int{0, 1, mostBars, mostBars + 1, 100_000} {
		h := Histogram{Title: hostileName}
		for i := range int64(n) {
			low, high := i*10, i*10+9
			h.Buckets = append(h.Buckets, Bucket{Min: &low, Max: &high, Count: 1})
		}
		rects, texts := seen(t, h.SVG)
		bars := of(rects, "bar")
		if len(bars) > mostBars || n <= mostBars && len(bars) != n {
			t.Errorf("%d bars of %d buckets", len(bars), n)
		}
		foot := texts[len(texts)-1]
		if n == 0 && foot != "nothing has been counted" || n > 0 && !strings.HasPrefix(foot, fmt.Sprintf("%d in all", n)) || strings.Contains(foot, "stands for") != (n > mostBars) {
			t.Errorf("%d buckets: %s", n, foot)
		}
		all := 0
		for _, r := range bars {
			_, count, _ := strings.Cut(r.says, ": ")
			n, _ := strconv.Atoi(count)
			all += n
		}
		if all != n || n > 0 && (!strings.HasPrefix(bars[0].says, "[0, ") || !strings.Contains(bars[len(bars)-1].says, fmt.Sprintf(", %d)", 10*n))) {
			t.Errorf("%d buckets: %d values, from %s to %s", n, all, bars[0].says, bars[len(bars)-1].says)
		}
	}
	limit := int64(math.MaxInt64)
	if got := (&Bucket{Min: new(int64), Max: &limit}).label(); got != "[0, 8E)" {
		t.Error(got)
	}
}

// TestTimeline: a span is where it was, below the one around it, in the lane of its thread.
func TestTimeline(t *testing.T) {
	l := Timeline{Title: "t", Spans: []Span{
		{Lane: "b", Name: "outer", From: 1000, Until: 2000}, {Lane: "b", Name: "inner", Says: "x", From: 1500, Until: 1800}, {Lane: "a", Name: "event", From: 1250, Until: 1250},
		{Lane: "b", Name: "next", From: 1800, Until: 1900},
	}}
	var b strings.Builder
	if err := l.Fragment(&b); err != nil || !strings.Contains(b.String(), `<g data-from="1500" data-until="1800"><title>inner, `) {
		t.Errorf("%v: %s", err, b.String())
	}
	rects, texts := seen(t, l.SVG)
	outer, inner, event := of(rects, "span")[0], of(rects, "deep"), of(rects, "event")[0]
	if outer.x != timeLabel || outer.w != timeSpans || inner[0].x != timeLabel+timeSpans/2 || math.Abs(inner[0].w-0.3*timeSpans) > 0.1 || event.x != timeLabel+timeSpans/4 {
		t.Errorf("%+v %+v %+v", outer, inner, event)
	}
	if inner[0].y != outer.y+timeRow || inner[1].y != inner[0].y || event.y >= outer.y {
		t.Errorf("%+v %+v %+v", outer, inner, event)
	}
	if inner[0].says != "inner, 300ns: x" || !slices.Contains(texts, "outer") || !slices.Contains(texts, "4 spans and events in 1µs") {
		t.Errorf("%q, %q", inner[0].says, texts)
	}
	l.From, l.Until = 1700, 1800
	rects, texts = seen(t, l.SVG)
	if s := of(rects, "span"); len(s) != 1 || s[0].x != timeLabel || s[0].w != timeSpans || !slices.Contains(texts, "3 spans and events in 100ns") {
		t.Errorf("%+v %q", s, texts)
	}
}

// TestTimelinesOfAnySize: none, one, and more spans and lanes than there is room for, with hostile names; what is
// not drawn by itself is said.
func TestTimelinesOfAnySize(t *testing.T) {
	if rects, texts := seen(t, (&Timeline{}).SVG); len(rects) != 0 || !slices.Contains(texts, "nothing has happened") {
		t.Errorf("%v %q", rects, texts)
	}
	one := Timeline{Title: hostileName, Spans: []Span{{Lane: hostileName, Name: hostileName, Says: hostileName, From: 5, Until: 5}}}
	if rects, _ := seen(t, one.Fragment); len(of(rects, "event")) != 1 {
		t.Errorf("%+v", rects)
	}
	var many Timeline
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 100_000 {
		from := r.Int64N(1e9)
		many.Spans = append(many.Spans, Span{Lane: fmt.Sprint(i % 200), Name: hostileName, From: from, Until: from + r.Int64N(1e5)})
	}
	rects, texts := seen(t, many.SVG)
	crowds, drawn := 0, 0
	for _, r := range of(rects, "many") {
		var n int
		fmt.Sscan(r.says, &n)
		crowds += n
	}
	drawn = len(of(rects, "span")) + len(of(rects, "deep")) + len(of(rects, "event"))
	foot := texts[len(texts)-1]
	if crowds+drawn != 100_000/200*mostLanes || !strings.HasPrefix(foot, fmt.Sprint(crowds+drawn, " spans")) || !strings.HasSuffix(foot, "; 160 lanes with fewer are not drawn") {
		t.Errorf("%d in crowds, %d drawn, %s", crowds, drawn, foot)
	}
	for _, s := range [][2]int64{{math.MinInt64, math.MaxInt64}, {math.MaxInt64, math.MinInt64}} {
		seen(t, (&Timeline{Spans: []Span{{From: s[0], Until: s[1]}, {From: 1, Until: 2}}}).SVG)
	}
}

// TestReadChrome: calls are spans, what they said at their end included, and one that has not ended is said to.
func TestReadChrome(t *testing.T) {
	const text = `{"displayTimeUnit":"ns","traceEvents":[
{"name":"process_name","ph":"M","pid":0,"tid":0,"args":{"name":"kernel"}},
{"name":"thread_name","ph":"M","pid":0,"tid":7,"args":{"name":"thread 7"}},
{"name":"vfs.Read","ph":"B","ts":10.500,"pid":0,"tid":7,"args":{"says":"in"}},
{"name":"tick","ph":"i","ts":11.000,"pid":0,"tid":7,"s":"t","args":{"says":"now"}},
{"name":"vfs.Read","ph":"E","ts":12.001,"pid":0,"tid":7,"args":{"says":"out"}},
{"name":"@","ph":"C","ts":12.000,"pid":0,"args":{"value":3}},
{"name":"open","ph":"B","ts":13.000,"pid":0,"tid":7,"args":{"says":""}},
{"name":"late","ph":"E","ts":20.000,"pid":0,"tid":8,"args":{"says":""}}
]}`
	const lane = "kernel, thread 7"
	want := []Span{{lane, "vfs.Read", "in → out", 10500, 12001, 0}, {lane, "tick", "now", 11000, 11000, 0}, {lane, "open", " (has not ended)", 13000, 20000, 0}, {"kernel, ", "late", "", 20000, 20000, 0}}
	if got, err := ReadChrome([]byte(text)); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %+v", err, got)
	}
	for _, bad := range []string{"", "[]", `{"traceEvents":[{"ts":"x"}]}`} {
		if _, err := ReadChrome([]byte(bad)); err == nil || !strings.Contains(err.Error(), "bt --format chrome") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestFilesAndFragments: a file has its style, a fragment of a page that forbids styles has none.
func TestFilesAndFragments(t *testing.T) {
	h, l, f := new(Histogram), new(Timeline), Flame{Root: new(Frame)}
	for i, draws := range []func(io.Writer) error{h.SVG, l.SVG, f.SVG, h.Fragment, l.Fragment, f.Fragment} {
		var b strings.Builder
		if err := draws(&b); err != nil || strings.Contains(b.String(), "<style>") != (i < 3) || strings.Contains(b.String(), "<script>") != (i == 2) || strings.Contains(b.String(), "style=") {
			t.Errorf("%v: %s", err, b.String())
		}
	}
}
