package abi

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

const headers = `
#define _GNU_SOURCE
#include <stddef.h>
#include <stdio.h>
#include <stdint.h>
#include <time.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/sysinfo.h>
#include <sys/vfs.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/prctl.h>
#include <poll.h>
#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <ucontext.h>
#include <sched.h>
#include <asm/prctl.h>
#include <linux/futex.h>
#include <linux/sched.h>
#define termios asm_termios
#define winsize asm_winsize
#include <asm/termbits.h>
#include <asm/ioctls.h>
struct winsize_ { unsigned short a, b, c, d; };
struct ksigaction { void *h; unsigned long f; void *r; unsigned long m; };
struct kucontext { unsigned long flags; void *link; stack_t stack; struct sigcontext sc; unsigned long mask; };
struct ksigframe { char *pretcode; struct kucontext uc; siginfo_t info; };
struct kutsname { char f[6][65]; };
`

// layouts says which field of ours is at the offset of which of Linux's.
var layouts = []struct {
	ours   any
	theirs string
	fields string // ours=theirs
}{
	{Timespec{}, "struct timespec", "Nsec=tv_nsec"},
	{Itimerval{}, "struct itimerval", "Value=it_value"},
	{Tms{}, "struct tms", "ChildUser=tms_cutime"},
	{Sigaction{}, "struct ksigaction", "Mask=m"},
	{Siginfo{}, "siginfo_t", "Code=si_code Fields=si_pid"},
	{Stack{}, "stack_t", "Flags=ss_flags Size=ss_size"},
	{Sigcontext{}, "struct sigcontext", "R8=r8 DI=rdi SI=rsi BP=rbp BX=rbx DX=rdx AX=rax CX=rcx SP=rsp IP=rip Flags=eflags CS=cs SS=__pad0 Err=err Trapno=trapno Oldmask=oldmask CR2=cr2 FPState=fpstate"},
	{Ucontext{}, "struct kucontext", "Stack=stack Context=sc Mask=mask"},
	{Sigframe{}, "struct ksigframe", "Context=uc Info=info"},
	{CloneArgs{}, "struct clone_args", "ChildTID=child_tid ExitSignal=exit_signal TLS=tls Cgroup=cgroup"},
	{Rusage{}, "struct rusage", "System=ru_stime MaxRSS=ru_maxrss MinorFaults=ru_minflt InBlock=ru_inblock VoluntarySwitches=ru_nvcsw"},
	{Rlimit{}, "struct rlimit", "Max=rlim_max"},
	{Utsname{}, "struct kutsname", "Domainname=f[5]"},
	{Sysinfo{}, "struct sysinfo", "TotalRAM=totalram FreeSwap=freeswap Procs=procs TotalHigh=totalhigh Unit=mem_unit"},
	{RobustListHead{}, "struct robust_list_head", "Offset=futex_offset Pending=list_op_pending"},
	{Stat{}, "struct stat", "Nlink=st_nlink Mode=st_mode UID=st_uid Rdev=st_rdev Size=st_size Blksize=st_blksize Blocks=st_blocks Atime=st_atim Ctime=st_ctim"},
	{Statx{}, "struct statx", "Nlink=stx_nlink Mode=stx_mode Ino=stx_ino Size=stx_size Atime=stx_atime Mtime=stx_mtime RdevMajor=stx_rdev_major DevMinor=stx_dev_minor"},
	{Statfs{}, "struct statfs", "Bsize=f_bsize Bavail=f_bavail FSID=f_fsid Namelen=f_namelen Flags=f_flags"},
	{Flock{}, "struct flock", "Whence=l_whence Start=l_start Len=l_len PID=l_pid"},
	{Iovec{}, "struct iovec", "Len=iov_len"},
	{Mmsghdr{}, "struct mmsghdr", "Len=msg_len"},
	{PollFD{}, "struct pollfd", "Events=events Revents=revents"},
	{Termios{}, "struct asm_termios", "Lflag=c_lflag Line=c_line CC=c_cc"},
	{Winsize{}, "struct winsize_", "YPixel=d"},
	{ELFHeader{}, "Elf64_Ehdr", "Machine=e_machine Entry=e_entry Phoff=e_phoff Ehsize=e_ehsize Phnum=e_phnum SectionNames=e_shstrndx"},
	{ELFSegment{}, "Elf64_Phdr", "Flags=p_flags Offset=p_offset VAddr=p_vaddr FileSize=p_filesz MemSize=p_memsz Align=p_align"},
}

