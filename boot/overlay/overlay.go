// Package overlay makes the `go build -overlay` file with which the stock Go toolchain
// builds a kernel: the installed standard library, changed in the few places where its
// runtime uses Linux. README.md lists each change and its reason.
//
// Nothing of the library is copied into this repository. The changes are made to the text
// of the installed GOROOT; if that is not as expected, the build stops and names the file
// and the missing text.
package overlay

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ErrUnexpected is wrapped by every error about a GOROOT that this package does
// not know how to change.
var ErrUnexpected = errors.New("the standard library is not as expected")

//go:embed all:_goos all:_runtime all:_signal all:_internal
var files embed.FS

// An edit replaces old, which must occur exactly count times, by new.
type edit struct {
	file, old, new string
	count          int
}

const (
	syscallInsn = "\tSYSCALL\n"
	shimCall    = "\tCALL\truntime·sondeSyscall(SB)\n"

	// A function that reads its own return address.
	callerPC     = "sys.GetCallerPC()"
	realCallerPC = "sondeCallerPC(sys.GetCallerPC(), sys.GetCallerSP())"
)

// shimEdits put the shim under the stock runtime.
var shimEdits = []edit{
	{"runtime/sys_linux_amd64.s", syscallInsn, shimCall, 40},
	{"runtime/time_linux_amd64.s", syscallInsn, shimCall, 2},
	{"internal/runtime/syscall/linux/asm_linux_amd64.s", syscallInsn, shimCall, 1},
	// There is no vDSO, so no code asks which function called into it: not reading the return
	// address lets these two have return probes.
	{"runtime/sys_linux_amd64.s", "\tLEAQ\tret+0(FP), DX\n\tMOVQ\t-8(DX), CX\n", "\tXORL\tDX, DX\n\tXORL\tCX, CX\n", 1},
	{"runtime/time_linux_amd64.s", "\tLEAQ\tsec+0(FP), DX\n\tMOVQ\t-8(DX), CX\t// Sets CX to function return address.\n", "\tXORL\tDX, DX\n\tXORL\tCX, CX\n", 1},
	{"syscall/asm_linux_amd64.s", syscallInsn, shimCall, 3},
	// notewakeup is a system call, which interrupts must not make.
	{"runtime/sigqueue.go", "\t\t\t\tnotewakeup(&sig.note)\n", "\t\t\t\tSondeWake(&sig.note)\n", 1},
	// 32 MiB that only FIPS mode uses are no part of every image: real machines clear them.
	{"crypto/internal/fips140/drbg/entropy_fips140.go", "\nvar memory entropy.ScratchBuffer\n", "\ntype scratch = entropy.ScratchBuffer\n", 1},
	{"crypto/internal/fips140/drbg/entropy_fips140.go", "entropy.Seed(&memory)", "entropy.Seed(new(scratch))", 2},
	// The heap is one range of real memory in 1 TiB of the upper half, so the runtime's own
	// tables must be sized for that: TamaGo's values, from another base.
	{"runtime/malloc.go", "\theapAddrBits = (_64bit", "\theapAddrBits = 40 + 0*(_64bit", 1},
	{"runtime/malloc.go", "\tlogHeapArenaBytes = (6+20)", "\tlogHeapArenaBytes = (2 + 20) + 0*(6+20)", 1},
	{"runtime/malloc.go", "\tarenaBaseOffset = 0xffff800000000000*goarch.IsAmd64", "\tarenaBaseOffset = 0xffffff0000000000*goarch.IsAmd64", 1},
	{"runtime/malloc.go", "p = uintptr(i)<<40 | uintptrMask&(0x00c0<<32)\n", "p = uintptr(i)<<40 + (arenaBaseOffset | 0x00c0<<32)\n", 1},
	// The heap is where it is. Of 4,096 random bases one is 0, which is no address here: sysAlloc takes
	// the refusal for what it has asked for, and throws.
	{"runtime/malloc.go", "\trandomizeHeapBase = goexperiment", "\trandomizeHeapBase = false && goexperiment", 1},
	// There are no signals: the stack for them is the least that the runtime can free.
	{"runtime/os_linux.go", "\tmp.gsignal = malg(32 * 1024) // Linux wants >= 2K\n", "\tmp.gsignal = malg(2 * 1024)\n", 1},
	// A goroutine in ring 3 does not see that it is to yield.
	{"runtime/proc.go", "\tgp.stackguard0 = stackPreempt\n\n\t// Request an async preemption of this P.\n", "\tgp.stackguard0 = stackPreempt\n\tsondeInterrupt(mp)\n\n\t// Request an async preemption of this P.\n", 1},
	{"runtime/preempt.go", "\t\t\tcasfrom_Gscanstatus(gp, _Gscanrunning, _Grunning)\n\n\t\t\t// Send asynchronous preemption.", "\t\t\tcasfrom_Gscanstatus(gp, _Gscanrunning, _Grunning)\n\t\t\tsondeInterrupt(asyncM2)\n\n\t\t\t// Send asynchronous preemption.", 1},
	// Code that has turned interrupts off keeps its CPU, whatever it calls.
	{"runtime/stack.go", "\t\tif !canPreemptM(thisg.m) {\n", "\t\tif !sondeIRQsOn() || !canPreemptM(thisg.m) {\n", 1},
	{"runtime/proc.go", "\tif !canPreemptM(gp.m) {\n", "\tif !sondeIRQsOn() || !canPreemptM(gp.m) {\n", 1},
	{"runtime/proc.go", "\t\tglobrunqput(gp)\n\n\t\t// Below, we stoplockedm", "\t\tglobrunqput(gp)\n\t\tsondeMakeWay()\n\n\t\t// Below, we stoplockedm", 1},
	{"runtime/proc.go", "\t\tif delay > 10*1000 { // up to 10ms\n\t\t\tdelay = 10 * 1000\n", "\t\tif most := sondeWatchEvery(); delay > most {\n\t\t\tdelay = most\n", 1},
	{"runtime/proc.go", "} else if pd.schedwhen+forcePreemptNS <= now {", "} else if pd.schedwhen+sondeSlice() <= now {", 1},
	// epoll_wait's milliseconds would make a timer of microseconds late by one.
	{"runtime/netpoll_epoll.go", "linux.EpollWait(epfd, events[:], int32(len(events)), waitms)", "sondeEpollWait(events[:], delay)", 1},
	{"runtime/proc.go", "func schedule() {\n\tmp := getg().m\n", "func schedule() {\n\tmp := getg().m\n\tsondeSchedule()\n", 1},
}

