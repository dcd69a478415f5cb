package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sonde/qemu/initrd"
	"sonde/qemu/machine"
)

// named are commands that name functions of programs (testdata/names), and what comes out, without blank lines.
var named = []struct{ command, want string }{
	// A name stands for a set.
	{`bt -q -e 'uprobe:/bin/twins:twice { @ = count(); }' -c twins`, "@: 30"},
	{`bt -q -e 'uretprobe:/bin/twins:twice { @ = sum(retval); }' -c twins`, "@: 470"},
	{`bt -q -e 'uprobe:/bin/twins:twi* { @[func] = count(); }' -c twins`, "@[twice_a]: 10\n@[twice_b]: 20\n@[twice]: 30"},
	{`bt -e 'uprobe:/bin/twins:twice { @ = count(); }' -c twins 2>&1 | grep called`, "bt: uprobe:/bin/twins:twice: 2 functions are called twice"},
	{`bt -q -e 'uprobe:/bin/twins:twice+3 { }' -c twins 2>&1 | grep -c 'there are 2 functions twice, at 0x'`, "1"},
	{`explain /bin/twins:twice | grep -c 'Not probed'`, "2"},
	{`funccount -c twins /bin/twins:twice | grep :`, "@[twice]: 30"},
	{`bt -q -e 'uprobe:/bin/twins:twices { }' -c twins 2>&1 | grep HINT`, "HINT: did you mean twice?"},
	{`bt -q -e 'uprobe:LIBRARY:count { @ = count(); }' -c versions`, "@: 10"},
	{`bt -q -e 'uprobe:LIBRARY:count@V_1 { @ = count(); }' -c versions`, "@: 3"},
	{`bt -q -e 'uprobe:LIBRARY:gone { @ = count(); }' -c versions`, "@: 1"},
	{`bt -q -e 'uprobe:LIBRARY:*o*n* { @[func] = count(); }' -c versions`, "@[gone@V_1]: 1\n@[count@V_1]: 3\n@[count]: 10"},
	{`bt -e 'uprobe:LIBRARY:count { }' -c versions 2>&1 | grep older`, "bt: uprobe:LIBRARY:count: the version of count that programs are linked with; older: count@V_1"},
	{`bt -l 'uprobe:LIBRARY:coun*'`, "uprobe:LIBRARY:count@V_1\nuprobe:LIBRARY:count"},

	// Names come back as they were printed.
	{`bt -q -e 'uprobe:/bin/places:"_ZN4core3ptr$LT$a..b$GT$17h01E" { @ = count(); }' -c places`, "@: 1"},
	{`bt -q -e 'uprobe:/bin/places:$1 { @ = count(); }' '"_ZN4core3ptr$LT$a..b$GT$17h01E"' -c places`, "@: 1"},
	{`bt -l 'uprobe:/bin/places:*core3ptr*'`, `uprobe:/bin/places:"_ZN4core3ptr$LT$a..b$GT$17h01E"`},
	{`explain '/bin/places:"operator+"' | head -1`, `/bin/places:"operator+"`},
	{`bt -l 'uprobe:/bin/generic:*.set'`, `uprobe:/bin/generic:"main.(*pair[go.shape.string,go.shape.struct { X int \"json:\\\"x,y\\\"\" }]).set"`},
	{`bt -q -e "$(bt -l 'uprobe:/bin/generic:*.set') { @ = count(); }" -c generic`, "@: 7"},
	{`bt -q -e 'uprobe:/bin/generic:main.largest* { @ = count(); }' -c generic`, "@: 2"},
	{`explain "/bin/generic:main.(*pair[go.shape.string,go.shape.struct { X int \"json:\\\"x,y\\\"\" }]).set" | grep -c 'Not probed'`, "1"},
	{`bt -q -e 'uprobe:/bin/generic:runtime.osinit { @ = count(); }' -c generic`, "@: 1"}, // not that which leads to it, too
	{`bt -q -e 'uprobe:/bin/generic:type:.eq.main.odd { @ = count(); }' -c generic`, "@: 1"},
	{`for f in generic places LIBRARY; do bt -l "uprobe:$f:*" | while read -r l; do case $l in *main.*|*eq*odd*|*'$'*|*@*) bt -q --dry-run -e "$l { }" 2>&1;; esac; done; done`, ""},

	// Names of C++ and Rust are as in the source, those of code that a program makes as it says, others those of the file.
	{`bt -q -e 'uprobe:/bin/mangled:cpp:"ns::Sq::area(int)" { @[func] = count(); }' -c mangled`, "@[ns::Sq::area(int)]: 2"},
	{`bt -q -e 'uprobe:/bin/mangled:cpp:add { @ = count(); }' -c mangled`, "@: 2"},
	{`bt -q -e 'uprobe:/bin/mangled:"add(int, int)" { @ = count(); }' -c mangled`, "@: 1"},
	{`bt -q -e 'uprobe:/bin/mangled:mycrate::* { @[usym(reg("ip"))] = count(); }' -c mangled`, "@[mycrate::foo]: 1"},
	{`bt -l 'uprobe:/bin/mangled:*Sq::area*'`, "uprobe:/bin/mangled:_ZN2ns2Sq4areaEi"},
	{`explain '/bin/mangled:ns::Sq::area(int)' | grep -c 'Not probed'`, "1"},
	{`bt -q -e 'uprobe:/bin/mangled:_ZN2ns2Sq4areaEi { printf("%s", ustack(2)); }' -c mangled`,
		"ns::Sq::area(int)+0\nInterpreted:hello.js:7+6\nns::Sq::area(int)+0\n[anon]+0x46"},
	{`bt -q -f json -e 'uprobe:/bin/mangled:add* { @[usym(reg("ip"))] = count(); }' -c mangled | grep -c 'add(int, int)'`, "1"},
	{`bt -q -e 'uprobe:LIBRARY:0x1000 { printf("%s", ustack(1)); }' -c versions`, "libnames.so+0x1000"}, // its .init has no name

	// What a distribution strips from a program is found where it puts it.
	{`bt -q -e 'uprobe:/bin/stripped:work { @[usym(reg("ip"))] = count(); }' -c stripped`, "@[work]: 1"},
	{`mv /usr/lib/debug/bin/stripped.debug /tmp; bt -q -e 'uprobe:/bin/stripped:work { @ = count(); }' -c stripped 2>&1 | head -1 | grep -c 'no function work'; mv /tmp/stripped.debug /bin; explain /bin/stripped:work | head -1`, "1\n/bin/stripped:work"},

	// Goroutines change threads between a call and its return: by ugoid, each call finds its return; by tid, none does.
	{`bt -q -e 'uprobe:/bin/moves:main.moves { @t[ugoid] = tid; @calls = count(); } uretprobe:/bin/moves:main.moves /@t[ugoid]/ { if (@t[ugoid] == tid) { @stayed = count(); } @returned = count(); delete(@t, ugoid); } END { print(len(@t)); print(@stayed > 0); clear(@stayed); clear(@t); }' -c moves`,
		"0\nfalse\n@calls: 40\n@returned: 40"},
	{`funclatency -c moves /bin/moves:main.moves | { n=0; while read -r low high count rest; do case $low in '['*) n=$((n+count));; esac; done; echo $n; }`, "40"},
	{`trace -c moves /bin/moves:main.moves /bin/moves:syscall.Nanosleep > /traced; grep -c 'ns.* main.moves' /traced; [ $(grep -c '  syscall.Nanosleep {' /traced) = $(grep -c '^  } ' /traced) ] && echo same`, "40\nsame"},

	// Quotes protect files.
	{`mkdir '/tmp/a:b@c$1 d'; cp /bin/places '/tmp/a:b@c$1 d/p'; cd '/tmp/a:b@c$1 d'; bt -q -e 'uprobe:"/tmp/a:b@c$1 d/p":work { @ = count(); }' -c ./p`, "@: 1"},
	{`cd '/tmp/a:b@c$1 d'; bt -q -e 'uprobe:./p:work { @ = count(); }' -c ./p`, "@: 1"},
	{`bt -l 'uprobe:"/tmp/a:b@c$1 d/p":wor*'; explain '"/tmp/a:b@c$1 d/p":work' | head -1`, "uprobe:\"/tmp/a:b@c$1 d/p\":work\n\"/tmp/a:b@c$1 d/p\":work"},

	// Places are resolved by one code, from the caller's folder.
	{`bt -q -e 'uprobe:/bin/places:work+4 { }' -c places 2>&1 | head -1`, "stdin:1:1-26: ERROR: offset 0x4 is beyond the end of work, which has 0x4 bytes"},
	{`explain /bin/places:work+4 2>&1; glass /bin/places:work+4 2>&1`, "explain: offset 0x4 is beyond the end of work, which has 0x4 bytes in /bin/places\n" +
		"glass: offset 0x4 is beyond the end of work, which has 0x4 bytes in /bin/places"},
	{`funccount -c places '/bin/places:*' | grep -E '(work|again)\]'`, "@[work]: 1"}, // which has another name, too
	{`bt -q -e 'uprobe:/bin/places:outer+6 { @[func] = count(); }' -c places`, "@[inner]: 1"},
	{`bt -q -e 'uretprobe:/bin/places:outer { @ = retval; }' -c places`, "@: 1"},
	{`bt -q -e 'uprobe:/bin/places:outer+1 { }' -c places 2>&1 | grep -c 'outer+0x1 is inside an instruction'`, "1"},
	{`cd /bin; bt -q -e 'uprobe:./places:work { @ = count(); }' -c places; bt -l 'uprobe:./pla*:wor*'`, "@: 1\nuprobe:/bin/places:work"},
	{`cd /bin; explain ./places:work | head -1; explain ../bin/places:work | head -1`, "/bin/places:work\n/bin/../bin/places:work"},
	{`cd /bin; insmod funclatency target=./places:work; places; grep places: /sys/kernel/debug/funclatency; rmmod funclatency`, "/bin/places:work, ns: 1 calls, 0 missed, 0 in progress"},
	{`cd /bin; kwatch w@./places:none ./places 2>&1`, "kwatch: /bin/places: there is no variable none"},

	// Names of the kernel fit in 256 bytes, and are found.
	{`[ $(bt -l 'kprobe:*~*' | wc -l) -gt 5 ] && echo some`, "some"},
	{`bt -l 'kprobe:*~*' | while read -r l; do bt -q --dry-run -e "$l { }" 2>&1; explain "${l#kprobe:}" 2>&1 | grep 'no such'; done`, ""},
}

