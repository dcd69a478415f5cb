package shell

import (
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"sonde/internal/quick"
	"sonde/kernel/abi"
	"sonde/kernel/tty"
	"sonde/kernel/vfs"
	"sonde/linux/proc"
	"sonde/linux/proctest"
	"sonde/linux/syscall"
)

const nRead, nWrite, nPause, nExitGroup, nKill, nGetpid = 0, 1, 34, 231, 62, 39

// programs are the programs of these tests: hello prints a line, fail exits with 3, crash ends by a
// signal, pause waits for one, yes writes without end, upper copies its input in capitals, chatty
// calls getpid again and again.
var programs = map[string]proctest.Program{
	"hello": func(p *proctest.Player) { say(p, "hello\n") },
	"fail":  func(p *proctest.Player) { p.Call(nExitGroup, 3) },
	"crash": func(p *proctest.Player) { p.Call(nKill, uint64(p.Call(nGetpid)), abi.SIGSEGV) },
	"chatty": func(p *proctest.Player) {
		for {
			p.Call(nGetpid)
			time.Sleep(time.Millisecond)
		}
	},
	"pause": func(p *proctest.Player) { p.Call(nPause) },
	"front": func(p *proctest.Player) { // exits 0 if its group is in the foreground of its terminal
		own, _ := p.World.Table.Find(int(p.Call(nGetpid)))
		group, _ := own.Group()
		term, _ := own.Terminal().(*tty.TTY)
		p.Call(nExitGroup, map[bool]uint64{true: 0, false: 7}[term != nil && term.Foreground() == group])
	},
	"yes": func(p *proctest.Player) {
		for {
			say(p, "y\n")
		}
	},
	"upper": func(p *proctest.Player) {
		for {
			n := p.Call(nRead, 0, proctest.Data, 100)
			if n <= 0 {
				return
			}
			p.PokeString(proctest.Data+200, strings.ToUpper(string(p.Peek(proctest.Data, int(n)))))
			p.Call(nWrite, 1, proctest.Data+200, uint64(n))
		}
	},
}

func say(p *proctest.Player, text string) {
	p.PokeString(proctest.Data, text)
	p.Call(nWrite, 1, proctest.Data, uint64(len(text)))
}

// newWorld makes a machine with the programs in /bin.
func newWorld(t *testing.T) *Machine {
	t.Helper()
	w := proctest.NewWorld(64<<20, syscall.Handle)
	syscall.SetLoader(func(p syscall.Program) (proc.Image, error) { return w.Exec(p.Path) })
	vfs.Root.Mkdir("/bin")
	for name, f := range programs {
		w.Install("/bin/"+name, f)
		file, err := vfs.Root.OpenAt(vfs.Root.RootPlace(), "/bin/"+name, vfs.O_CREAT|vfs.O_WRONLY, 0755)
		if err != nil {
			t.Fatal(err)
		}
		vfs.Close(file)
	}
	m := fakeMachine()
	m.Programs = OnTable(w.Table)
	t.Cleanup(func() {
		for _, p := range w.Table.Processes() {
			p.Kill(abi.SIGKILL)
			t.Errorf("process %d is left", p.PID)
		}
		for name := range programs {
			vfs.Root.Remove("/bin/" + name)
		}
		vfs.Root.Remove("/bin")
	})
	return m
}

// runJobs runs a script on a machine with programs.
func runJobs(t *testing.T, script string) (string, int) {
	t.Helper()
	var out buffer
	s := New(newWorld(t), &out)
	status := s.Run(script)
	s.HangUp()
	return out.String(), status
}

func TestJobsOfAScript(t *testing.T) {
	tests := []struct {
		name, script, out string
		status            int
	}{
		{"a program", "hello", "hello\n", 0},
		{"its status", "fail; echo $?", "3\n", 0},
		{"a signal", "crash; echo $?", "Segmentation fault      crash\n139\n", 0},
		{"a pipe of programs", "hello | upper", "HELLO\n", 0},
		{"one whose group has ended", "hello | { sleep 0.05; upper; }", "HELLO\n", 0},
		{"own commands around one", "echo a b | upper | grep A", "A B\n", 0},
		{"an end that does not read on", "yes | head -n 2", "y\ny\n", 0},
		{"redirections", "hello > /tmp/j1; upper < /tmp/j1", "HELLO\n", 0},
		{"$! and wait", "fail & wait $!; echo $?", "3\n", 0},
		{"wait by number", "fail & hello & wait %1; echo $?; wait", "hello\n3\n", 0},
		{"wait for all", "fail & wait; echo $?; jobs", "0\n", 0},
		{"nobody's process", "wait 99", "wait: pid 99 is not a child of this shell\n", 127},
		{"running", "pause & jobs; kill %1; wait %1; echo $?", "[1]+  Running                 pause &\n143\n", 0},
		{"by process", "pause & kill -9 $!; wait $!; echo $?", "137\n", 0},
		{"two", "pause & pause | pause & jobs; kill %1; kill %2; wait; jobs",
			"[1]-  Running                 pause &\n[2]+  Running                 pause | pause &\n", 0},
		{"an own command", "sleep 100 & echo $!; kill %1; wait %1; echo $?", "%1\n143\n", 0},
		{"own ones in a pipe", "sleep 100 | cat & kill %1; wait; echo over", "over\n", 0},
		{"a chain", "true && pause || echo never & kill %1; wait %1; echo $?", "143\n", 0},
		{"the status of the script", "pause & false", "", 1},
		{"no such job", "kill %3; fg; bg %x", "kill: %3: no such job\nfg: current: no such job\nbg: %x: no such job\n", 1},
		{"no such process", "kill 77", "kill: (77) - no such process\n", 1},
		{"not process 1", "kill -9 1", "kill: (1) - operation not permitted\n", 1},
		{"not found", "/bin/none; none | cat; echo x > /tmp/j1; /tmp/j1; /bin",
			"/bin/none: no such file or directory\nnone: command not found (did you mean more?)\n/tmp/j1: permission denied\n/bin: is a directory\n", 126},
		{"inside of one", "fg & wait %1; echo $?", "fg: no job control in the background\n1\n", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, status := runJobs(t, tt.script)
			if tt.name == "wait by number" { // the two run concurrently
				out = strings.Replace(out, "3\nhello\n", "hello\n3\n", 1)
			}
			if out != tt.out || status != tt.status {
				t.Errorf("got %q, status %d; want %q, status %d", out, status, tt.out, tt.status)
			}
		})
	}
	runScript("rm /tmp/j1")
}

