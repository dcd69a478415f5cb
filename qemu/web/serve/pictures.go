package serve

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"sonde/qemu/draw"
)

// mostTimeline is how much of a time line is kept: of more, the beginning.
const mostTimeline = 4 << 20

// draw draws what was printed last. Context: mu held.
func (x *run) draw() {
	var b bytes.Buffer
	x.picture = nil
	for _, name := range slices.Sorted(maps.Keys(x.data)) {
		p := drawing(name, x.data[name], x.kept[name], x.words[len(x.words)-1])
		if p == nil {
			continue
		}
		if p.Fragment(&b) == nil && x.picture == nil {
			x.picture = p.SVG
		}
	}
	if b.Len() > 0 {
		x.page.tell(event{ID: x.id, Kind: "picture", HTML: b.String()})
	}
}

// A picture is one that package draw makes.
type picture interface {
	Fragment(io.Writer) error
	SVG(io.Writer) error
}

// drawing makes a picture of what a script's map has, and of what it had before; nil: there is none.
func drawing(name string, data, before json.RawMessage, script string) picture {
	var buckets []draw.Bucket
	if json.Unmarshal(data, &buckets) == nil {
		return histogram(name, buckets, before)
	}
	var keyed map[string]json.RawMessage
	if json.Unmarshal(data, &keyed) != nil || len(keyed) == 0 {
		return nil
	}
	was := map[string]json.RawMessage{}
	json.Unmarshal(before, &was)
	var some map[string][]draw.Bucket
	if json.Unmarshal(data, &some) == nil {
		key := slices.Sorted(maps.Keys(some))[0]
		return histogram(fmt.Sprintf("%s[%s]", name, key), some[key], was[key])
	}
	return flame(name, keyed, was, strings.Contains(script, "kstack"), strings.Contains(script, "ustack"))
}

func histogram(name string, buckets []draw.Bucket, before json.RawMessage) picture {
	h := &draw.Histogram{Title: name, Buckets: buckets}
	var old []draw.Bucket
	if json.Unmarshal(before, &old) == nil && len(old) > 0 {
		h.Compared = true
		h.Buckets = joined(buckets, old)
	}
	return h
}

// joined are buckets with what they had before.
func joined(now, before []draw.Bucket) []draw.Bucket {
	key := func(b draw.Bucket) string { return mustJSON([]any{b.Min, b.Max}) }
	all := slices.Clone(now)
	at := map[string]int{}
	for i, b := range all {
		at[key(b)] = i
	}
	for _, b := range before {
		if i, ok := at[key(b)]; ok {
			all[i].Was = b.Count
		} else {
			all = append(all, draw.Bucket{Min: b.Min, Max: b.Max, Was: b.Count})
		}
	}
	slices.SortStableFunc(all, func(a, b draw.Bucket) int {
		if a.Min == nil || b.Min == nil {
			return cmp.Compare(btoi(a.Min != nil), btoi(b.Min != nil))
		}
		return cmp.Compare(*a.Min, *b.Min)
	})
	return all
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// flame is a flame graph of what stacks have counted, of the kernel, of programs or of both in this order: their innermost
// calls come first.
func flame(name string, keyed, before map[string]json.RawMessage, kernel, program bool) picture {
	f := &draw.Flame{Root: &draw.Frame{Name: "all", Kind: draw.Label}, Title: name, Unit: "hits", Compared: len(before) > 0}
	add := func(all map[string]json.RawMessage, was bool) {
		for key, value := range all {
			n, err := strconv.ParseFloat(string(value), 64)
			if err != nil {
				continue
			}
			f.Root.Count(stackOf(key, kernel, program), int64(n), was)
		}
	}
	add(keyed, false)
	add(before, true)
	return f
}

// stackOf are the calls of a key, the outermost first.
func stackOf(key string, kernel, program bool) (stack []draw.Frame) {
	kind := draw.Kernel
	for _, call := range strings.Split(key, "\n") {
		if program && (!kernel || strings.HasPrefix(call, ",")) { // between two stacks
			kind = draw.Program
		}
		switch call = strings.Trim(call, " ,\t"); {
		case call == "":
		case !kernel && !program:
			stack = append(stack, draw.Frame{Name: call, Kind: draw.Label})
		default:
			stack = append(stack, draw.Frame{Name: withoutOffset(call), Kind: kind})
		}
	}
	slices.Reverse(stack)
	return stack
}

// folded writes stacks as flamegraph.pl reads them: a line each, the outermost call first, and the count. Context: mu held.
func (x *run) folded(w io.Writer) {
	script := x.words[len(x.words)-1]
	for _, name := range slices.Sorted(maps.Keys(x.data)) {
		var counts map[string]json.Number
		if json.Unmarshal(x.data[name], &counts) != nil {
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(counts)) {
			var calls []string
			for _, f := range stackOf(key, strings.Contains(script, "kstack"), strings.Contains(script, "ustack")) {
				calls = append(calls, strings.ReplaceAll(clean(f.Name), ";", ":"))
			}
			fmt.Fprintf(w, "%s %s\n", strings.Join(calls, ";"), counts[key])
		}
	}
}

// withoutOffset is a call's function.
func withoutOffset(call string) string {
	if i := strings.LastIndexByte(call, '+'); i > 0 {
		return call[:i]
	}
	return call
}

// timeline draws what there is of a time line. Context: mu held.
func (x *run) timeline(b []byte) {
	if len(x.all)+len(b) > mostTimeline {
		x.page.tell(event{ID: x.id, Kind: "lines", Lines: []string{fmt.Sprintf("only the first %d bytes are shown", len(x.all))}})
		x.cancel()
		return
	}
	x.all = append(x.all, b...)
	whole := bytes.LastIndexByte(x.all, '\n')
	if whole < 0 {
		return
	}
	text := bytes.TrimRight(x.all[:whole], ", \n")
	if !bytes.HasSuffix(text, []byte("]}")) {
		text = append(bytes.Clone(text), "]}"...)
	}
	spans, err := draw.ReadChrome(text)
	if err != nil || len(spans) == 0 {
		return
	}
	t := &draw.Timeline{Title: "time", Spans: spans}
	var out bytes.Buffer
	if t.Fragment(&out) == nil {
		x.raw, x.picture = text, t.SVG
		x.page.tell(event{ID: x.id, Kind: "picture", HTML: out.String()})
	}
}
