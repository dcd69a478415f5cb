package lang

import (
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"sonde/bpf"
	"sonde/bpf/verify"
	"sonde/internal/interp"
)

// anywhere is a Resolver for which there is every attach point.
type anywhere struct{}

// Struct knows one structure that no script declares.
func (anywhere) Struct(name string) *Struct {
	if name != "known" {
		return nil
	}
	return &Struct{Name: "Known", Bytes: 24, Fields: []StructField{{Name: "a", Type: integer(4, true)}, {Name: "next", Offset: 16, Type: Type{Kind: Pointer, Bytes: 8, To: &Struct{Name: "known"}}}}}
}

func (anywhere) Target(p *Point) (*Target, error) {
	t := &Target{Args: []int{112, 104, 96, 88, 72, 64}, User: p.Provider == "uprobe" || p.Provider == "uretprobe"}
	switch p.Provider {
	case "kretprobe", "uretprobe":
		t.Args, t.Result = nil, &ArgField{Name: "retval", Type: int64Type, Offset: 80}
		t.Results = []ArgField{{Name: "0", Type: Type{Kind: Pointer, Bytes: 8, Format: "error"}, Offset: 112, More: []int{96}}}
	case "tracepoint":
		t.Fields = []ArgField{{Name: "fd", Type: integer(4, true), Offset: 112}, {Name: "filename", Type: Type{Kind: Pointer, Bytes: 8, User: true, Elem: &Type{Kind: Int, Bytes: 1}}, Offset: 104}, {Name: "pathname", Type: integer(8, false), Offset: 104, Alias: true}}
	case "watchpoint":
		t.Watch = true
	case "uprobe":
		t.Func, t.User = "f", true
		t.CType = func(name string) (Type, error) { return Type{}, fmt.Errorf("there is no %s", name) }
		t.Fields = []ArgField{{Name: "a", Type: integer(4, true), Offset: 112}, {Name: "g", Type: integer(2, true), Offset: 16, Stack: true}}
	}
	if p.Provider == "tracepoint" && p.Options[1] == "*" {
		t.Names = []string{"a:b", "a:c"}
	}
	if p.Provider == "inline" && p.Options[0] == "copied" {
		t.Fields = copiedFields()
	}
	if p.Provider == "fentry" {
		goText := Type{Kind: String, Go: true}
		file := &Struct{Name: "File", Fields: []StructField{{Name: "n", Type: integer(4, true)}, {Name: "name", Offset: 8, Type: goText}, {Name: "list", Offset: 24, Type: Type{Kind: SliceOf, Elem: &Type{Kind: Int, Bytes: 2}}}}}
		t.Fill = func() error {
			t.Fields = []ArgField{{Name: "f", Type: Type{Kind: Pointer, Bytes: 8, To: file}, Offset: 80}, {Name: "p", Type: Type{Kind: SliceOf, Elem: &Type{Kind: Int, Bytes: 1}}, Offset: 40, More: []int{88, 112}},
				{Name: "s", Type: goText, Offset: 104, More: []int{72}}, {Name: "v", Type: Type{Kind: StructOf, To: file}, Offset: 64}}
			return nil
		}
	}
	if p.Provider == "kprobe" && p.Options[0] == "vfs.Reed" {
		return nil, &Hinted{Why: "there is no function vfs.Reed", Hint: "did you mean vfs.Read?", Missing: true}
	}
	return t, nil
}

// UserAddress is part of UserAddresser.
func (anywhere) UserAddress(_ *Point, name string) (uint64, int, error) {
	if name != "v" {
		return 0, 0, errors.New("there is no variable " + name)
	}
	return 0x100, 4, nil
}

// machine plays the kernel for the programs of a unit.
type machine struct {
	t       *testing.T
	unit    *Unit
	env     *verify.Env
	regs    []byte // struct pt_regs
	maps    []map[string]*[]byte
	places  [][]byte          // memory that helpers give addresses of
	memory  map[uint64]string // what probe_read finds
	records [][]byte
	hit     uint64 // the address of the place that is hit
	now     uint64
	comm    string
	pid     uint64
	task    uint64   // the address of the thread's
	signals []uint64 // that were sent
}

const valueBase, valueStride = 0x4000_0000, 1 << 16