// user types at a session on a terminal of the test.
type user struct {
	t     *testing.T
	w     *io.PipeWriter
	out   *buffer
	seen  int
	shell *Shell
	done  chan error
}

func newUser(t *testing.T) *user {
	r, w := io.Pipe()
	u := &user{t: t, w: w, out: new(buffer), done: make(chan error)}
	u.shell = New(newWorld(t), u.out)
	table := TableOf(u.shell.Machine)
	u.shell.Terminal = tty.New(u.out, func(group int, s tty.Signal) { table.SendGroup(group, proc.SignalOf(int(s))) })
	table.Init().SetTerminal(u.shell.Terminal)
	u.shell.Export("NO_COLOR", "1")
	go func() { u.done <- u.shell.Interact(r, u.out) }()
	return u
}

// see waits until the text appears on the screen, after what was seen before.
func (u *user) see(want string) []string {
	u.t.Helper()
	re := regexp.MustCompile(want)
	for end := time.Now().Add(quick.Hang); ; time.Sleep(time.Millisecond) {
		all := u.out.String()
		if m := re.FindStringSubmatchIndex(all[u.seen:]); m != nil {
			var found []string
			for i := 0; i < len(m); i += 2 {
				found = append(found, all[u.seen+m[i]:u.seen+m[i+1]])
			}
			u.seen += m[1]
			return found
		}
		if time.Now().After(end) {
			u.t.Fatalf("no %s in %q", want, all[u.seen:])
		}
	}
}

func (u *user) enter(text string) {
	u.t.Helper()
	u.see("sonde# $")
	io.WriteString(u.w, text+"\r")
}