// cc compiles and runs a program with the host's C compiler.
func cc(t *testing.T, body string) string {
	t.Helper()
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("no gcc on this host: layouts are not compared with its headers")
	}
	dir := t.TempDir()
	src, exe := filepath.Join(dir, "a.c"), filepath.Join(dir, "a")
	if err := os.WriteFile(src, []byte(headers+"int main(void) {\n"+body+"return 0; }\n"), 0666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(gcc, "-w", "-o", exe, src).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	out, err := exec.Command(exe).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestLayoutsAreLinuxs(t *testing.T) {
	var body, want strings.Builder
	for _, l := range layouts {
		typ := reflect.TypeOf(l.ours)
		fmt.Fprintf(&body, "printf(\"%s %%d\\n\", (int)sizeof(%s));\n", typ.Name(), l.theirs)
		fmt.Fprintf(&want, "%s %d\n", typ.Name(), typ.Size())
		for _, pair := range strings.Fields(l.fields) {
			ours, theirs, _ := strings.Cut(pair, "=")
			f, ok := typ.FieldByName(ours)
			if !ok {
				t.Fatalf("%s has no %s", typ.Name(), ours)
			}
			fmt.Fprintf(&body, "printf(\"%s.%s %%d\\n\", (int)offsetof(%s, %s));\n", typ.Name(), ours, l.theirs, theirs)
			fmt.Fprintf(&want, "%s.%s %d\n", typ.Name(), ours, f.Offset)
		}
	}
	if got := cc(t, body.String()); got != want.String() {
		t.Errorf("Linux says\n%s\nand we\n%s", got, want.String())
	}
}

// otherwise are constants that the headers of C libraries say otherwise than the
// kernel does, or not at all.
var otherwise = map[string]bool{
	"O_LARGEFILE": true, // 0 in C libraries for 64 bits
	"SIGRTMIN":    true, // 34 there
	"MINSIGSTKSZ": true, // a call of sysconf there
}

func TestConstantsAreLinuxs(t *testing.T) {
	var body, want strings.Builder
	for name, v := range constants(t) {
		if name != strings.ToUpper(name) || otherwise[name] {
			continue // a name of our own
		}
		fmt.Fprintf(&body, "#ifdef %s\nprintf(\"%s %%lld\\n\", (long long)%s);\n#else\nprintf(\"%s %d\\n\");\n#endif\n", name, name, cName(name), name, v)
		fmt.Fprintf(&want, "%s %d\n", name, v)
	}
	got, lines := cc(t, body.String()), strings.Split(want.String(), "\n")
	for i, line := range strings.Split(got, "\n") {
		if line != lines[i] {
			t.Errorf("Linux says %q, we say %q", line, lines[i])
		}
	}
}

// cName is a constant as the C compiler is to print it: what is unsigned there
// and 32 bits wide stays so.
func cName(name string) string {
	switch {
	case strings.HasPrefix(name, "SA_"), strings.HasPrefix(name, "SS_"), strings.HasPrefix(name, "EPOLL"), strings.HasPrefix(name, "W"), strings.HasPrefix(name, "CLONE_IO"):
		return "(unsigned)" + name
	}
	return name
}

// constants returns this package's, by name.
func constants(t *testing.T) map[string]int64 {
	t.Helper()
	fset := token.NewFileSet()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	conf := types.Config{Importer: importer.ForCompiler(fset, "source", nil), Sizes: types.SizesFor("gc", "amd64")}
	pkg, err := conf.Check("abi", fset, files, nil)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]int64{}
	for _, name := range pkg.Scope().Names() {
		if c, ok := pkg.Scope().Lookup(name).(*types.Const); ok {
			if v, exact := constant.Int64Val(c.Val()); exact {
				all[name] = v
			}
		}
	}
	if len(all) < 200 {
		t.Fatalf("only %d constants", len(all))
	}
	return all
}

func TestSigframeIs440Bytes(t *testing.T) {
	var f Sigframe
	if n := len(Bytes(&f)); n != 440 {
		t.Errorf("%d", n)
	}
}

func TestSiginfoFields(t *testing.T) {
	s := Siginfo{Signo: SIGCHLD, Code: CLD_EXITED}
	s.SetChild(42, 7, 3, 0x1122, 0x3344)
	// signo, errno, code, padding; pid, uid, status, padding; times.
	want := []byte{17, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0,
		42, 0, 0, 0, 7, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0x22, 0x11, 0, 0, 0, 0, 0, 0, 0x44, 0x33}
	if got := Bytes(&s)[:len(want)]; !bytes.Equal(got, want) {
		t.Errorf("% x\n% x", got, want)
	}
	if s.Status() != 3 {
		t.Errorf("status %d", s.Status())
	}
}

func TestDirent64(t *testing.T) {
	b := bytes.Repeat([]byte{0xff}, 40)
	n := PutDirent64(b, 0x0102, 5, 8, "abcde")
	want := []byte{2, 1, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 32, 0, 8, 'a', 'b', 'c', 'd', 'e', 0, 0, 0, 0, 0, 0, 0, 0}
	if n != 32 || !bytes.Equal(b[:n], want) {
		t.Errorf("%d: % x", n, b[:n])
	}
	if Dirent64Len("abcd") != 24 {
		t.Errorf("Dirent64Len = %d", Dirent64Len("abcd"))
	}
}

func TestDurations(t *testing.T) {
	if d := (Timespec{1 << 62, 0}).Duration(); d != 1<<63-1 {
		t.Errorf("a time without end is %v", d)
	}
	if ts := TimespecOf(1_500_000_001); ts != (Timespec{1, 500_000_001}) {
		t.Errorf("%v", ts)
	}
	if (Timespec{0, 1e9}).Valid() || (Timespec{-1, 0}).Valid() || !(Timespec{0, 999_999_999}).Valid() {
		t.Error("Valid")
	}
}

func TestSignalNames(t *testing.T) {
	for n := 1; n <= SIGMAX; n++ {
		for _, s := range []string{SignalName(n), "SIG" + SignalName(n)} {
			if got, ok := SignalByName(s); !ok || got != n {
				t.Errorf("SignalByName(%q) = %d, %v", s, got, ok)
			}
		}
	}
	if SignalName(SIGSYS) != "SYS" || SignalName(34) != "RT_2" {
		t.Error(SignalName(SIGSYS), SignalName(34))
	}
	for _, bad := range []string{"", "FOO", "65", "-1"} {
		if n, ok := SignalByName(bad); ok {
			t.Errorf("%q is %d", bad, n)
		}
	}
}