func newMachine(t *testing.T, script string, params ...string) *machine {
	t.Helper()
	s, err := Parse("stdin", script, params...)
	if err != nil {
		t.Fatal(err)
	}
	u, err := Compile(s, &Options{Resolver: anywhere{}, CPUs: 4, Unsafe: true})
	if err != nil {
		t.Fatalf("%s\n%v", script, err)
	}
	env := verify.NewEnv()
	env.Unsafe = true
	m := &machine{t: t, hit: 0x4321, unit: u, env: env, regs: make([]byte, 168), memory: map[uint64]string{}, comm: "cat", pid: 7}
	for i := range u.Specs {
		m.maps = append(m.maps, map[string]*[]byte{})
		if u.Specs[i].Type == bpf.Array || u.Specs[i].Type == bpf.PerCPUArray {
			for n := range u.Specs[i].MaxEntries {
				m.value(i, string(binary.LittleEndian.AppendUint32(nil, n)))
			}
		}
	}
	m.control(1)
	return m
}

// control sets the word that lets programs run.
func (m *machine) control(active uint64) {
	v := m.value(ControlMap, string(make([]byte, 4)))
	binary.LittleEndian.PutUint64((*v)[ControlActive:], active)
}

// value returns what is under a key, which it adds.
func (m *machine) value(i int, key string) *[]byte {
	if m.maps[i][key] == nil {
		b := make([]byte, m.unit.Specs[i].ValueSize)
		m.places = append(m.places, b)
		m.maps[i][key] = &m.places[len(m.places)-1]
	}
	return m.maps[i][key]
}

func (m *machine) setReg(off int, v uint64) { binary.LittleEndian.PutUint64(m.regs[off:], v) }

// run verifies the programs at attach points of a provider, and executes them.
func (m *machine) run(provider string) {
	m.t.Helper()
	ran := false
	for _, p := range m.unit.Programs {
		if p.Point.Provider == provider {
			m.execute(p)
			ran = true
		}
	}
	if !ran {
		m.t.Fatalf("there is no %s", provider)
	}
}

func (m *machine) execute(p *Compiled) {
	m.t.Helper()
	prog := progOf(m.unit, p)
	if _, err := verify.Check(prog, m.env); err != nil {
		var e *verify.Error
		errors.As(err, &e)
		m.t.Fatalf("%v\n%v\n%s", err, m.unit.Explain(p, e.PC, e.Why), p.Text)
	}
	vm, err := interp.New(p.Insns)
	if err != nil {
		m.t.Fatal(err)
	}
	const regs = 0x1000
	vm.Regions = []interp.Region{{Name: "regs", Base: regs, Bytes: m.regs}}
	for i, b := range m.places {
		vm.Regions = append(vm.Regions, interp.Region{Name: "value", Base: valueBase + uint64(i)*valueStride, Bytes: b, Writable: true})
	}
	vm.Resolve = func(first, second bpf.Insn) (uint64, error) {
		if first.Src() == bpf.MapIdxVal {
			return valueBase + uint64(second.Imm), nil // the control map is the first that has a value
		}
		return uint64(first.Imm), nil
	}
	vm.Helpers = m.helpers()
	if _, err := vm.Run(regs); err != nil {
		m.t.Fatalf("%v\n%s", err, p.Text)
	}
}

