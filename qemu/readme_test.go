package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// commandPages are the pages whose commands are all run.
var commandPages = []string{"README.md", "docs/launcher.md", "docs/costs.md", "docs/optimization.md", "docs/decisions.md", "docs/how-a-system-call-works.md", "docs/scheduling.md", "course/INSTRUCTOR.md"}

// readmeCommands are all commands in these pages, and what becomes of them. A command that names no
// number of processors runs on two; in the long run, on one as well.
var readmeCommands = map[string]func(t *testing.T, command string){
	"go run ./qemu -c 'insmod kprobe_example symbol=vfs.Read; cat /proc/uptime; rmmod kprobe_example; dmesg | grep handler:'": prints("post_handler: p->addr="),
	"go run ./qemu -c '" + listScript + "'": prints("[OPTIMIZED]"),
	"go run ./qemu -smp 2 -c 'kwatch -n 3 w@printk.consoleLevel & sleep 1; dmesg -n 5; dmesg -n 6; dmesg -n 4; wait'": prints("0x6 → 0x4  sonde/kernel/printk.SetConsoleLevel"),
	"go run ./qemu -c 'COMMAND; COMMAND'": prints("0 failures"), // COMMAND is filled in
	"go run ./qemu -smp 2 -c 'bench scale'": func(t *testing.T, command string) {
		prints("ro_x1_per_s")(t, strings.Replace(command, "bench", "bench -n 1", 1))
	},
	"go run ./qemu -add README.md -c 'head -1 /README.md'":                                                                                                                 prints("# sonde"),
	`go run ./qemu -c 'sh -c "for i in 1 2 3; do echo hello \$i; done | grep 2"'`:                                                                                          prints("hello 2"),
	`go run ./qemu -add /bin/bash -deps -c 'bash -c "echo \$BASH_VERSION"'`:                                                                                                prints("release"),
	"go run ./qemu -c 'strace -e write myprog -n 1'":                                                                                                                       says("+++ exited with 0 +++"),
	"go run ./qemu -c 'myprog & sleep 1; ps; jobs; kill %1; wait'":                                                                                                         prints("[1]+  Running                 myprog &"),
	"go run ./qemu -c 'insmod uprobe_example path=/bin/myprog symbol=myfunc; myprog -n 3; rmmod uprobe_example'":                                                           says("Probepoint was hit 3 times"),
	"go run ./qemu -c 'insmod follow_example; myprog -n 1; rmmod follow_example; dmesg'":                                                                                   prints("syscall.write returns 25"),
	"go run ./qemu -bt 'kprobe:vfs.Read { @[comm] = count(); }' -c 'cat /proc/uptime'":                                                                                     prints("@["),
	`go run ./qemu -bt 'kprobe:vfs.Read { printf("in\n"); } kretprobe:vfs.Read { printf("out\n"); }' -c 'cat /proc/uptime' --format perfetto -o trace.pb`:                  writes("trace.pb"),
	"go run ./qemu -bt 'profile:hz:199 { @[kstack, ustack, comm] = count(); }' -c 'for i in 1 2 3; do cat /bin/cat > /tmp/x; done' -format flame -o flame.svg":             writes("flame.svg"),
	"go run ./qemu -bt 'profile:hz:199 { @[kstack, ustack, comm] = count(); }' -c 'sleep 1' -format pprof -o before.pb.gz":                                                 writes("before.pb.gz"),
	"go run ./qemu -bt 'profile:hz:199 { @[kstack, ustack, comm] = count(); }' -c 'cat /bin/cat > /tmp/x; sleep 1' -format flame -against before.pb.gz -o difference.html": compares,
	"go run ./qemu -bt 'kprobe:vfs.Write { @[comm] = count(); @bytes = hist(len(args.p)); }' -c 'myprog -n 20'":                                                            prints("@[myprog]: 20"),
	"go run ./qemu -with DIR": func(t *testing.T, command string) {
		prompts(t, strings.Replace(command, "DIR", "qemu/testdata/mistakes", 1))
	},
	"go run ./qemu -stick -uefi":                                      func(t *testing.T, command string) { atPrompt(t, command+" -smp 2", nil) },
	"go run ./qemu -web":                                              func(t *testing.T, command string) { atPrompt(t, command+" -smp 2", nil) },
	"go run ./qemu -web -serial /dev/ttyUSB0":                         refuses("-serial /dev/ttyUSB0: "), // TestWebSerial has a board
	"go run ./qemu -web -smp 1 -accel counted -c 'bench k b e o r u'": once("\no\t"),
	"go run ./qemu -smp 1 -accel counted -c 'time explain -j vfs.Read > /dev/null; time explain -j vfs.Read > /dev/null'":                                                                            takesLess(250, 100),
	`go run ./qemu -smp 1 -accel counted -c "bt -q -e 'kprobe:vfs.Read { @ = sum(1); } interval:ms:500 { print(@); }' > /dev/null & sleep 3; cat /proc/uptime; sleep 20; cat /proc/uptime; kill %1"`: once(""),
	`go run ./qemu -smp 1 -accel counted -c "head -c 1000000 /dev/zero > /tmp/z; time wc /tmp/z; time bt -q -e 'kprobe:bufio.(*Reader).ReadRune { @ = sum(1); }' -c 'wc /tmp/z'"`:                    takesLess(200, 200),
	"go run ./qemu -noprobe":                      func(t *testing.T, command string) { atPrompt(t, command, nil) },
	"go run ./qemu/bench -count load":             counts("b_with_5000"),
	"go run ./qemu":                               prompts,
	"go run ./qemu -machine microvm -smp 4 -m 1G": prompts,
	"go run ./qemu -gdb":                          waitsForGDB,
	"go run ./qemu -h":                            once("processors"),
	"go run ./qemu -cpu Nehalem":                  prompts,
	"go run ./qemu -c lspci -- -device e1000":     once("Ethernet controller"),
	"go run ./qemu/bench -programs -n 1 -peer qemu/bench/testdata/linux-5.10.tsv": oneRow("smp2/getpid"),
	`go run ./qemu -accel counted -smp 1 -c "time bt -q -e 'BEGIN { exit() }'; time bt -q -e 'kprobe:vfs.Read { @ = count(); }' -c true; time bt -q -e 'kprobe:vfs.Read { @ = count(); }' -c true; time bt --self -q --config max_probes=60000 -e 'kprobe:* { @ = count(); }' -c true; time bt -q --config max_probes=60000 -e 'kprobe:* { @ = count(); }' -c true"`: takesLess(20, 100, 50, 2000, 8000),
	"go run ./qemu -build":                                             once("limit"),
	"go run ./qemu -smp 2 -c 'glass -o vfs.Read'":                      prints("-> 49"),
	"go run ./qemu -c 'glass -t return -s vfs.Read cat /proc/version'": prints("goes back"),
	"go run ./qemu -c 'explain vfs.Read'":                              prints("resume: the copy"),
	"go run ./qemu -c 'sysctl -w debug.kprobes-plain=1; insmod kprobe_example symbol=vfs.Read post=0; sleep 0.1; explain vfs.Read'":                           prints("restore g and registers"),
	"go run ./qemu/bench -count -peer qemu/bench/testdata/linux-5.10-programs.tsv u u_boost u_step ur bpf_b bpf_count bpf_count_go bpf_r bpf_ro bpf_u bpf_ur": counts("bpf_ur\t"),
	"go run ./qemu/bench -count k b o":                         counts("b\t"),
	"go run ./qemu/bench -count k u_int3 u_syscall u_detour u": counts("u_detour\t"),
	"go run ./qemu -c 'bench k u_int3 u_syscall u_detour u'": func(t *testing.T, command string) {
		prints("u_detour\t")(t, strings.Replace(command, "bench", "bench -n 1", 1))
	},
	"go run ./qemu -smp 1 -c 'bench ring u u_emul u_boost u_step ur u_thread ur_thread ur_go k r'": func(t *testing.T, command string) {
		prints("ur_go\t")(t, strings.Replace(command, "bench", "bench -n 1", 1))
	},
	"go run ./qemu/bench -programs -n 3 -peer qemu/bench/testdata/linux-5.10.tsv getpid stat": func(t *testing.T, command string) {
		once("smp2/stat")(t, strings.Replace(command, "-n 3", "-n 1 -round 1ms", 1))
	},
	"go run ./qemu/bench -count bpf_count bpf_count_go bpf_log2":                                  counts("bpf_log2\t"),
	"go run ./qemu/bench -count b":                                                                counts("b\t"),
	"go run ./qemu/bench -count engine":                                                           counts("engine_load\t"),
	"go run ./qemu/bench -count r_1000 r_16000":                                                   counts("r_16000\t"),
	"go run ./qemu/bench -count -programs getpid":                                                 once("smp1/getpid"),
	"go run ./qemu/bench -count -programs signal_self":                                            once("smp1/signal_self"),
	"go run ./qemu/bench -programs -count":                                                        oneRow("smp1/cow"),
	"go run ./qemu/bench -programs -count yield_two signal_self signal_wake timer_signal timerfd": once("smp1/timerfd"),
	"go run ./qemu -test -c 'ktest user/'": func(t *testing.T, command string) {
		once("1 passed, 0 failed")(t, strings.Replace(command, "user/", "user/flags_stay", 1))
	},
	"make":                                   once("make run"),
	"make run":                               once("== That was it."),
	"make stick":                             once("build/sonde.iso"),
	"make replay":                            dry("go run ./qemu/web -replay build/replay.html"),
	"make book":                              dry("go run -C course/pages ."),
	"make slides":                            dry("go run -C course/pages . -slides"),
	"make web":                               dry("go run ./qemu -web"), // TestWeb is about it
	"make prove":                             dry("go run ./ktest/prove"),
	"make release":                           dry("go run ./internal/release"),
	"make launcher":                          once("go build -o build/qemu"),
	"make test":                              testsAll, // this test is part of it
	"make check":                             dry("go test -vet=off -short -timeout 4h ./..."),
	"make bench":                             benches,
	"make hidden DIR=../hidden CLASS=autumn": dry("-settle '../hidden' -class autumn"),
	"make students DIR=../autumn CLASS=autumn":                               dry("./course/students.sh '../autumn' 'autumn'"),
	"make grade-all STUDENTS=../handed-in CLASS=autumn HIDDEN=course/hidden": dry("-all '../handed-in'"),
}

