package kwatch

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"strings"
	"syscall"
	"testing"

	"sonde/kernel/vfs"
	"sonde/linux/proc"
	"sonde/linux/proctest"
	"sonde/linux/space"
	syscalls "sonde/linux/syscall"
	"sonde/probe/attach"
)

// Where the test's program has its code and its variable; its file says that they are at codeAt and dataAt.
const (
	codeAt, dataAt = 0x1000, 0x3000
	moved          = 0x700000
	variableAt     = moved + dataAt
)

// writeProgram makes a file that has the variables shared, at dataAt, and odd, which is 4 bytes after it.
func writeProgram(t *testing.T, path string) {
	t.Helper()
	const names = "\x00shared\x00odd\x00"
	le := binary.LittleEndian
	var b bytes.Buffer
	symbols := []elf.Sym64{{}, {Name: 1, Info: elf.ST_INFO(elf.STB_GLOBAL, elf.STT_OBJECT), Shndx: 1, Value: dataAt, Size: 8},
		{Name: 8, Info: elf.ST_INFO(elf.STB_GLOBAL, elf.STT_OBJECT), Shndx: 1, Value: dataAt + 4, Size: 4}}
	const at, sections = codeAt + space.PageSize, 3
	ends := at + uint64(binary.Size(symbols))
	must(t, binary.Write(&b, le, elf.Header64{Ident: [16]byte{0x7f, 'E', 'L', 'F', 2, 1, 1}, Type: uint16(elf.ET_DYN), Machine: uint16(elf.EM_X86_64), Version: 1,
		Phoff: 64, Shoff: ends + uint64(len(names)), Ehsize: 64, Phentsize: 56, Phnum: 1, Shentsize: 64, Shnum: sections}))
	must(t, binary.Write(&b, le, elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_X), Off: codeAt, Vaddr: codeAt, Filesz: space.PageSize, Memsz: space.PageSize}))
	b.Write(make([]byte, at-b.Len()))
	must(t, binary.Write(&b, le, symbols))
	b.WriteString(names)
	must(t, binary.Write(&b, le, [sections]elf.Section64{{}, {Type: uint32(elf.SHT_SYMTAB), Off: at, Size: ends - at, Link: 2, Entsize: elf.Sym64Size}, {Type: uint32(elf.SHT_STRTAB), Off: ends, Size: uint64(len(names))}}))
	must(t, vfs.Root.MkdirAll("/bin", 0o755))
	must(t, vfs.WriteFile(path, b.Bytes()))
}

// imageOf is a program of a file, with its code and its variable where moved says.
func imageOf(t *testing.T, w *proctest.World, path string, f proctest.Program) proc.Image {
	t.Helper()
	img, err := w.Image("test", f)
	must(t, err)
	file, err := vfs.Open(path, vfs.O_RDONLY)
	must(t, err)
	defer vfs.Close(file)
	b, err := file.Backing()
	must(t, err)
	_, err = img.Space.Map(moved+codeAt, space.PageSize, space.Read|space.Exec, space.Fixed, b, codeAt)
	must(t, err)
	_, err = img.Space.Map(variableAt, space.PageSize, space.Read|space.Write, space.Fixed, nil, 0)
	must(t, err)
	return img
}

// executing is a call of the test's programs: it has the process execute the image in next.
const executing = reported + 1

// follows attaches to the variable of a file, and counts the hits.
func follows(t *testing.T, o attach.Options, text string) (a attach.Attachment, hits *int) {
	t.Helper()
	s, err := attach.ParseSite(text)
	must(t, err)
	hits = new(int)
	l := &attach.Link{Options: o, Handler: func(h *attach.Hit) {
		if *hits++; !h.MayBlock || h.New != h.Old+1 {
			t.Errorf("%+v", h)
		}
	}}
	a, c, err := Provider{}.Attach(l, []attach.Site{s})
	c.Complete()
	must(t, err)
	return a, hits
}

// following is a machine on which programs execute what next returns.
func following(t *testing.T, next func() proc.Image) *proctest.World {
	onFake(t)
	w := proctest.NewWorld(64<<20, func(th *proc.Thread) {
		switch r := th.Regs(); r.AX {
		case reported:
			OfThread(th, r.DI)
		case executing:
			must(t, th.Exec(next()))
		default:
			syscalls.Handle(th)
		}
	})
	InitPrograms(w.Table)
	t.Cleanup(func() { ofProcess, inAll = nil, nil })
	return w
}

