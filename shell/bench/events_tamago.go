//go:build tamago

package bench

import (
	"sonde/arch/amd64/goabi"
	"sonde/bpf"
	"sonde/kernel/cpu"
	"sonde/probe/attach"
	"sonde/probe/program"
	"sonde/trace/lang"
)

// The rows of programs: the same probe by a jump, with an empty handler of Go's, and with programs. What a
// program takes is its row less link.
//
// Rows of bt are scripts' programs, where bpf_count_go has its.
//
// bpf_count and bpf_log2 are put into the detour of a function in assembly, where all is live, and those of _go into that
// of one that Go has compiled. bpf_b, bpf_r and bpf_ro are bpf_count's program where rows b, r and ro have theirs.
func init() {
	rows = append(rows, row{name: "link", target: callMov, plant: plantLink, jump: true, event: true})
	for _, p := range []struct{ name, text string }{{"bpf_empty", "r0 = 0\nexit"}, {"bpf_count", counting}, {"bpf_keyed", keyed}, {"bpf_log2", histogram}, {"bpf_record", recording}} {
		rows = append(rows, row{name: p.name, target: callMov, plant: plantProgram(p.name, p.text, probed), jump: true, event: true})
	}
	for _, p := range []struct{ name, text string }{{"bpf_count_go", counting}, {"bpf_log2_go", histogram}} {
		rows = append(rows, row{name: p.name, target: callGo, plant: plantProgram(p.name, p.text, "sonde/shell/bench.targetGo"), jump: true, event: true})
	}
	for _, s := range []struct{ name, text string }{{"bt_count", "@ = count()"}, {"bt_hist", "@ = hist(arg0)"}, {"bt_lhist", "@ = lhist(arg0, 10, 100, 10)"},
		{"bt_max", "@ = max(arg0)"}, {"bt_keyed", "@[arg0] = count()"}, {"bt_keyed_hist", "@[arg0] = hist(arg0)"}} {
		rows = append(rows, row{name: s.name, target: callGo, plant: plantScript("kprobe:f { "+s.text+"; }", "sonde/shell/bench.targetGo"), jump: true, event: true})
	}
	for _, p := range []struct{ name, text string }{{"bpf_b", counting}, {"bpf_keyed_b", keyed}} {
		rows = append(rows, row{name: p.name, target: callMov, plant: plantProgram(p.name, p.text, probed), event: true})
	}
	for _, jump := range []bool{false, true} {
		name := map[bool]string{false: "bpf_r", true: "bpf_ro"}[jump]
		rows = append(rows, row{name: name, target: callGo, plant: plantProgram(name, counting, "ret:sonde/shell/bench.targetGo"), jump: jump, event: true})
	}
}

const probed = "sonde/shell/bench.targetMov"

func plantLink() (func(), error) {
	l, err := attach.AttachTo(func(*attach.Hit) {}, nil, probed)
	if err != nil {
		return nil, err
	}
	return l.Close, nil
}

func plantProgram(name, text, at string) func() (func(), error) {
	return func() (func(), error) {
		_, remove, err := attachProgram(name, text, at)
		return remove, err
	}
}

// plantScript attaches the only program of a script, which runs at once.
func plantScript(text, at string) func() (func(), error) {
	return func() (func(), error) {
		s, err := lang.Parse("bench", text)
		if err != nil {
			return nil, err
		}
		u, err := lang.Compile(s, &lang.Options{Resolver: anywhere{}, CPUs: cpu.Num()})
		if err != nil {
			return nil, err
		}
		p := &bpf.Program{Name: "bench", Type: bpf.Kprobe, Insns: u.Programs[0].Insns}
		var maps []*program.Map
		for _, spec := range u.Specs {
			m, err := program.NewMap(*spec)
			if err != nil {
				return nil, err
			}
			maps, p.Maps = append(maps, m), append(p.Maps, &m.Spec)
		}
		runs := make([]byte, u.Specs[lang.ControlMap].ValueSize)
		runs[lang.ControlActive] = 1
		if err := maps[lang.ControlMap].Update(0, make([]byte, 4), runs, program.Any); err != nil {
			return nil, err
		}
		_, remove, err := attachLoaded(p, maps, at)
		return remove, err
	}
}

// anywhere resolves a function whose first argument is in AX.
type anywhere struct{}

func (anywhere) Target(*lang.Point) (*lang.Target, error) {
	return &lang.Target{Args: []int{goabi.PtRegsAX}}, nil
}

// attachProgram attaches a program to a place.
func attachProgram(name, text, at string) (l *program.Link, remove func(), err error) {
	p, maps, err := program.Assemble(name, text)
	if err != nil {
		return nil, nil, err
	}
	return attachLoaded(p, maps, at)
}

// attachLoaded loads a program and attaches it. The maps are its own then.
func attachLoaded(p *bpf.Program, maps []*program.Map, at string) (l *program.Link, remove func(), err error) {
	prog, err := load(p, maps)
	if err != nil {
		return nil, nil, err
	}
	if l, err = prog.AttachTo(nil, at); err != nil {
		prog.Close()
		return nil, nil, err
	}
	return l, prog.Close, nil
}

func load(p *bpf.Program, maps []*program.Map) (*program.Prog, error) {
	prog, err := program.Load(p, maps, nil)
	for _, m := range maps {
		m.Close()
	}
	return prog, err
}

// counting counts the hits of each CPU.
const counting = `
	map hits percpu_array 4 8 1
	*(u32 *)(r10 - 4) = 0
	r2 = r10
	r2 += -4
	r1 = map[idx:0]
	call 1
	if r0 == 0 goto out
	r1 = *(u64 *)(r0 + 0)
	r1 += 1
	*(u64 *)(r0 + 0) = r1
out:	r0 = 0
	exit`

// keyed counts hits by a key.
const keyed = `
	map hits percpu_hash 8 8 64
	*(u64 *)(r10 - 8) = 7
	r2 = r10
	r2 += -8
	r1 = map[idx:0]
	call 1
	if r0 == 0 goto new
	r1 = *(u64 *)(r0 + 0)
	r1 += 1
	*(u64 *)(r0 + 0) = r1
	goto out
new:	*(u64 *)(r10 - 16) = 1
	r3 = r10
	r3 += -16
	r2 = r10
	r2 += -8
	r1 = map[idx:0]
	r4 = 0
	call 2
out:	r0 = 0
	exit`

// histogram counts an argument by its power of 2.
const histogram = `
	map sizes percpu_array 4 520 1
	r3 = *(u64 *)(r1 + 80)
	*(u32 *)(r10 - 4) = 0
	r2 = r10
	r2 += -4
	r1 = map[idx:0]
	call 65542
	r0 = 0
	exit`

// recording writes a record of 32 bytes for each hit. None is read: there is room for all of a run.
const recording = `
	map out ringbuf 0 0 4194304
	r1 = map[idx:0]
	r2 = 32
	r3 = 0
	call 131
	if r0 == 0 goto out
	*(u64 *)(r0 + 0) = 1
	*(u64 *)(r0 + 8) = 2
	*(u64 *)(r0 + 16) = 3
	*(u64 *)(r0 + 24) = 4
	r1 = r0
	r2 = 0
	call 132
out:	r0 = 0
	exit`