// readmeFinds commands: a line that begins with one, up to its comment, or code
// within text.
var readmeFinds = []*regexp.Regexp{
	regexp.MustCompile("(?m)^    ((?:go run ./qemu(?:/bench)?|make)(?: [^ \n]+)*)"),
	regexp.MustCompile("`((?:go run|make)(?: [^`\n]*)?)`"),
}

// commandsIn returns the commands of all commandPages, each once.
func commandsIn(t *testing.T) (found []string) {
	for _, page := range commandPages {
		for _, re := range readmeFinds {
			for _, m := range re.FindAllStringSubmatch(document(t, page), -1) {
				if !slices.Contains(found, m[1]) {
					found = append(found, m[1])
				}
			}
		}
	}
	return found
}

// TestReadmeCommands runs every command of the pages.
func TestReadmeCommands(t *testing.T) {
	runsBeside(t)
	found := commandsIn(t)
	for _, command := range found {
		run := readmeCommands[command]
		switch {
		case command == "go run": // the text talks about it
		case run == nil:
			t.Errorf("no test runs %q", command)
		default:
			t.Run(strings.ReplaceAll(command, "/", "_"), func(t *testing.T) {
				t.Parallel()
				run(t, command)
			})
		}
	}
	for command := range readmeCommands {
		if !slices.Contains(found, command) {
			t.Errorf("no page has %q", command)
		}
	}
}

