package main

import (
	"regexp"
	"testing"

	"sonde/qemu/machine"
)

// TestLookAtTheMachine: each command says what QEMU's q35 is known to have, and what is
// not there is an error.
func TestLookAtTheMachine(t *testing.T) {
	runsScripts(t)
	r := bootScript(t, normalImage, machine.Config{Machine: "q35", SMP: 2, Script: `
		lspci
		rdmsr c0000080; rdmsr 277; wrmsr 277 7040600070106; rdmsr 277
		cpuid 40000000; cpuid 0 | head -1
		inb cfb; outb cf8 80000000 4; inb cfc 4; inb 71 8
		peek 4000000; peek 4000001 1; peek 4000000 8; peek fee00030; peek 1; peek 10000000000000 1
		poke 9f000 1234567; peek 9f000; poke 9f000 89 1; peek 9f000; peek 3 9`})
	want := regexp.MustCompile(`(?s)^00:00\.0 Host bridge \[0600\]: Vendor 8086 Device 29c0 \[8086:29c0\]
(.*\n)?00:1f\.0 ISA bridge \[0601\]: Vendor 8086 Device 2918 \[8086:2918\] \(rev 02\)
00:1f\.2 SATA controller \[0106\]: Vendor 8086 Device 2922 \[8086:2922\] \(rev 02\)
00:1f\.3 SMBus \[0c05\]: Vendor 8086 Device 2930 \[8086:2930\] \(rev 02\)
d01
7040600070106
7040600070106
40000000 00: eax=40000001 ebx=54474354 ecx=43544743 edx=47435447
00000000 00: eax=0000000d [^\n]*
[0-9a-f]{2}
29c08086
inb: 8 is no size
usage: [^\n]*
464c457f
45
00010102464c457f
00050014
peek: inspect: 4 bytes at 0x1: invalid argument
peek: inspect: address 0x10000000000000 has more than 40 bits: invalid argument
01234567
01234589
peek: 9 is no size
usage: [^\n]*
$`)
	if !want.Match(r.Stdout) {
		t.Error(said(r))
	}
}
