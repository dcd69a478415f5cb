package overlay_test

import (
	"debug/elf"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"sonde/internal/image"
	"sonde/kallsyms"
	"sonde/kprobes/reach"
)

// callsBack are the functions of the overlay that call the kernel through a func value, which package
// goos, or a door, has been given.
var callsBack = map[string]string{
	"sondeShimInit": "Task, Random", "sondeFirstThread": "ProcID", "sondePick": "Idle", "sondeUnlock": "Alarm, Wake",
	"sondeMisc": "Random, Exit", "sondeInterrupt": "Program, Wake", "sondeWant": "Program", "sondeMakeWay": "Program",
	"sondeWatchEvery": "Program", "sondeRetUnwind": "what SondeRetInit was given",
	// Assembly: on the stack of the shim, and to the thread that is next.
	"sondeSyscall": "sondeDispatch", "sondeCPUStart": "sondeSchedule", "sondeClock": "sondeClockGettime", "sondeResume": "a thread",
}

// An edge is a direct call or jump, from one function to another.
type edge struct{ from, to string }

// edges returns all direct calls and jumps of an image, and the functions that make others.
func edges(t *testing.T, path string) (direct map[edge]bool, indirect []string) {
	info, err := image.Inspect(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text := f.Section(".text")
	code, err := text.Data()
	if err != nil {
		t.Fatal(err)
	}
	g := reach.New(info.Symbols, func(addr, n uint64) []byte {
		if off := addr - text.Addr; off+n <= uint64(len(code)) {
			return code[off : off+n]
		}
		return nil
	})
	direct = map[edge]bool{}
	info.Symbols.Text(func(s kallsyms.Symbol) bool {
		fn, ok := g.At(s.Addr)
		if !ok {
			return true
		}
		from := strings.TrimSuffix(s.Name, ".abi0")
		if len(fn.Indirect) > 0 {
			indirect = append(indirect, from)
		}
		for _, addr := range fn.Calls {
			if to, ok := info.Symbols.At(addr); ok {
				direct[edge{from, strings.TrimSuffix(to.Name, ".abi0")}] = true
			}
		}
		return true
	})
	return direct, indirect
}

var declares = regexp.MustCompile(`(?m)^func (\w+)\(`)

// TestDoorsInTheImage looks at all direct calls of the image between package runtime and the kernel.
// Into the runtime lead those that any Go program has, and the names that the overlay adds, or what these
// call where they are inlined. Back lead the functions that package goos asks for, and func values,
// which few functions of the overlay call. Anything else would be a door that nobody has written down.
func TestDoorsInTheImage(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: builds the kernel")
	}
	path, err := image.Build(image.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	direct, indirect := edges(t, path)
	doors := source(t, "_runtime")
	compiler := source(t, filepath.Join(runtime.GOROOT(), "src/cmd/compile/internal/typecheck/_builtin"))
	goos := declares.FindAllStringSubmatch(source(t, "_goos"), -1)
	in, back := map[string]bool{}, map[string]bool{}
	for e := range direct {
		name, intoRuntime := strings.CutPrefix(e.to, "runtime.")
		switch {
		case strings.HasPrefix(e.from, "sonde/") && intoRuntime:
			if !in[name] && !known(name, doors, compiler) {
				t.Errorf("%s calls %s, which is no door", e.from, e.to)
			}
			in[name] = true
		case strings.HasPrefix(e.from, "runtime.") && strings.HasPrefix(e.to, "sonde/"):
			t.Errorf("%s calls %s, which is no door", e.from, e.to)
		case strings.HasPrefix(e.to, "runtime/goos."):
			back[strings.TrimPrefix(e.to, "runtime/goos.")] = true
		}
	}
	for name := range back {
		if !slices.ContainsFunc(goos, func(m []string) bool { return m[1] == name }) {
			t.Errorf("runtime/goos.%s is called, but package goos does not ask for it", name)
		}
	}
	for _, from := range indirect {
		name, ok := strings.CutPrefix(from, "runtime.")
		if ok && strings.HasPrefix(strings.ToLower(name), "sonde") && callsBack[name] == "" {
			t.Errorf("%s calls through a func value, and callsBack does not say which", from)
		}
	}
	for name := range callsBack {
		if !slices.Contains(indirect, "runtime."+name) {
			t.Errorf("runtime.%s calls through no func value", name)
		}
	}
	t.Logf("%d functions of the runtime are called, %d of the kernel, and %d call func values", len(in), len(back), len(callsBack))
	if !in["SondeWake"] || !in["newobject"] || !back["Nanotime"] {
		t.Error("some of those that are there were not found")
	}
}

// known reports whether the kernel may call a function of package runtime: any program may, it is a door,
// or a door calls it and is inlined.
func known(name, doors, compiler string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	declared := regexp.MustCompile(`(?m)^func ` + regexp.QuoteMeta(name) + `\(`)
	switch {
	case strings.HasPrefix(name, "Sonde"):
		return declared.MatchString(doors)
	case token.IsExported(last), declared.MatchString(compiler), anyProgram.MatchString(name):
		return true
	}
	return regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\(`).MatchString(doors)
}

// anyProgram are functions that the compiler calls without a declaration (those of mallocgc with a size
// since Go 1.27); mcall, where Gosched is inlined, and callers, where Callers is.
var anyProgram = regexp.MustCompile(`^(morestack|gcWriteBarrier|wbZero|wbMove|newproc|deferproc|deferreturn|panicBounds|mapinitnoop|mcall|callers$|mallocgc\w+SC\d)`)

// source returns the text of the Go files in a folder.
func source(t *testing.T, folder string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %v, %d files", folder, err, len(files))
	}
	var all strings.Builder
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(b)
	}
	return all.String()
}
