package main

import (
	"regexp"
	"testing"

	"sonde/qemu/machine"
)

// TestLookAtTheMachine: each command prints what QEMU's q35 is known to have; asking for a missing
// device is an error.
func TestLookAtTheMachine(t *testing.T) {
	runsBeside(t)
	r := bootScript(t, normalImage, machine.Config{Machine: "q35", SMP: 2, Script: `
		lspci; lspci -s 1f.0 -nn -x; lspci -s 20
		rdmsr c0000080; rdmsr 277; wrmsr 277 7040600070106; rdmsr 277
		cpuid 40000000; cpuid 0 | head -1
		inb cfb; outb cf8 80000000 4; inb cfc 4; inb 71 8; inb 99999; rdmsr 1000000000; cpuid x; crash none
		peek 4000000; peek 4000001 1; peek 4000000 8; peek fee00030; peek 1; peek 10000000000000 1
		cat /proc/iomem /proc/ioports | grep -v Kernel; lspci -vv -s 1f.2
		cat /proc/iomem | grep Kernel
		acpidump -n MCFG; acpidump -d -n HPET; acpidump -n NONE; cat /sys/firmware/acpi/tables/MCFG | hexdump -n 4
		dmidecode -s system-product-name; dmidecode -t 1 | head -8 | tail -3; cat /sys/class/dmi/id/sys_vendor
		poke 9f000 1234567; peek 9f000; poke 9f000 89 1; peek 9f000; peek 3 9`})
	want := regexp.MustCompile(`(?s)^00:00\.0 Host bridge: Intel Corporation Device 29c0
(.*\n)?00:1f\.0 ISA bridge: Intel Corporation Device 2918 \(rev 02\)
00:1f\.2 SATA controller: Intel Corporation Device 2922 \(rev 02\)
00:1f\.3 SMBus: Intel Corporation Device 2930 \(rev 02\)
00:1f\.0 ISA bridge \[0601\]: Intel Corporation Device \[8086:2918\] \(rev 02\)
00: 86 80 18 29 03 01 00 00 02 00 01 06 00 00 80 00
10:( 00){16}
20:( 00){12} f4 1a 00 11
30:( 00){16}

lspci: "20" is not a slot: give 0 to 1f, in hexadecimal
usage: [^\n]*
d01
7040600070106
7040600070106
40000000 00: eax=40000001 ebx=54474354 ecx=43544743 edx=47435447
00000000 00: eax=0000000d [^\n]*
[0-9a-f]{2}
29c08086
inb: "8" is not a size in bytes: give one of 1 2 4
usage: [^\n]*
inb: 99999 is too large: it may have 16 bits
usage: [^\n]*
rdmsr: 1000000000 is too large: it may have 32 bits
usage: [^\n]*
cpuid: "x" is not a hexadecimal number
usage: [^\n]*
crash: there is no kind none; help crash lists them
usage: [^\n]*
464c457f
45
00010102464c457f
00050014
peek: 4 bytes at 0x1: the size must be 1, 2, 4 or 8, and the address a multiple of it
peek: address 0x10000000000000 has more than 40 bits
00000000-0009efff : System RAM
0009fc00-0009ffff : Reserved
000f0000-000fffff : Reserved
00100000-0ff[0-9a-f]*ffff : System RAM
0ff[0-9a-f]*0000-0fffffff : Reserved
b0000000-bfffffff : Reserved
  b0000000-bfffffff : PCI MMCONFIG 0000 \[bus 00-ff\]
febff000-febfffff : 0000:00:1f\.2
fec00000-fec003ff : IOAPIC 0
fed00000-fed003ff : HPET 0
fed1c000-fed1ffff : Reserved
fee00000-fee00fff : Local APIC
fffc0000-ffffffff : Reserved
fd00000000-ffffffffff : Reserved
0020-0021 : pic1
0040-0043 : timer0
0070-0071 : rtc0
0080-0080 : POST code
00a0-00a1 : pic2
00e9-00e9 : QEMU console
00f4-00f7 : QEMU exit
03f8-03ff : serial
0604-0605 : ACPI PM1a_CNT_BLK
0608-060b : ACPI PM_TMR
0700-073f : 0000:00:1f\.3
0cf8-0cff : PCI conf1
  0cf9-0cf9 : ACPI RESET_REG
c040-c05f : 0000:00:1f\.2
00:1f\.2 SATA controller: Intel Corporation Device 2922 \(rev 02\) \(prog-if 01 \[AHCI 1\.0\]\)
	Subsystem: Red Hat, Inc\. Device 1100
	Control: I/O\+ Mem\+ [^\n]*
	Status: Cap\+ [^\n]*
(	Latency: 0
)?	Interrupt: pin A routed to IRQ 10
	Region 4: I/O ports at c040 \[size=32\]
	Region 5: Memory at febff000 \(32-bit, non-prefetchable\) \[size=4K\]
	Capabilities: \[80\] MSI: Enable- Count=1/1 Maskable- 64bit\+
		Address: 0000000000000000  Data: 0000
	Capabilities: \[a8\] SATA HBA v1\.0 BAR4 Offset=00000004

  04000000-04[0-9a-f]*fff : Kernel code
  04[0-9a-f]*000-04[0-9a-f]*fff : Kernel rodata
  04[0-9a-f]*000-04[0-9a-f]*fff : Kernel data
  04[0-9a-f]*000-0[45][0-9a-f]*fff : Kernel symbols
  0[45][0-9a-f]*00000-0[56][0-9a-f]*fffff : Kernel probes
  0[56][0-9a-f]*00000-0[56][0-9a-f]*fffff : Kernel programs
MCFG @ 0x[0-9A-F]{16}
    0000: 4D 43 46 47 3C 00 00 00 01 [0-9A-F]{2} 42 4F 43 48 53 20  MCFG<\.\.\.\.[^\n]BOCHS 
    0010: 42 58 50 43 20 20 20 20 01 00 00 00 42 58 50 43  BXPC    \.\.\.\.BXPC
    0020: 01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 B0  \.{16}
    0030: 00 00 00 00 00 00 00 FF 00 00 00 00              \.{12}

HPET @ 0x[0-9a-f]+: 56 bytes
  revision 1, made by "BOCHS" [^\n]*
  block 0x8086a201: vendor 0x8086, 3 comparators, counts 64 bits
  registers: memory 0xfed00000, 0 bits
  number: 0
  least ticks without loss: 0

acpidump: there is no table NONE
00000000  4d 43 46 47 +\|MCFG\|
Standard PC \(Q35 \+ ICH9, 2009\)
System Information
	Manufacturer: QEMU
	Product Name: Standard PC \(Q35 \+ ICH9, 2009\)
QEMU
01234567
01234589
peek: "9" is not a size in bytes: give one of 1 2 4 8
usage: [^\n]*
$`)
	if !want.Match(r.Stdout) {
		t.Error(said(r))
	}
}