// TestNames: functions of programs are found by the names that people type, and by those that lists print.
func TestNames(t *testing.T) {
	runsBeside(t)
	scripts := make([]string, len(named))
	for i := range named {
		scripts[i] = fmt.Sprintf("(. /names/%d)", i) // the command line has no room for all of them
	}
	dir := t.TempDir()
	library := strings.NewReplacer("LIBRARY", filepath.Join(dir, "libnames.so"))
	out, _, r := bootScripts(t, normalImage, machine.Config{SMP: 2, Initrd: namesArchive(t, dir, library)}, scripts)
	for i, c := range named {
		var lines []string
		for line := range strings.Lines(strings.ReplaceAll(out[i], "\r", "")) {
			if line = strings.TrimSpace(line); line != "" {
				lines = append(lines, line)
			}
		}
		if got := strings.Join(lines, "\n"); got != library.Replace(c.want) {
			t.Errorf("%s\ngot  %s\nwant %s", c.command, got, c.want)
		}
	}
	if r.Status != 0 && t.Failed() {
		t.Log(said(r))
	}
}

// namesArchive has the programs of testdata/names in /bin, the library where the host has it, and the commands in /names.
func namesArchive(t *testing.T, dir string, library *strings.Replacer) string {
	t.Helper()
	in := func(name string) string { return filepath.Join("testdata/names", name) }
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, args := range [][]string{
		{"gcc", "-O1", "-c", "-DOTHER", "-o", at("other.o"), in("twins.c")},
		{"gcc", "-O1", "-static", "-o", at("twins"), in("twins.c"), at("other.o")},
		{"gcc", "-O1", "-shared", "-fPIC", "-Wl,--version-script=" + in("library.map"), "-s", "-o", at("libnames.so"), in("library.c")},
		{"gcc", "-O1", "-o", at("versions"), in("versions.c"), "-L" + dir, "-lnames", "-Wl,-rpath," + dir},
		{"gcc", "-O1", "-static", "-o", at("places"), in("places.c")},
		{"gcc", "-O1", "-fno-omit-frame-pointer", "-static", "-o", at("mangled"), in("mangled.c")},
		{"go", "build", "-o", at("generic"), in("generic.go")},
		{"objcopy", "--only-keep-debug", at("places"), at("stripped.debug")},
		{"objcopy", "--strip-all", "--add-gnu-debuglink=" + at("stripped.debug"), at("places"), at("stripped")},
		{"go", "build", "-o", at("moves"), in("moves.go")},
	} {
		if err := command(args[0], args[1:]...); err != nil {
			t.Fatal(err)
		}
	}
	a := initrd.Archive{Deps: true}
	if err := os.Mkdir(at("names"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i, c := range named {
		if err := os.WriteFile(at(fmt.Sprintf("names/%d", i)), []byte(library.Replace(c.command)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"names:/names", "twins:/bin/twins", "versions:/bin/versions", "places:/bin/places", "mangled:/bin/mangled", "generic:/bin/generic", "moves:/bin/moves",
		"stripped:/bin/stripped", "stripped.debug:/usr/lib/debug/bin/stripped.debug"} {
		if err := a.Add(at(file)); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Create(at("archive.cpio"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := a.WriteTo(f); err != nil {
		t.Fatal(err)
	}
	return f.Name()
}