// probeEdits and abandonEdits make trapEdits.
var probeEdits = []edit{
	{"runtime/runtime2.go", "\tvalgrindStackID uintptr\n}\n", "\tvalgrindStackID uintptr\n\n\tsondeRet uintptr // see sonde_ret.go\n\tsondeThread unsafe.Pointer // see sonde_kernel.go\n\tsondeUser unsafe.Pointer // see sonde_user.go\n\t_ [32]byte\n}\n", 1},
	{"runtime/stack.go", "\tstackGuard = stackNosplit + stackSystem + abi.StackSmall\n", "\tstackGuard = stackNosplit + stackSystem + abi.StackSmall + 64 // for a soft trap\n", 1},
	{"runtime/traceback.go", "frame.lr = *(*uintptr)(unsafe.Pointer(lrPtr))", "frame.lr = u.sondeCalls.realLR(gp, lrPtr, *(*uintptr)(unsafe.Pointer(lrPtr)))", 2},
	{"runtime/traceback.go", "\tflags unwindFlags\n}\n", "\tflags unwindFlags\n\n\tsondeCalls sondeWalk // see sonde_ret.go\n}\n", 1},
	{"runtime/tracestack.go", "pcBuf[i] = *(*uintptr)(unsafe.Pointer(uintptr(fp) + goarch.PtrSize))", "pcBuf[i] = sondeRealFP(uintptr(fp) + goarch.PtrSize)", 1},
	{"runtime/mprof.go", "pc := *(*uintptr)(unsafe.Pointer(uintptr(fp) + goarch.PtrSize))", "pc := sondeRealFP(uintptr(fp) + goarch.PtrSize)", 1},
	{"runtime/chan.go", callerPC, realCallerPC, 4},
	{"runtime/coro.go", callerPC, realCallerPC, 1},
	{"runtime/debugcall.go", callerPC, realCallerPC, 1},
	{"runtime/error.go", callerPC, realCallerPC, 1},
	{"runtime/mcleanup.go", callerPC, realCallerPC, 1},
	{"runtime/mfinal.go", callerPC, realCallerPC, 1},
	{"runtime/mprof.go", callerPC, realCallerPC, 6},
	{"runtime/panic.go", callerPC, realCallerPC, 29},
	{"runtime/proc.go", callerPC, realCallerPC, 5},
	{"runtime/select.go", callerPC, realCallerPC, 1},
	{"runtime/synctest.go", callerPC, realCallerPC, 1},
	{"runtime/traceback.go", callerPC, realCallerPC, 1},
	{"runtime/unsafe.go", callerPC, realCallerPC, 7},
	{"runtime/asm_amd64.s", "\tMOVQ\t152(AX), AX\t// PC immediately after call to panicBounds\n", "\tMOVQ\t152(AX), AX\t// PC immediately after call to panicBounds\n\tLEAQ\t160(SP), BX\n\tCALL\truntime·sondeCallerPC<ABIInternal>(SB)\n", 1},
	{"runtime/proc.go", "func gdestroy(gp *g) {\n", "func gdestroy(gp *g) {\n\tsondeRetUnwind(gp, ^uintptr(0))\n\tgp.sondeUser = nil\n", 1},
	{"runtime/proc.go", "\tdropg()\n\n\tif GOARCH == \"wasm\" {", "\tdropg()\n\tgp.sondeThread = nil\n\n\tif GOARCH == \"wasm\" {", 1},
	{"runtime/proc.go", "func dropg() {\n\tgp := getg()\n", "func dropg() {\n\tgp := getg()\n\tsondeOff(gp.m.curg)\n", 1},
	{"runtime/proc.go", "\tgp.stackguard0 = gp.stack.lo + stackGuard\n\tif !inheritTime {\n", "\tgp.stackguard0 = gp.stack.lo + stackGuard\n\tsondeOn(gp)\n\tif !inheritTime {\n", 1},
	{"runtime/panic.go", "\tgp._panic = p\n\n\tif p == nil { // must be done with signal\n", "\tgp._panic = p\n\tsondeRetUnwind(gp, sp)\n\n\tif p == nil { // must be done with signal\n", 1},
	{"runtime/panic.go", "func throw(s string) {\n", "func throw(s string) {\n\tsondeAbandon(s)\n", 1},
	{"runtime/panic.go", "func fatal(s string) {\n", "func fatal(s string) {\n\tsondeAbandon(s)\n", 1},
	{"runtime/panic.go", "func gopanic(e any) {\n", "func gopanic(e any) {\n\tsondeAbandonPanic(e)\n", 1},
	{"runtime/panic.go", "\tpanic(e)\n", "\tsondeAbandonBounds(&e)\n\tpanic(e)\n", 3},
	{"runtime/proc.go", "func badmorestackg0() {\n", "func badmorestackg0() {\n\tsondeAbandon(\"stack overflow\")\n", 1},
	{"runtime/proc.go", "traceReason traceBlockReason, traceskip int) {\n\tif reason != waitReasonSleep {\n", "traceReason traceBlockReason, traceskip int) {\n\tsondeAbandon(\"blocks\")\n\tif reason != waitReasonSleep {\n", 1},
	{"runtime/chan.go", "func chansend(c *hchan, ep unsafe.Pointer, block bool, callerpc uintptr) bool {\n", "func chansend(c *hchan, ep unsafe.Pointer, block bool, callerpc uintptr) bool {\n\tsondeAbandon(\"channel operation\")\n", 1},
	{"runtime/chan.go", "func chanrecv(c *hchan, ep unsafe.Pointer, block bool) (selected, received bool) {\n", "func chanrecv(c *hchan, ep unsafe.Pointer, block bool) (selected, received bool) {\n\tsondeAbandon(\"channel operation\")\n", 1},
	{"runtime/select.go", "nsends, nrecvs int, block bool) (int, bool) {\n", "nsends, nrecvs int, block bool) (int, bool) {\n\tsondeAbandon(\"channel operation\")\n", 1},
}