// shell returns a command line for the module's root. It gets no terminal and does not outlive the
// test. What "go run" would build or check for each command anew, in a second or two of processor
// time, is built once: the commands of prompts and make run are left to "go run".
func shell(t *testing.T, line string) *exec.Cmd {
	once := func(build func() (string, error)) string {
		path, err := build()
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	if args, ok := strings.CutPrefix(line, "go run ./qemu/bench "); ok {
		line = once(benchmarks) + " -image " + once(normalImage) + " " + args
	} else if args, ok := strings.CutPrefix(line, "go run ./qemu "); ok {
		image := normalImage
		if strings.HasPrefix(args, "-test ") {
			image = testImage
		}
		line = fmt.Sprint(once(launcher), " -image ", once(image), " -timeout ", timeLimit(t), " ", args) // the usual two minutes are for a quiet host
	}
	return goRun(t, line)
}

// goRun is shell for a command line that is run as it stands.
func goRun(t *testing.T, line string) *exec.Cmd {
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = ".."
	ownGroup(cmd)
	t.Cleanup(func() {
		if cmd.Process != nil {
			killGroup(cmd)
		}
	})
	return cmd
}

// once runs a command that must succeed and print want.
func once(want string) func(*testing.T, string) {
	return func(t *testing.T, command string) {
		var out bytes.Buffer
		cmd := shell(t, command)
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Run(); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%v; it should say %q\n%s", err, want, end(out.Bytes(), 6000))
		}
	}
}