// write has a program write its variable, and be told of the hit of the registers that watch it.
func write(p *proctest.Player) {
	p.Poke64(variableAt, p.Peek64(variableAt)+1)
	which := uint64(0)
	for _, i := range All() {
		if i.Addr == variableAt {
			which |= 1 << i.DebugReg
		}
	}
	if which != 0 {
		p.Call(reported, which)
	}
}

// TestFollow: the variable is watched in a process that runs the file, in its child, in one that executing the file later,
// and in none that executing something else; each gives its register back; and all hits are counted.
func TestFollow(t *testing.T) {
	writeProgram(t, "/bin/follow")
	var w *proctest.World
	var image proc.Image
	w = following(t, func() proc.Image { return image })
	registers := func(want int) {
		t.Helper()
		if n := len(All()); n != want {
			t.Errorf("%d registers are in use, want %d", n, want)
		}
	}
	attached, ready := make(chan bool), make(chan bool)
	files, err := syscalls.NewFiles(vfs.Root.RootPlace())
	must(t, err)
	runs, err := w.Table.Start(proc.Spec{Image: imageOf(t, w, "/bin/follow", func(p *proctest.Player) {
		close(ready)
		<-attached
		write(p)
		p.Fork(func(p *proctest.Player) {
			registers(2)
			write(p)
		}, 57)
		p.Call(61, ^uint64(0), 0, 0, 0)
		registers(1)
		write(p)
	}), Resources: files})
	must(t, err)
	<-ready
	a, hits := follows(t, attach.Options{}, "w@/bin/follow:shared")
	registers(1)
	close(attached)
	<-runs.Done()
	registers(0)
	if *hits != 3 {
		t.Errorf("%d hits of one that runs and of its child, want 3", *hits)
	}
	image = imageOf(t, w, "/bin/follow", func(p *proctest.Player) {
		registers(1)
		write(p)
		image, err = w.Image("other", func(*proctest.Player) { registers(0) })
		must(t, err)
		p.Call(executing)
	})
	later := start(t, w, nil, func(p *proctest.Player) {
		registers(0)
		p.Call(executing)
	})
	<-later.Done()
	l := a.Places()[0].Ledger
	if *hits != 4 || l.Entered != 4 || l.Handled != 4 || l.Unset != 0 {
		t.Errorf("%d hits, %+v", *hits, l)
	}
	a.Detach().Complete()
	if after := a.Places()[0].Ledger; after != l {
		t.Errorf("detached: %+v, was %+v", after, l)
	}
}

// TestFollowLibrary: the variable is watched from when a process that runs has mapped the file, until it drops it, and
// again. What was there before its data was mapped is no old value.
func TestFollowLibrary(t *testing.T) {
	const pathAt, readExec, readWrite, fixed, fixedAnonymous = 0x900000, 5, 3, 0x12, 0x32
	writeProgram(t, "/bin/follow")
	w := following(t, nil)
	a, hits := follows(t, attach.Options{}, "w@/bin/follow:shared")
	files, err := syscalls.NewFiles(vfs.Root.RootPlace())
	must(t, err)
	img, err := w.Image("test", func(p *proctest.Player) {
		p.PokeString(pathAt, "/bin/follow")
		fd := uint64(p.Call(2, pathAt, 0))
		for n := range 2 {
			p.Poke64(variableAt, 77)
			p.Call(mmap, moved+codeAt, space.PageSize, readExec, fixed, fd, codeAt)
			if len(All()) != 1 {
				t.Errorf("mapped for the %d. time: %+v", n+1, All())
			}
			p.Call(mmap, variableAt, space.PageSize, readWrite, fixedAnonymous, ^uint64(0), 0)
			write(p)
			p.Call(munmap, moved+codeAt, space.PageSize)
			if len(All()) != 0 {
				t.Errorf("dropped: %+v", All())
			}
		}
	})
	must(t, err)
	for _, page := range []uint64{pathAt, variableAt} {
		_, err = img.Space.Map(page, space.PageSize, space.Read|space.Write, space.Fixed, nil, 0)
		must(t, err)
	}
	p, err := w.Table.Start(proc.Spec{Image: img, Resources: files})
	must(t, err)
	<-p.Done()
	if l := a.Places()[0].Ledger; *hits != 2 || l.Handled != 2 || l.Unset != 0 {
		t.Errorf("%d hits, %+v", *hits, l)
	}
	a.Detach().Complete()
}