// An added file is one of ours, put into the library as it is.
type added struct{ file, from string }

var shimFiles = []added{
	{"runtime/goos/goos.go", "_goos/goos.go"},
	{"runtime/rt0_linux_amd64.s", "_runtime/rt0_linux_amd64.s"},
	{"runtime/sonde_shim.go", "_runtime/sonde_shim.go"},
	{"runtime/sonde_shim_amd64.s", "_runtime/sonde_shim_amd64.s"},
	{"runtime/sonde_syscall.go", "_runtime/sonde_syscall.go"},
	{"runtime/sonde_threads.go", "_runtime/sonde_threads.go"},
	{"runtime/sonde_tick.go", "_runtime/sonde_tick.go"},
	{"runtime/sonde_memory.go", "_runtime/sonde_memory.go"},
	{"runtime/sonde_programs.go", "_runtime/sonde_programs.go"},
	{"runtime/sonde_place.go", "_runtime/sonde_place.go"},
	{"runtime/sonde_drivers.go", "_runtime/sonde_drivers.go"},
	{"os/signal/sonde_signal.go", "_signal/sonde_signal.go"},
	{"os/signal/sonde_signal_amd64.s", "_signal/sonde_signal_amd64.s"},
}

// trapFiles are what the runtime must offer for traps and probes.
var trapFiles = []added{
	{"runtime/sonde_kernel.go", "_runtime/sonde_kernel.go"},
	{"runtime/sonde_trap.go", "_runtime/sonde_trap.go"},
	{"runtime/sonde_ret.go", "_runtime/sonde_ret.go"},
	{"runtime/sonde_abandon.go", "_runtime/sonde_abandon.go"},
	{"runtime/sonde_where.go", "_runtime/sonde_where.go"},
	{"runtime/sonde_object.go", "_runtime/sonde_object.go"},
	{"runtime/sonde_user.go", "_runtime/sonde_user.go"},
	{"runtime/sonde_user_amd64.s", "_runtime/sonde_user_amd64.s"},
	{"runtime/sonde_abandon_amd64.s", "_runtime/sonde_abandon_amd64.s"},
}