func (m *machine) helpers() map[int32]interp.Helper {
	number := func(f func() uint64) interp.Helper {
		return func(*interp.Machine, [5]uint64) (uint64, error) { return f(), nil }
	}
	read := func(text bool) interp.Helper {
		return func(vm *interp.Machine, a [5]uint64) (uint64, error) { return m.probeRead(vm, a, text) }
	}
	return map[int32]interp.Helper{
		35: number(func() uint64 { return m.task }),
		109: func(_ *interp.Machine, a [5]uint64) (uint64, error) {
			m.signals = append(m.signals, a[0])
			return 0, nil
		},
		195: func(vm *interp.Machine, a [5]uint64) (uint64, error) { // of a CPU: all values are of CPU 1
			if a[2] != 1 {
				return 0, nil
			}
			return m.find(vm, a)
		},
		1: m.find, 2: m.update, 3: m.remove, 130: m.output,
		5: number(func() uint64 { m.now += 100; return m.now }), 8: number(func() uint64 { return 2 }),
		14: number(func() uint64 { return m.pid<<32 | (m.pid + 1) }), 15: number(func() uint64 { return 5<<32 | 4 }),
		16: func(vm *interp.Machine, a [5]uint64) (uint64, error) {
			b := make([]byte, a[1])
			copy(b[:len(b)-1], m.comm)
			return 0, vm.Write(a[0], b)
		},
		27: number(func() uint64 { return 3 }), 173: number(func() uint64 { return m.hit }), 174: number(func() uint64 { return 1 }),
		112: read(false), 113: read(false), 114: read(true), 115: read(true),
		bpf.HelperDepth: func(_ *interp.Machine, a [5]uint64) (uint64, error) {
			if m.unit.Specs[a[0]].Type != bpf.StackTrace || uint32(a[1]) != 3 {
				return 0, errors.New("no stack is kept there")
			}
			return 30, nil
		},
		bpf.HelperErrorText: func(vm *interp.Machine, a [5]uint64) (uint64, error) {
			b := make([]byte, a[3])
			copy(b, fmt.Sprintf("error %d of %d", a[1], a[0]))
			return 0, vm.Write(a[2], b)
		},
		bpf.HelperLog2: func(_ *interp.Machine, a [5]uint64) (uint64, error) { return uint64(bpf.Bucket(int64(a[0]))), nil },
		bpf.HelperGoid: number(func() uint64 { return 77 }), bpf.HelperWatchOld: number(func() uint64 { return 7 }), bpf.HelperWatchNew: number(func() uint64 { return 5 }),
	}
}

func (m *machine) key(vm *interp.Machine, a [5]uint64) (string, error) {
	b, err := vm.Read(a[1], int(m.unit.Specs[a[0]].KeySize))
	return string(b), err
}

func (m *machine) find(vm *interp.Machine, a [5]uint64) (uint64, error) {
	key, err := m.key(vm, a)
	v := m.maps[a[0]][key]
	if err != nil || v == nil {
		return 0, err
	}
	for i := range m.places {
		if &m.places[i][0] == &(*v)[0] {
			return valueBase + uint64(i)*valueStride, nil
		}
	}
	return 0, errors.New("a value without a place")
}

func (m *machine) update(vm *interp.Machine, a [5]uint64) (uint64, error) {
	key, err := m.key(vm, a)
	if err != nil {
		return 0, err
	}
	b, err := vm.Read(a[2], int(m.unit.Specs[a[0]].ValueSize))
	fresh := m.maps[a[0]][key] == nil
	copy(*m.value(int(a[0]), key), b)
	if fresh {
		i := len(m.places) - 1
		vm.Regions = append(vm.Regions, interp.Region{Name: "value", Base: valueBase + uint64(i)*valueStride, Bytes: m.places[i], Writable: true})
	}
	return 0, err
}

func (m *machine) remove(vm *interp.Machine, a [5]uint64) (uint64, error) {
	key, err := m.key(vm, a)
	if m.maps[a[0]][key] == nil {
		return ^uint64(1), err // ENOENT
	}
	delete(m.maps[a[0]], key)
	return 0, err
}

func (m *machine) output(vm *interp.Machine, a [5]uint64) (uint64, error) {
	if a[3] != 0 {
		return 0, fmt.Errorf("flags %#x of a record: it must wake the reader as the map says", a[3])
	}
	b, err := vm.Read(a[1], int(a[2]))
	m.records = append(m.records, append([]byte(nil), b...))
	return 0, err
}

func (m *machine) probeRead(vm *interp.Machine, a [5]uint64, text bool) (uint64, error) {
	for at, s := range m.memory {
		if a[2] >= at && a[2] < at+uint64(len(s)) {
			b := make([]byte, a[1])
			n := copy(b, s[a[2]-at:])
			for i := 0; text && i < n; i++ {
				if b[i] == 0 || i == len(b)-1 {
					b = append(b[:i], 0)
					break
				}
			}
			return uint64(len(b)), vm.Write(a[0], b)
		}
	}
	return ^uint64(13), nil
}

func progOf(u *Unit, p *Compiled) *bpf.Program {
	return &bpf.Program{Name: "test", Type: bpf.Kprobe, Insns: p.Insns, Maps: u.Specs}
}