// TestFollowWithoutRegister: a process for which there is no register is counted as unset, and the reason says who has them.
func TestFollowWithoutRegister(t *testing.T) {
	writeProgram(t, "/bin/follow")
	w := following(t, nil)
	register4(t)
	a, hits := follows(t, attach.Options{}, "w@/bin/follow:shared")
	files, err := syscalls.NewFiles(vfs.Root.RootPlace())
	must(t, err)
	run := func() {
		maps := func(p *proctest.Player) { // each time, it is looked whether the variable is there
			for range 3 {
				p.Call(mmap, 0, space.PageSize, 3, 0x22, ^uint64(0), 0)
			}
			write(p)
		}
		p, err := w.Table.Start(proc.Spec{Image: imageOf(t, w, "/bin/follow", maps), Resources: files})
		must(t, err)
		<-p.Done()
	}
	run()
	if l := a.Places()[0].Ledger; *hits != 0 || l.Unset != 1 || !strings.Contains(l.Why, "all debug registers are in use: 0 w 0x1000 of the kernel") {
		t.Errorf("%d hits, %+v", *hits, l)
	}
	must(t, UnregisterKwatch(1))
	run()
	must(t, a.Enable(false))
	run()
	must(t, a.Enable(true))
	run()
	if l := a.Places()[0].Ledger; *hits != 2 || l.Unset != 1 || l.Handled != 2 {
		t.Errorf("%d hits, %+v", *hits, l)
	}
	a.Detach().Complete()
	if run(); *hits != 2 || len(All()) != 3 {
		t.Errorf("detached: %d hits, %+v", *hits, All())
	}
}

// TestFollowOne: of one process, the variable is found where that has the file.
func TestFollowOne(t *testing.T) {
	writeProgram(t, "/bin/follow")
	w := following(t, nil)
	files, err := syscalls.NewFiles(vfs.Root.RootPlace())
	must(t, err)
	var a attach.Attachment
	var hits *int
	p, err := w.Table.Start(proc.Spec{Image: imageOf(t, w, "/bin/follow", write), Resources: files, Ready: func(p *proc.Process) {
		a, hits = follows(t, attach.Options{}, attach.Site{Kind: attach.Watch, PID: p.PID, File: "/bin/follow", Symbol: "shared"}.String())
	}})
	must(t, err)
	<-p.Done()
	if at := a.Places()[0]; *hits != 1 || at.Addr != variableAt {
		t.Errorf("%d hits at %#x", *hits, at.Addr)
	}
	a.Detach().Complete()
}

// TestFollowRefusals change nothing, and what is attached before them is detached.
func TestFollowRefusals(t *testing.T) {
	writeProgram(t, "/bin/follow")
	must(t, vfs.WriteFile("/bin/none", []byte("#!")))
	w := following(t, nil)
	p := start(t, w, func(p *proc.Process) {
		for text, errno := range map[string]syscall.Errno{
			"w@/bin/follow:nosuch": syscall.ENOENT, "w@/bin/follow:odd:8": syscall.EINVAL, "w@/bin/missing:shared": syscall.ENOENT,
			"w@/bin/none:shared": syscall.ENOEXEC, "w@/bin:shared": syscall.ENOEXEC, "x@/bin/follow:shared": syscall.ENOENT,
			attach.Site{Kind: attach.Watch, PID: p.PID, File: "/bin/follow", Symbol: "shared"}.String(): syscall.ESRCH,
		} {
			sites, err := attach.ParseSites("w@0x1000:8", "w@/bin/follow:shared", text)
			must(t, err)
			_, c, err := Provider{}.Attach(&attach.Link{Handler: func(*attach.Hit) {}}, sites)
			if c.Complete(); !errors.Is(err, errno) || len(All()) != 0 {
				t.Errorf("%s: %v, want %v; %+v", text, err, errno, All())
			}
		}
	}, func(*proctest.Player) {})
	<-p.Done()
}