// Generate writes the overlay for the toolchain at goroot into dir and
// returns the path of its JSON file.
//
// Errors: ErrUnexpected, wrapped with the file and what it lacks.
func Generate(goroot, dir string) (string, error) {
	src := filepath.Join(goroot, "src")
	texts, err := apply(src, slices.Concat(shimEdits, trapEdits))
	if err != nil {
		return "", err
	}
	for _, a := range slices.Concat(trapFiles, abandonFiles, shimFiles) {
		b, err := files.ReadFile(a.from)
		if err != nil {
			return "", err
		}
		texts[a.file] = string(b)
	}
	replace := map[string]string{}
	for file, text := range texts {
		to := filepath.Join(dir, filepath.FromSlash(file))
		if err := writeIfChanged(to, text); err != nil {
			return "", err
		}
		replace[filepath.Join(src, filepath.FromSlash(file))] = to
	}
	b, err := json.MarshalIndent(map[string]any{"Replace": replace}, "", "\t")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, writeIfChanged(path, string(b))
}

// apply returns the changed text of every file that edits name.
func apply(src string, edits []edit) (map[string]string, error) {
	texts := map[string]string{}
	for _, e := range edits {
		text, ok := texts[e.file]
		if !ok {
			b, err := os.ReadFile(filepath.Join(src, filepath.FromSlash(e.file)))
			if err != nil {
				return nil, fmt.Errorf("overlay: %s: %w: %w", e.file, ErrUnexpected, err)
			}
			text = string(b)
		}
		if n := strings.Count(text, e.old); n != e.count {
			return nil, fmt.Errorf("overlay: %s: %w: %q occurs %d times, not %d (is this Go 1.26?)",
				e.file, ErrUnexpected, e.old, n, e.count)
		}
		texts[e.file] = strings.ReplaceAll(text, e.old, e.new)
	}
	return texts, nil
}

// writeIfChanged leaves an up-to-date file alone, so that builds stay incremental.
func writeIfChanged(path, text string) error {
	if b, err := os.ReadFile(path); err == nil && string(b) == text {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}