// refuses is once for a command that cannot do it here.
func refuses(why string) func(*testing.T, string) {
	return func(t *testing.T, command string) { once(why)(t, "! "+command) }
}

// writes is once for a command that writes a file.
func writes(file string) func(*testing.T, string) {
	return func(t *testing.T, command string) {
		out := filepath.Join(t.TempDir(), file)
		once("")(t, strings.Replace(command, file, "'"+out+"'", 1))
		if s, err := os.Stat(out); err != nil || s.Size() == 0 {
			t.Errorf("%s: %v, %v", file, s, err)
		}
	}
}

// compares is writes for a command that compares with a profile.
func compares(t *testing.T, command string) {
	before := filepath.Join(t.TempDir(), "before.pb.gz")
	compare := regexp.MustCompile(`-format flame -against \S+ -o (\S+)`)
	once("")(t, compare.ReplaceAllString(command, "-format pprof -o '"+before+"'"))
	writes(compare.FindStringSubmatch(command)[1])(t, strings.Replace(command, "before.pb.gz", "'"+before+"'", 1))
}

// takesLess is once for commands of time, by instructions, with what each may take in ms.
func takesLess(most ...float64) func(*testing.T, string) {
	return func(t *testing.T, command string) {
		out, err := shell(t, command).CombinedOutput()
		all := regexp.MustCompile(`real\s+0m(\d+\.\d+)s`).FindAllSubmatch(out, -1)
		if err != nil || len(all) != len(most) {
			t.Fatalf("%v; %d times\n%s", err, len(all), end(out, 6000))
		}
		for i, m := range all {
			if s, err := strconv.ParseFloat(string(m[1]), 64); err != nil || s*1000 > most[i] {
				t.Errorf("command %d took %s s, limit %.0f ms", i+1, m[1], most[i])
			}
		}
	}
}

// counts is once for rows whose figures no test compares: one run of each is enough.
func counts(want string) func(*testing.T, string) {
	return func(t *testing.T, command string) {
		once(want)(t, strings.Replace(command, "-count", "-count -runs 1", 1))
	}
}

// oneRow is once for a command that measures all rows of programs, as make bench and a test in bench
// do: this one is enough.
func oneRow(want string) func(*testing.T, string) {
	return func(t *testing.T, command string) { once(want)(t, command+" -round 1ms "+path.Base(want)) }
}

// dry asks make what it would run.
func dry(want string) func(*testing.T, string) {
	return func(t *testing.T, command string) { once(want)(t, command+" -n") }
}

// testsAll looks whether make test and .ci/run end with the same run of all tests.
func testsAll(t *testing.T, command string) {
	const last = "SONDE_BRIEF=1 go test -vet=off -parallel 4 -timeout 4h ./...\n"
	dry(last)(t, command)
	if !strings.HasSuffix(document(t, ".ci/run"), "\nenv "+last) {
		t.Errorf(".ci/run does not end with %q", last)
	}
}

// bothSizes runs f with two processors and, in the long run, with one, unless command says how many.
func bothSizes(t *testing.T, command string, f func(*testing.T, string)) {
	if strings.Contains(command, " -smp ") {
		f(t, command)
		return
	}
	sizes := []string{"2"}
	if long() {
		sizes = []string{"1", "2"}
	}
	for _, n := range sizes {
		t.Run("smp"+n, func(t *testing.T) { f(t, command+" -smp "+n) }) // the last one counts
	}
}

