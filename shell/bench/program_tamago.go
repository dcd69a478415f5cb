//go:build tamago && !nolinux

package bench

import (
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"syscall"

	"sonde/kernel/abi"
	"sonde/kernel/cpu"
	"sonde/kernel/refusal"
	"sonde/kernel/vfs"
	"sonde/linux/proc"
	sys "sonde/linux/syscall"
)

// A program of a few instructions: it writes a byte, calls a function n times, writes a byte, and
// exits. Each write is timed here, so the difference is the loop alone, without a clock in the
// program and without its start.
const (
	programPath = "/bench-program"
	programBase = 0x400000
	headerSize  = abi.ELFHeaderSize + abi.ELFSegmentSize
	targetAt    = programBase + headerSize + 64 // the function
)

// programCode is the instructions in front of the function.
func programCode(n uint32) []byte {
	code := []byte{0x41, 0xBC, 0, 0, 0, 0} // mov r12d, n
	binary.LittleEndian.PutUint32(code[2:], n)
	code = append(code,
		0xE8, 24, 0, 0, 0, // call mark
		0xE8, 48, 0, 0, 0, // loop: call target
		0x41, 0xFF, 0xCC, // dec r12d
		0x75, 0xF6, // jnz loop
		0xE8, 9, 0, 0, 0, // call mark
		0xB8, 60, 0, 0, 0, // mov eax, exit
		0x31, 0xFF, // xor edi, edi
		0x0F, 0x05, // syscall
		0xB8, 1, 0, 0, 0, // mark: mov eax, write
		0xBF, 1, 0, 0, 0, // mov edi, 1
		0xBE, 0, 0, 0x40, 0, // mov esi, programBase
		0xBA, 1, 0, 0, 0, // mov edx, 1
		0x0F, 0x05, // syscall
		0xC3, // ret
	)
	for len(code) < targetAt-programBase-headerSize {
		code = append(code, 0xCC)
	}
	return code
}

// programFile is the program as an ELF file.
func programFile(n uint32, target []byte) []byte {
	code := append(programCode(n), target...)
	size := uint64(headerSize + len(code))
	head := abi.ELFHeader{
		Ident: abi.ELFIdent, Type: abi.ET_EXEC, Machine: abi.EM_X86_64, Version: 1, Entry: programBase + headerSize,
		Phoff: abi.ELFHeaderSize, Ehsize: abi.ELFHeaderSize, Phentsize: abi.ELFSegmentSize, Phnum: 1,
	}
	all := abi.ELFSegment{Type: abi.PT_LOAD, Flags: abi.PF_R | abi.PF_X, VAddr: programBase, PAddr: programBase, FileSize: size, MemSize: size, Align: 0x1000}
	return slices.Concat(abi.Bytes(&head), abi.Bytes(&all), code)
}

// times is the program's output: it records when the program writes.
type times struct {
	vfs.Stream
	at chan int64
}

func (t *times) ReadAt([]byte, int64) (int, error) { return 0, nil }

func (t *times) WriteAt(p []byte, _ int64) (int, error) {
	t.at <- cpu.Nanotime()
	return len(p), nil
}

func (t *times) Close() error { return nil }

// A loop is the running program.
type loop struct {
	*proc.Process
	table *proc.Table
	times
}

// startLoop starts the program, which calls target n times. ready is called before it runs.
func startLoop(table *proc.Table, target []byte, n uint32, ready func(*proc.Process)) (*loop, error) {
	f, err := vfs.OpenAt(vfs.Root.RootPlace(), programPath, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o755)
	if err != nil {
		return nil, err
	}
	defer vfs.Remove(programPath)
	_, err = vfs.Write(f, programFile(n, target), nil)
	vfs.Close(f)
	if err != nil {
		return nil, err
	}
	return start(table, ready, programPath)
}

// start starts a program that writes before it calls a function and after that.
func start(table *proc.Table, ready func(*proc.Process), args ...string) (l *loop, err error) {
	if table == nil {
		return nil, refusal.New(syscall.ENOSYS, "bench: this machine cannot run programs")
	}
	l = &loop{table: table, times: times{at: make(chan int64, 2)}}
	node := vfs.NewAnonymous(fs.ModeNamedPipe | 0o600)
	var files []*vfs.File
	for range 2 {
		files = append(files, vfs.NewFile(node.Name("bench"), node, &l.times, vfs.O_RDWR))
	}
	l.Process, err = sys.Start(table, sys.Spec{Path: args[0], Args: args, Dir: "/", Files: files, Ready: ready})
	return l, err
}

// end waits until the program has ended, and frees it.
func (l *loop) end() error {
	<-l.Done()
	status := l.Status()
	l.table.Init().Wait(proc.Which{Kind: abi.P_PID, ID: l.PID}, abi.WEXITED, func() <-chan struct{} { return nil })
	if status.Signal() != 0 && status.Signal() != abi.SIGKILL || status.Code() != 0 {
		return fmt.Errorf("the program ended with exit %d, signal %d", status.Code(), status.Signal())
	}
	return nil
}
