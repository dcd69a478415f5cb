package reach

import (
	"debug/elf"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"sonde/arch/amd64/insn"
	"sonde/kallsyms"
)

// BuildKernel returns the file of the kernel with its tests, and its symbols. Package
// image imports this one, so it is set by a test outside of it: see build_test.go.
var BuildKernel func() (path string, symbols *kallsyms.Table, err error)

// kernel returns the graph of the kernel as it is linked, with the in-kernel tests.
func kernel(t testing.TB) *Graph {
	t.Helper()
	if testing.Short() {
		t.Skip("builds the kernel")
	}
	g, err := kernelGraph()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

var kernelGraph = sync.OnceValues(func() (*Graph, error) {
	path, symbols, err := BuildKernel()
	if err != nil {
		return nil, err
	}
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text := f.Section(".text")
	code, err := text.Data()
	if err != nil {
		return nil, err
	}
	return New(symbols, func(addr, n uint64) []byte {
		off := addr - text.Addr
		if off > uint64(len(code)) || n > uint64(len(code))-off {
			return nil
		}
		return code[off : off+n]
	}), nil
})

// marked returns the names given to NoKprobe as literals anywhere in the tree.
func marked(t *testing.T) (list []string) {
	t.Helper()
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if name := d.Name(); err == nil && d.IsDir() && (name == "build" || name[0] == '_' || name[0] == '.' && path != root) {
			return fs.SkipDir
		}
		if err != nil || !strings.HasSuffix(path, ".go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 1 {
				return true
			}
			f, ok := call.Fun.(*ast.SelectorExpr)
			lit, isLit := call.Args[0].(*ast.BasicLit)
			if ok && isLit && f.Sel.Name == "NoKprobe" {
				name, _ := strconv.Unquote(lit.Value)
				list = append(list, name)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(list) == 0 {
		t.Fatal("no NoKprobe in the tree")
	}
	return list
}

// TestEveryNameFitsTheImage: a name that fits nothing protects nothing.
func TestEveryNameFitsTheImage(t *testing.T) {
	if !kernel(t).runsPrograms() {
		t.Error("the whole kernel seems to run no programs, so that some names are not looked for")
	}
	for _, wrong := range kernel(t).Check(marked(t)) {
		t.Error(wrong)
	}
}

// TestNoFunctionRunsIntoTheNext: the walk does not look for that.
func TestNoFunctionRunsIntoTheNext(t *testing.T) {
	g := kernel(t)
	for s := range g.syms.Text {
		if runsOn(g.code(s.Addr, s.Size)) {
			t.Errorf("%s goes on behind its end", s.Name)
		}
	}
	for code, want := range map[string]bool{
		"\x48\x89\xc8": true, "\x48\x89\xc8\x90": true, "\x48\x89\xc8" + ret + "\xcc": false,
		"\xe8\x00\x00\x00\x00\x90": false, // a call of what does not return
	} {
		if runsOn([]byte(code)) != want {
			t.Errorf("% x: runsOn is not %v", code, want)
		}
	}
}

// runsOn reports whether the last instruction of code leads behind it.
func runsOn(code []byte) bool {
	var last insn.Inst
	_, err := insn.Walk(code, func(_ int, in insn.Inst) bool {
		padding := in.Flow == insn.Int3 || in.Map == insn.Map1B && in.Opcode == 0x90 || in.Map == insn.Map0F && in.Opcode == 0x1f
		if !padding {
			last = in
		}
		return true
	})
	return err == nil && last.Len > 0 && last.Flow.FallsThrough()
}

// TestIndirectCallsOfTrapCodeAreListed: a call through a register hides what it
// leads to from the walk. Say in rules.go what it is.
func TestIndirectCallsOfTrapCodeAreListed(t *testing.T) {
	g := kernel(t)
	for _, f := range g.Unlisted() {
		t.Errorf("%s has an indirect call at +%#x, and the list indirect does not name its targets: %s",
			f.Name, f.Indirect[0], Arrows(g.Path(g.trapPath(), f.Addr)))
	}
}

// TestIndirectRulesAreInUse: a function that has no indirect call any more must leave the list.
func TestIndirectRulesAreInUse(t *testing.T) {
	g := kernel(t)
	for _, r := range indirect {
		used := false
		for _, addr := range g.addrs(names{r.caller}) {
			f, _ := g.At(addr)
			used = used || len(f.Indirect) > 0
		}
		if !used {
			t.Errorf("%s has no indirect call", r.caller)
		}
	}
}

// TestColdCodeIsReached: what traps do not reach must leave the list.
func TestColdCodeIsReached(t *testing.T) {
	g := kernel(t)
	r := g.trapPath()
	for _, p := range cold {
		called := false
		for addr := range r {
			f, _ := g.At(addr)
			for _, to := range g.leads(f) {
				callee, _ := g.At(to)
				called = called || fits(p, callee.Name)
			}
		}
		if !called {
			t.Errorf("no trap reaches %s", p)
		}
	}
}

func TestTrapCodeKeepsItsRules(t *testing.T) {
	for _, b := range kernel(t).TrapBreaches() {
		t.Error(b)
	}
}

func TestHitsKeepSSE(t *testing.T) {
	if err := kernel(t).HitKeepsSSE(); err != nil {
		t.Error(err)
	}
}

// maxBlack is how many functions at most may not be probed for more reason than
// that they are in package kprobes. It is there to be noticed: say why when it must grow.
// 124: the handling of NMIs. 127: entries of their own for #BP and #DB. 139: the way to
// ring 3 and back, and blocks of memory for programs. 166: watchpoints. 151: what writes
// single bytes of code, calls all CPUs, or looks up what a detour's instruction stands for can be
// probed (kprobes/every_boundary_of_what_changes_code). 154: which watchpoints an instruction hits besides.
// 158: programs that are bound to CPUs. 159: #DB has one entry more while something is watched.
// 165: what records that a handler has moved IP or SP, and cpu.Rdtsc, which that reads. 168: what
// notes free memory in itself. 171: what records moves of handlers of watchpoints.
// 175: the bases of FS and GS where FSGSBASE is missing. 176: the end of the thread shim's lock,
// which sets the timer. 177: which handler has moved them, which may be a link's.
// 216: hits of programs. 219: calls of programs that have data. 245: what eBPF programs call.
// 248: what recognizes hits that QEMU adds. 275: more that eBPF programs call: strings, processes'
// memory, arguments, histograms. 297: texts and callbacks. 333: maps of more kinds, and stacks. 355: what
// cameras do at a hit that is recorded, 19 of them in package kprobes. 357: waking a thread on top of that lock.
// 358: what lets a program of eBPF that takes too long finish. 361: which hit goes on on a CPU, so
// that no handler is ended under it. 363: the two ways to the handler of #BP. 366: what continues a hit of a
// program after a handler. 373: how programs of eBPF find and change the prefixes of a trie. 376: breakpoints of programs
// have a way of their own. 377: a prefix is copied before it is used. 379: the name of the thread that is hit.
// 380: what a jump calls for several probes.
const maxBlack = 380

func TestBlacklistOfTheKernel(t *testing.T) {
	g := kernel(t)
	black := g.Blacklist(marked(t))
	kinds := map[string]int{}
	for _, why := range black {
		kind, _, _ := strings.Cut(why, ":")
		kinds[kind]++
	}
	t.Logf("%d functions may not be probed: %v", len(black), kinds)
	if len(black)-kinds["it implements probes"] > maxBlack {
		t.Errorf("more than %d for other reasons than that they implement probes", maxBlack)
	}
	for name, want := range map[string]string{
		"sonde/arch/amd64/trap.save":           "trap.entry -> trap.save",
		"sonde/arch/amd64/insn.CondTrue":       "kprobes.onBreakpoint -> ",
		"sonde/kernel/notifier.(*Chain).Walk":  "die.exception -> notifier.(*Chain).Walk",
		"sonde/kprobes.RegisterKprobe":         "implements probes",
		"sonde/kernel/text.(*Batch).Commit":    "code is changed",
		"sonde/kernel/text.Poke":               "",
		"sonde/kernel/smp.callOthers":          "",
		"runtime.sondeDispatch":                "threads are switched",
		"runtime.gogo.abi0":                    "",
		"sonde/ktest/suites/control.shielded":  "marked NoKprobe",
		"sonde/kernel/vfs.Read":                "",
		"runtime.mallocgc":                     "",
		"sonde/kernel/cpu.Nanotime":            "",
		"sonde/probe/program.helpLookup":       "programs call it",
		"sonde/probe/program.(*Map).findEntry": "programs call it: program.help",
		"runtime.SondeCallers":                 "",
		"sonde/kernel/printk.Printk":           "",
		"sonde/arch/amd64/trap.Install":        "",
	} {
		sym, err := g.syms.Addr(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if why := black[sym.Addr]; (why == "") != (want == "") || !contains(why, want) {
			t.Errorf("%s: %q, want %q", name, why, want)
		}
	}
}

// TestSwitchersOfTheKernel names some that switch, and some that only look so:
// calls of a vDSO come back.
func TestSwitchersOfTheKernel(t *testing.T) {
	g := kernel(t)
	for name, want := range map[string]bool{
		"runtime.systemstack.abi0": true, "runtime.mcall": true, "runtime.gogo.abi0": true, "runtime.morestack_noctxt.abi0": true,
		"runtime.asmcgocall.abi0": true, "runtime.newstack": true, "runtime.clone.abi0": true,
		"runtime.nanotime1.abi0": false, "time.now": false, "runtime.schedule": false, "runtime.goexit1": false, "fmt.Fprintf": false,
	} {
		sym, err := g.syms.Addr(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if why := g.SwitchesStacks(sym.Addr); (why != "") != want {
			t.Errorf("%s: %q", name, why)
		}
	}
}

// BenchmarkBlacklist measures what the first probe waits for.
func BenchmarkBlacklist(b *testing.B) {
	g := kernel(b)
	for b.Loop() {
		New(g.syms, g.code).Blacklist(nil)
	}
}