// says is once by bothSizes.
func says(want string) func(*testing.T, string) {
	return func(t *testing.T, command string) { bothSizes(t, command, once(want)) }
}

// prints is once for a script, where the console must not report trouble.
func prints(want string) func(*testing.T, string) {
	return func(t *testing.T, command string) {
		command = strings.ReplaceAll(command, "COMMAND", "echo 0 failures")
		bothSizes(t, command, func(t *testing.T, command string) {
			var stdout, stderr bytes.Buffer
			cmd := shell(t, command)
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			err := cmd.Run()
			bad := regexp.MustCompile(`BUG|panic|not optimized|crashed`).FindString(stderr.String())
			if err != nil || bad != "" || !strings.Contains(stdout.String(), want) {
				t.Errorf("%v %s; it should print %q\n%s\n%s", err, bad, want, &stdout, end(stderr.Bytes(), 6000))
			}
		})
	}
}

// prompts runs a command that gives a prompt, and switches the machine off there.
func prompts(t *testing.T, command string) {
	bothSizes(t, command, func(t *testing.T, command string) { atPrompt(t, command, nil) })
}

// atPrompt types poweroff as soon as there is a prompt. before, if not nil, is
// called when the command has begun.
func atPrompt(t *testing.T, command string, before func(*screen)) {
	cmd := goRun(t, command)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	screen := newScreen()
	cmd.Stdout, cmd.Stderr = screen, screen
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if before != nil {
		before(screen)
	}
	screen.await(t, "sonde# ", 1)
	io.WriteString(in, "poweroff\r")
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, screen.text())
	}
}

// waitsForGDB plays gdb: it makes the machine continue.
func waitsForGDB(t *testing.T, command string) {
	bothSizes(t, command, func(t *testing.T, command string) {
		atPrompt(t, command, func(s *screen) {
			script := gdbCommand(t, s)[2]
			said, err := os.ReadFile(script)
			port := regexp.MustCompile(`(?m)^target remote (.+)$`).FindSubmatch(said)
			if err != nil || port == nil {
				t.Fatalf("%v, %s: no address\n%s", err, script, said)
			}
			gdb, err := net.Dial("tcp", string(port[1]))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { gdb.Close() })
			fmt.Fprint(gdb, "$c#63") // continue
		})
	})
}

// benches measures everything, with one boot and one run each, and looks whether
// docs/costs.md has the rows. One processor is what make bench has; with a second one
// "bench scale" runs.
func benches(t *testing.T, command string) {
	dry("go run ./qemu/bench")(t, command)
	out, err := shell(t, "go run ./qemu/bench -n 1 -runs 1 -round 4ms").Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !bytes.HasPrefix(out, []byte("row\tns\tfrom..to\n")) {
		t.Errorf("no header: %.40q", out)
	}
	names := func(pattern, text string) (list []string) {
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
			if !strings.HasSuffix(m[1], "_per_s") {
				list = append(list, m[1])
			}
		}
		return list
	}
	have := names(`(?m)^(\w+)\t-?\d+\t-?\d+\.\.-?\d+$`, string(out))
	want := names(`(?m)^\| (\w+) \|.*\| *\d+ \|[^|]*\|[^|]*\|$`, document(t, "docs/costs.md"))
	if !slices.Equal(have, want) {
		t.Errorf("docs/costs.md has the rows\n%q, it prints\n%q", want, have)
	}
	// Of the rows of programs it has those with a goal.
	have = names(`(?m)^(smp1/\w+)\t[\d.]+\t[\d.]+\.\.[\d.]+$`, string(out))
	want = names(`(?m)^\| (smp1/\w+) \|`, document(t, "docs/costs.md"))
	if len(want) == 0 {
		t.Error("docs/costs.md has no rows of programs")
	}
	for _, name := range want {
		if !slices.Contains(have, name) {
			t.Errorf("docs/costs.md has the row %s, which is not printed", name)
		}
	}
}