// front waits until n programs have the terminal: a key that becomes a signal reaches only programs
// that have started.
func (u *user) front(n int) {
	for {
		group, begun := u.shell.Terminal.Foreground(), 0
		for _, p := range TableOf(u.shell.Machine).Processes() {
			if group != 0 && p.Facts().Group == group {
				begun++
			}
		}
		if begun >= n {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

func TestJobsAtThePrompt(t *testing.T) {
	u := newUser(t)
	u.enter("pause &")
	pid := u.see(`\[1\] (\d+)\n`)[1]
	u.enter("pause | upper")
	u.front(2)
	io.WriteString(u.w, "\x1a")
	u.see(`\n\[2\]\+  Stopped                 pause \| upper\n`)
	u.enter("echo $?; jobs")
	u.see(`148\n\[1\]-  Running                 pause &\n\[2\]\+  Stopped                 pause \| upper\n`)
	u.enter("bg")
	u.see(`\[2\]\+ pause \| upper &\n`)
	u.enter("kill -9 " + pid + "; wait " + pid)
	u.see(`\[1\]-  Killed                  pause\n`)
	u.enter("fg %pau")
	u.see(`\npause \| upper\n`)
	u.front(2)
	io.WriteString(u.w, "\x03")
	u.see(`\^C\n`)
	u.enter("echo $?; jobs; fail & wait")
	u.see(`130\n\[1\] \d+\n\[1\]\+  Exit 3                  fail\n`)
	u.enter("hello | upper &")
	u.see("HELLO")
	u.jobsEnd()
	io.WriteString(u.w, "\r")
	u.see(`\[1\]\+  Done                    hello \| upper\n`)
	u.see("sonde# $")
	io.WriteString(u.w, "\x04")
	if err := <-u.done; err != nil {
		t.Error(err)
	}
}

// TestWhatIsTypedIsForWhoHasTheTerminal: a program gets the text typed after its name, and what it
// does not read is the next command.
func TestWhatIsTypedIsForWhoHasTheTerminal(t *testing.T) {
	u := newUser(t)
	u.enter("pause")
	u.front(1)
	io.WriteString(u.w, "echo le")
	u.see("echo le")
	for _, p := range TableOf(u.shell.Machine).Processes() {
		p.Kill(abi.SIGTERM)
	}
	u.see("Terminated              pause\n")
	io.WriteString(u.w, "ft\r")
	u.see("\nleft\n")
	u.enter("upper")
	u.front(1)
	io.WriteString(u.w, "in\r")
	u.see("IN")
	io.WriteString(u.w, "\x04")
	u.see("sonde# $")
	io.WriteString(u.w, "\x04")
	<-u.done
}

// TestScriptsTerminal: the group of a script's program has the foreground of the terminal that controls it, also in a
// pipe and in a script within, but not in the background; nobody has it afterwards.
func TestScriptsTerminal(t *testing.T) {
	out := new(buffer)
	s := New(newWorld(t), out)
	s.Controlling = tty.New(out, func(int, tty.Signal) {})
	TableOf(s.Machine).Init().SetTerminal(s.Controlling)
	if s.Run("front; echo $?; echo x | front; echo $?; sh -c 'front; front; echo $?'; front & wait $!; echo $?"); out.String() != "0\n0\n0\n7\n" {
		t.Errorf("%q", out.String())
	}
	if group := s.Controlling.Foreground(); group != 0 {
		t.Errorf("group %d has the terminal after the script", group)
	}
	s.Controlling = nil
	s.Run("front; echo $?")
	if !strings.HasSuffix(out.String(), "7\n7\n") {
		t.Errorf("%q", out.String())
	}
}

// TestStraceAttachesAndLeaves: ^C ends strace, and the traced program continues.
func TestStraceAttachesAndLeaves(t *testing.T) {
	u := newUser(t)
	u.enter("chatty &")
	pid := u.see(`\[1\] (\d+)\n`)[1]
	u.enter("strace -p " + pid)
	u.see(`strace: Process ` + pid + ` attached\n`)
	u.see(`getpid\(\) {32}= ` + pid + `\n`)
	io.WriteString(u.w, "\x03")
	u.see(`strace: Process ` + pid + ` detached\n`)
	u.enter("jobs; kill %1; wait")
	u.see(`\[1\]\+  Running                 chatty &\n`)
	u.enter("strace -e trace=nosuch chatty; strace -o /tmp/j2 -e trace=write hello; cat /tmp/j2; rm /tmp/j2")
	u.see(`strace: invalid system call 'nosuch'\nhello\r?\nwrite\(1, "hello\\n", 6\) += 6\n\+\+\+ exited with 0 \+\+\+\n`)
	u.enter("strace -c hello")
	u.see(`(?m)^ *[\d.]+ +[\d.]+ +\d+ +1 +execve$`)
	u.see("sonde# $")
	io.WriteString(u.w, "\x04")
	<-u.done
}

// TestReadingInTheBackgroundStops: only the foreground reads.
func TestReadingInTheBackgroundStops(t *testing.T) {
	u := newUser(t)
	u.enter("upper &")
	u.see(`\[1\] \d+\n`)
	for j := u.shell.jobs.all(nil)[0]; ; {
		now, changed := j.look()
		if now == stopped {
			break
		}
		<-changed
	}
	io.WriteString(u.w, "\r")
	u.see(`\[1\]\+  Stopped                 upper\n`)
	u.enter("fg")
	u.front(1)
	io.WriteString(u.w, "in\r")
	u.see("IN")
	io.WriteString(u.w, "\x04")
	u.see("sonde# $")
	io.WriteString(u.w, "\x04")
	<-u.done
}

// TestWritingInTheBackgroundStopsWithTOSTOP, and without it does not.
func TestWritingInTheBackgroundStopsWithTOSTOP(t *testing.T) {
	u := newUser(t)
	u.enter("hello & wait")
	u.see("hello\r\n")
	u.see("sonde# $")
	modes := u.shell.Terminal.Termios()
	modes.Lflag |= tty.TOSTOP
	u.shell.Terminal.SetTermios(modes, false, false)
	io.WriteString(u.w, "hello &\r")
	u.see(`\[\d\] \d+\n`)
	all := u.shell.jobs.all(nil)
	for now, changed := all[len(all)-1].look(); now != stopped; now, changed = all[len(all)-1].look() {
		<-changed
	}
	u.enter("fg")
	u.see(`hello\r\n`)
	u.enter("wait")
	u.see("sonde# $")
	io.WriteString(u.w, "\x04")
	<-u.done
}

// TestProgramsAreFoundByNumber: what commands refuse names the number.
func TestProgramsAreFoundByNumber(t *testing.T) {
	c := &Context{Machine: newWorld(t)}
	for number, want := range map[int]string{
		99: "there is no process 99", 1: "process 1 is the kernel's and runs no program",
	} {
		if p, err := c.programOf(number); err == nil || err.Error() != want {
			t.Errorf("%d: %v, %v", number, p, err)
		}
	}
	if _, err := (&Context{Machine: fakeMachine()}).programOf(1); !errors.Is(err, errNoPrograms) {
		t.Error(err)
	}
}
