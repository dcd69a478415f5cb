package shell

import (
	"bytes"
	"strings"
	"testing"

	"sonde/kernel/firmware"
	"sonde/kernel/smbios"
)

// TestFirmware: the output of acpidump and dmidecode on a machine with a name, a root table and two
// other tables, one of which is damaged.
func TestFirmware(t *testing.T) {
	mem := make([]byte, 4096)
	for at, head := range map[int]string{0x100: "RSDT\x30", 0x200: "HPET\x38", 0x300: "MCFG\x01", 0x400: "WAET\x24"} {
		copy(mem[at:], head)
	}
	copy(mem[0x124:], "\x00\x02\x00\x00\x00\x03\x00\x00\x00\x04\x00\x00")
	m := fakeMachine()
	m.Firmware = &firmware.Firmware{Mem: bytes.NewReader(mem), Root: 0x100, DMI: &smbios.Tables{Major: 3, All: []smbios.Structure{
		{Type: 1, Data: []byte{1, 6, 0, 1, 1, 2}, Strings: []string{"ACME", "Anvil"}}, {Type: 2, Data: []byte{2, 4, 0, 2}},
	}}}
	for _, c := range []struct {
		script, want string
		status       int
	}{
		{"acpidump -d -n WAET", "WAET @ 0x400: 36 bytes\n  the checksum is wrong by 0x55\n", statusError},
		{"acpidump 2>&1 | grep @", "RSDT @ 0x0000000000000100\nHPET @ 0x0000000000000200\nWAET @ 0x0000000000000400\n", 0},
		{"acpidump", "acpidump: acpi: table at 0x300: MCFG has an impossible length of 1 bytes\n", statusError},
		{"acpidump HPET", "usage: acpidump", statusUsage},
		{"dmidecode -s system-manufacturer", "ACME\n", 0},
		{"dmidecode -s nonsense", "usage: dmidecode", statusUsage},
		{"dmidecode -t 1", "Handle 0x0000, DMI type 1, 6 bytes\nSystem Information\n\tManufacturer: ACME\n\tProduct Name: Anvil\n\n", 0},
		{"dmidecode -t 256", "usage: dmidecode", statusUsage},
		{"dmidecode", "DMI type 2", 0},
	} {
		var b buffer
		if status := New(m, &b).Run(c.script); status != c.status || !strings.Contains(b.String(), c.want) {
			t.Errorf("%s: status %d\n%s\nwant %d and\n%s", c.script, status, b.String(), c.status, c.want)
		}
	}
	for _, script := range []string{"acpidump", "dmidecode"} {
		if out, status := runScript(script); status != statusError || !strings.Contains(out, "function not implemented") {
			t.Errorf("%s on a machine that has none: %d, %q", script, status, out)
		}
	}
}
