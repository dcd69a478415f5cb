package firmware

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"sonde/kernel/smbios"
	"sonde/kernel/vfs"
)

// table is an ACPI table without content.
func table(signature, body string) string {
	b := make([]byte, 36)
	copy(b, signature)
	binary.LittleEndian.PutUint32(b[4:], uint32(len(b)+len(body)))
	return string(b) + body
}

func TestFiles(t *testing.T) {
	mem := make([]byte, 4096)
	copy(mem[0x100:], table("XSDT", "\x00\x02\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00"))
	copy(mem[0x200:], table("SSDT", "one"))
	copy(mem[0x300:], table("HPET", ""))
	copy(mem[0x400:], table("SSDT", "two"))
	dmi := &smbios.Tables{Entry: []byte("_SM3_"), Raw: []byte("raw"), All: []smbios.Structure{
		{Type: 1, Data: []byte{1, 6, 0, 0, 1, 2}, Strings: []string{"ACME", "Anvil"}},
	}}
	f := &Firmware{Mem: bytes.NewReader(mem), Root: 0x100, Wide: true, DMI: dmi}
	tree := vfs.New()
	if err := f.Mount(tree); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"firmware/acpi/tables/SSDT2":             table("SSDT", "two"),
		"firmware/acpi/tables/HPET":              table("HPET", ""),
		"class/dmi/id/sys_vendor":                "ACME\n",
		"class/dmi/id/product_name":              "Anvil\n",
		"firmware/dmi/tables/DMI":                "raw",
		"firmware/dmi/tables/smbios_entry_point": "_SM3_",
	} {
		if got, err := tree.ReadFile("sys/" + name); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	names, err := fs.ReadDir(tree, "sys/firmware/acpi/tables")
	if err != nil || len(names) != 3 {
		t.Error(names, err)
	}
	if _, err := tree.ReadFile("sys/firmware/acpi/tables/SSDT3"); !errors.Is(err, syscall.ENOENT) {
		t.Error(err)
	}
}

// TestMachineThatTellsNothing has no files, and says so.
func TestMachineThatTellsNothing(t *testing.T) {
	f, tree := &Firmware{}, vfs.New()
	if err := f.Mount(tree); err != nil {
		t.Fatal(err)
	}
	if _, err := tree.Stat("sys"); !errors.Is(err, syscall.ENOENT) {
		t.Error(err)
	}
	if _, err := f.Tables(); !errors.Is(err, syscall.ENODEV) || !strings.Contains(err.Error(), "no ACPI") {
		t.Error(err)
	}
}
