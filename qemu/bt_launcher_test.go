package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"sonde/qemu/draw"
	"sonde/qemu/machine"
)

// asks runs the launcher with a script of bt, and returns how it ended.
func asks(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	cmd := launch(t, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// TestBtOnTheHost: the launcher prints what the script says, and nothing else.
func TestBtOnTheHost(t *testing.T) {
	runsBeside(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "count.bt")
	if err := os.WriteFile(file, []byte("kprobe:vfs.Read {\n\t@ = count();\n}\n"+strings.Repeat("// longer than a command line\n", 200)), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name           string
		args           []string
		status         int
		stdout, stderr string
	}{
		{"file", []string{"-bt", file, "-c", "echo 'not this'; cat /proc/uptime"}, 0, "\n@: 2\n\n", ""},
		{"status and JSON", []string{"-format", "json", "-bt", `BEGIN { printf("it's\n"); exit(3); }`}, 3, `{"type": "printf", "data": "it's\n"}` + "\n", ""},
		{"mistake", []string{"-bt", "kprobe:vfs.Reed { }", "-o", filepath.Join(dir, "none")}, 1, "", "stdin:1:1-16: ERROR: No matches for kprobe vfs.Reed: there is no function vfs.Reed in the kernel\n" +
			"kprobe:vfs.Reed { }\n~~~~~~~~~~~~~~~\nHINT: did you mean vfs.Read?\n"},
		{"no such program", []string{"-bt", "kprobe:vfs.Read { @ = count(); }", "-c", "nosuch"}, 127, "", "nosuch: command not found (did you mean touch?)\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, stdout, stderr := asks(t, c.args...)
			if status != c.status || stdout != c.stdout && c.stdout != "" || strings.ReplaceAll(stderr, "\r", "") != c.stderr {
				t.Errorf("status %d, want %d; standard output %q, want %q; standard error %q, want %q", status, c.status, stdout, c.stdout, stderr, c.stderr)
			}
		})
	}
	if _, err := os.Stat(filepath.Join(dir, "none")); err == nil {
		t.Error("a script with a mistake left a file")
	}
}

// TestBtIsInterruptedOnTheHost: Ctrl-C ends the script, which prints what it has.
func TestBtIsInterruptedOnTheHost(t *testing.T) {
	runsBeside(t)
	cmd := launch(t, "-bt", `BEGIN { printf("begun\n"); } kprobe:vfs.Read { @ = count(); } END { printf("bye\n"); @x = 1; }`)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	begun := make([]byte, len("begun\n"))
	if _, err := io.ReadFull(out, begun); err != nil {
		t.Fatal(err)
	}
	cmd.Process.Signal(os.Interrupt)
	rest, _ := io.ReadAll(out)
	if err := cmd.Wait(); err != nil || !regexp.MustCompile(`^bye\n\n(@: \d+\n\n)?@x: 1\n\n$`).Match(rest) {
		t.Errorf("%v: %q", err, rest)
	}
}

const calls = `kprobe:vfs.Read { printf("read\n"); @[kstack] = count(); } kretprobe:vfs.Read { printf("%d\n", retval == 0); } BEGIN { @s = tseries(5, 1s, 3); }`

// TestBtExports: what scripts of the running kernel leave in files for other tools is what libraries and
// tools of these formats read.
func TestBtExports(t *testing.T) {
	runsBeside(t)
	file := filepath.Join(t.TempDir(), "trace.pb")
	if status, stdout, stderr := asks(t, "-bt", calls, "--format", "perfetto", "-o", file, "-c", "cat /proc/uptime"); status != 0 || stdout+stderr != "" {
		t.Fatalf("status %d, %q, %q", status, stdout, stderr)
	}
	readsPerfetto(t, file)
	var script strings.Builder
	for _, f := range []string{"chrome", "folded", "pprof"} {
		script.WriteString("bt --format " + f + " -c 'cat /proc/uptime > /dev/null' -e '" + calls + "'; echo; echo ==; ")
	}
	r := bootScript(t, normalImage, machine.Config{Script: script.String()})
	parts := strings.Split(string(r.Stdout), "\n==\n")
	if len(parts) != 4 {
		t.Fatalf("%d formats: %q", len(parts), r.Stdout)
	}
	readsChrome(t, parts[0])
	if !regexp.MustCompile(`(?m)^[^;]+(;[^;]+)*;vfs\.Read 2$`).MatchString(parts[1]) {
		t.Errorf("folded: %q", parts[1])
	}
	readsProfile(t, parts[2])
	drawsFlame(t, parts[2])
}

// drawsFlame draws a profile of the kernel, as a picture and compared with itself, as a page.
func drawsFlame(t *testing.T, text string) {
	file := func(name string) string { return filepath.Join(t.TempDir(), name) }
	before, picture, page := file("before"), file("flame.svg"), file("flame.html")
	if err := os.WriteFile(before, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for out, c := range map[string]struct{ against, want string }{
		picture: {"", `<title>vfs\.Read: 2 samples, 100\.00 %</title><rect [^>]*class="kernel"/>`},
		page:    {before, `^<!DOCTYPE html>(.|\n)*<title>vfs\.Read: 2 samples, 100\.00 %; before 2, 100\.00 %</title><rect [^>]*class="grown" fill-opacity="0\.00"/>`},
	} {
		if err := drawFlame([]byte(text), "calls", c.against, out); err != nil {
			t.Fatal(err)
		}
		if svg, err := os.ReadFile(out); err != nil || !regexp.MustCompile(c.want).Match(svg) {
			t.Errorf("%s: %v: %s", c.want, err, svg)
		}
	}
	if err := drawFlame([]byte("no profile"), "", "", picture); err == nil {
		t.Error("what is no profile was drawn")
	}
	if err := drawFlame([]byte(text), "", picture, page); err == nil {
		t.Error("it was compared with a picture")
	}
}

// TestKindsOfFrames: a frame's colour is that of the file that it is in.
func TestKindsOfFrames(t *testing.T) {
	for of, want := range map[[2]string]draw.Kind{
		{"vfs.Read", "[kernel]"}: draw.Kernel, {"cpu.haltOnce.abi0", "[kernel]"}: draw.Idle, {"main", "/bin/cat"}: draw.Program, {"[anon]", "[anon]"}: draw.Program,
		{"malloc", "/lib/x86_64-linux-gnu/libc.so.6"}: draw.Library, {"[libx.so]", "/lib/libx.so"}: draw.Library, {"__vdso_gettimeofday", "[vdso]"}: draw.Library,
		{"Interpreted:f", "/tmp/perf-7.map"}: draw.Program,
	} {
		if got := kindOf(of[0], of[1]); got != want {
			t.Errorf("%s is %s, want %s", of, got, want)
		}
	}
}

// readsChrome reads the begin and the end of each call.
func readsChrome(t *testing.T, text string) {
	var all struct {
		TraceEvents []struct {
			Name, Ph string
			Args     struct{ Name string }
		}
	}
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		t.Fatalf("chrome: %v\n%s", err, text)
	}
	n := map[string]int{}
	for _, e := range all.TraceEvents {
		n[strings.TrimSpace(e.Ph+" "+e.Name+" "+e.Args.Name)]++
	}
	if n["B vfs.Read"] == 0 || n["B vfs.Read"] != n["E vfs.Read"] || n["M process_name kernel"] != 1 {
		t.Errorf("chrome: %v", n)
	}
}

// readsProfile has Go's own tool read the profile.
func readsProfile(t *testing.T, text string) {
	file := filepath.Join(t.TempDir(), "profile")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(strings.NewReader(text))
	if err == nil {
		_, err = io.Copy(io.Discard, z)
	}
	if err != nil {
		t.Fatalf("pprof: %v", err)
	}
	out, err := exec.Command("go", "tool", "pprof", "-top", "-symbolize=none", file).CombinedOutput()
	if err != nil || !regexp.MustCompile(`(?m)^ +2 +100% +100% +2 +100% +vfs\.Read`).Match(out) {
		t.Errorf("pprof: %v\n%s", err, out)
	}
}

// readsPerfetto reads the packets of a trace: as many calls begin as end.
func readsPerfetto(t *testing.T, file string) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	types := map[uint64]int{}
	eachField(t, data, func(n protowire.Number, packet []byte, _ uint64) {
		eachField(t, packet, func(n protowire.Number, event []byte, _ uint64) {
			if n == 11 { // track_event
				eachField(t, event, func(n protowire.Number, _ []byte, v uint64) {
					if n == 9 { // type
						types[v]++
					}
				})
			}
		})
	})
	if types[1] == 0 || types[1] != types[2] || types[4] == 0 { // slices begin and end; counters
		t.Errorf("perfetto: %v", types)
	}
}

// eachField calls f for the fields of a message.
func eachField(t *testing.T, b []byte, f func(n protowire.Number, bytes []byte, v uint64)) {
	t.Helper()
	for len(b) > 0 {
		n, kind, size := protowire.ConsumeTag(b)
		if size < 0 {
			t.Fatal(protowire.ParseError(size))
		}
		b = b[size:]
		var v uint64
		var inside []byte
		if kind == protowire.BytesType {
			inside, size = protowire.ConsumeBytes(b)
		} else {
			v, size = protowire.ConsumeVarint(b)
		}
		if size < 0 {
			t.Fatal(protowire.ParseError(size))
		}
		f(n, inside, v)
		b = b[size:]
	}
}
