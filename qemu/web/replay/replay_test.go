package replay

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func read(t *testing.T, name string) *View {
	t.Helper()
	i := slices.IndexFunc(Kinds, func(k Kind) bool { return k.Name == name })
	v, err := Read(Kinds[i].JSON())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// row says how a row is shown: [cc] differs, ▸ is where IP leads.
func row(r Row) string {
	s := r.Label + ":"
	for _, c := range r.Cells {
		b := c.Byte
		if c.Differs {
			b = "[" + b + "]"
		}
		if c.At {
			b = "▸" + b
		}
		s += " " + b
	}
	return s
}

// TestStep: the copy is found again at the stage after that which leads to it, and IP in all of the rows.
func TestStep(t *testing.T) {
	v := read(t, "step")
	for _, c := range []struct {
		frame, row int
		want       string
	}{
		{1, 0, `^as compiled: 49 3b 66 10 0f 86 `}, {1, 1, `^in memory: \[cc\] ▸3b 66 10 0f`}, {4, 1, `^in memory: \[cc\] 3b 66`},
		{4, 2, `^slot: ▸49 3b 66 10 \[e9\] `}, {5, 2, `^slot: 49 3b 66 10 ▸\[e9\] `}, {6, 1, `^in memory: \[cc\] 3b 66 10 ▸0f 86`},
	} {
		if got := row(v.Frames[c.frame-1].Rows[c.row]); !regexp.MustCompile(c.want).MatchString(got) {
			t.Errorf("frame %d: %s, not %s", c.frame, got, c.want)
		}
	}
	if n := v.Frames[1].Rows[1].Note; n != "1 byte differs: cc is INT3" {
		t.Error(n)
	}
	changed := func(n int) (all []string) {
		for _, r := range v.Frames[n-1].Regs {
			if r.Was != "" {
				all = append(all, r.Name)
			}
		}
		return all
	}
	for n, want := range map[int][]string{1: nil, 3: nil, 4: {"IP", "FLAGS"}, 6: {"IP", "FLAGS"}} {
		if got := changed(n); !slices.Equal(got, want) || len(v.Frames[n-1].Regs) != len(regNames) {
			t.Errorf("frame %d: %v changed, not %v", n, got, want)
		}
	}
	flags := v.Frames[3].Regs[len(regNames)-1]
	if !strings.HasPrefix(flags.Was, "+TF −IF was 0x") || !strings.Contains(flags.Letters, "TF") || strings.Contains(flags.Letters, "IF") {
		t.Errorf("%+v", flags)
	}
	if s := v.Frames[3].Stack; len(s) != 8 || s[0].Offset != "SP+0x0" || s[7].Offset != "SP+0x38" || !strings.HasPrefix(s[0].Is, "vfs.(*File).Read+") {
		t.Errorf("%+v", s)
	}
}

// TestOthers: what else is special about a kind.
func TestOthers(t *testing.T) {
	jump := read(t, "jump").Frames
	if got := row(jump[0].Rows[1]); !regexp.MustCompile(`^in memory: \[e9\] \[`).MatchString(got) || jump[0].IP != "" {
		t.Errorf("%s, IP %s", got, jump[0].IP)
	}
	if r := jump[3].Rows[2]; r.Label != "detour" || !r.Cells[0].At {
		t.Errorf("%+v", r)
	}
	if f := read(t, "nested").Frames[2]; f.Note == "" || len(f.Regs) != len(regNames) {
		t.Errorf("%+v", f)
	}
	if f := read(t, "emulated").Frames[4]; f.Rows[2].Label != "at IP" || f.Rows[2].Cells[0].Differs || f.Stack[0].Was == "" {
		t.Errorf("%+v", f)
	}
	if r := read(t, "return").Frames[1]; !strings.HasPrefix(r.Stack[0].Was, "was 0x") || !strings.HasPrefix(r.Stack[0].Is, "kprobes.trampoline") {
		t.Errorf("%+v", r.Stack[0])
	}
	if v := read(t, "user"); !strings.Contains(v.Facts, "process 2, thread 2") {
		t.Error(v.Facts)
	}
	if v := read(t, "watch"); len(v.Frames[0].Rows) != 1 || v.Frames[0].Rows[0].Label != "at IP" {
		t.Errorf("%+v", v.Frames[0].Rows)
	}
	way := read(t, "way")
	if n := len(way.CPUs); n != 2 || len(way.Frames[0].Lanes) != n || way.Frames[0].Code != "cc" || row(way.Frames[1].Rows[0]) != "at the place: cc" {
		t.Errorf("%v, %+v", way.CPUs, way.Frames[0])
	}
}

// TestLacking: what is missing in a recording is said.
func TestLacking(t *testing.T) {
	v, err := Read([]byte(`{"version":1,"place":"p","lost":3,"frames":[{"says":"s","regs":{"AX":"0x1"}},{"regs":{"AX":"0x2","CX":"0x3"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if v.Warning != "3 more are lost: there was no room for them. The hit was not over when the recording ended." {
		t.Error(v.Warning)
	}
	if r := v.Frames[1].Regs; len(r) != 2 || r[0].Was != "was 0x1" || r[1].Was != "new" {
		t.Errorf("%+v", r)
	}
}

// TestNoRecording: what is none is refused with the reason.
func TestNoRecording(t *testing.T) {
	for text, why := range map[string]string{
		"": "unexpected end", "{}": "version is 0", "null": "version is 0", `{"version":2}`: "version is 2", `{"version":1}`: "neither frames nor steps",
		`{"version":1,"frames":[{"regs":{"AX":"one"}}]}`: "one", `{"version":1,"frames":3}`: "cannot unmarshal",
		strings.Repeat(" ", Largest+1): "at most",
	} {
		if _, err := Read([]byte(text)); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%.60s: %v", text, err)
		}
	}
}

const hostile = "</script><img src=x onerror=1>\x00\x1b[31m\u202e\x9b"

// TestHostileStrings: whatever a string holds is shown, not obeyed.
func TestHostileStrings(t *testing.T) {
	bad := strings.ReplaceAll(string(mustJSON(hostile+"'\"&")), `"`, "")
	for _, k := range Kinds {
		text := regexp.MustCompile(`"(place|file|tier|explain|says|is|asm|stage|step)":"`).ReplaceAllString(string(k.JSON()), `"$1":"`+bad)
		v, err := Read([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := v.HTML(&b); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(b.String(), "\x00\x1b\u202e\u009b") || strings.Contains(b.String(), "<img") || !strings.Contains(b.String(), "&lt;img src=x") {
			t.Errorf("%s: %.500s", k.Name, b.String())
		}
	}
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// TestFragments: all frames are there, with their sentences, and nothing that only files need.
func TestFragments(t *testing.T) {
	for _, k := range Kinds {
		v := read(t, k.Name)
		var b strings.Builder
		if err := v.HTML(&b); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(b.String(), `<article class="rp-frame">`); n != len(v.Frames) || n < 2 || strings.Contains(b.String(), "data-") {
			t.Errorf("%s: %d frames", k.Name, n)
		}
	}
}

// TestPage: the page loads nothing, and may load nothing; each stop of the tour has its frame.
func TestPage(t *testing.T) {
	var b strings.Builder
	if err := Page(&b); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{" src=", "http:", "https:", "url(", "@import"} {
		if strings.Contains(b.String(), bad) {
			t.Errorf("the page has %s", bad)
		}
	}
	if !strings.Contains(b.String(), "default-src &#39;none&#39;; style-src &#39;sha256-") {
		t.Error("no policy")
	}
	stops := tour(tourText)
	if n := len(read(t, "step").Frames); len(stops) != n || n != 8 {
		t.Errorf("%d stops, %d frames", len(stops), n)
	}
	for i, s := range stops {
		if !strings.HasPrefix(s.Title, fmt.Sprintf("%d. ", i+1)) || !strings.HasPrefix(string(s.Text), "<p>") {
			t.Errorf("%+v", s)
		}
	}
	if got := tour("\n## 1. A <b>\n\n`x<y` is *so*.\n"); len(got) != 1 || got[0].Text != "<p><code>x&lt;y</code> is <em>so</em>.</p>\n" {
		t.Errorf("%+v", got)
	}
}

func FuzzRead(f *testing.F) {
	for _, k := range Kinds {
		f.Add(k.JSON())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if v, err := Read(b); err == nil {
			var out strings.Builder
			if err := v.HTML(&out); err != nil {
				t.Error(err)
			}
		}
	})
}
