package main

import (
	"bytes"
	"context"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sonde/qemu/machine"
)

// TestRelease makes a release, and starts each part of it as somebody would who has nothing else. It has
// launchers for two systems, and boots the stick; in the long run, it has all, and boots each medium.
func TestRelease(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the launcher for other systems")
	}
	qemu, err := machine.Find()
	if err != nil {
		t.Skip(err)
	}
	long := os.Getenv("SONDE_LONG") != ""
	if !long {
		all := systems
		defer func() { systems = all }()
		systems = append(all[:1:1], all[4])
	}
	dir, err := release()
	if err != nil {
		t.Fatal(err)
	}
	t.Run("launcher", func(t *testing.T) { carried(t, dir, filepath.Dir(qemu)) })
	t.Run("media", func(t *testing.T) { booted(t, dir, qemu, long) })
	check := exec.Command("sha256sum", "--check", "--strict", checksums)
	check.Dir = dir
	if out, err := check.CombinedOutput(); err != nil || bytes.Count(out, []byte("OK\n")) < 5+len(systems) {
		t.Errorf("%v\n%s", err, out)
	}
	for _, s := range systems {
		name := "sonde-" + s.goos + "-" + s.goarch + s.suffix
		if !bytes.Contains(readme, []byte(name)) {
			t.Errorf("README.txt does not name %s", name)
		}
		if got := target(filepath.Join(dir, name)); got != s.goos+" "+s.goarch {
			t.Errorf("%s is for %q", name, got)
		}
	}
}

// target reads from an executable what it is for.
func target(path string) string {
	if f, err := elf.Open(path); err == nil {
		defer f.Close()
		return map[elf.Machine]string{elf.EM_X86_64: "linux amd64", elf.EM_AARCH64: "linux arm64"}[f.Machine]
	}
	if f, err := macho.Open(path); err == nil {
		defer f.Close()
		return map[macho.Cpu]string{macho.CpuAmd64: "darwin amd64", macho.CpuArm64: "darwin arm64"}[f.Cpu]
	}
	f, err := pe.Open(path)
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	return map[uint16]string{pe.IMAGE_FILE_MACHINE_AMD64: "windows amd64", pe.IMAGE_FILE_MACHINE_ARM64: "windows arm64"}[f.Machine]
}

// carried starts the launcher in a folder with the kernel and nothing else, where PATH has QEMU alone.
func carried(t *testing.T, release, path string) {
	dir := t.TempDir()
	for _, name := range []string{kernel, "sonde-linux-amd64"} {
		b, err := os.ReadFile(filepath.Join(release, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args   []string
		out    string
		status int
	}{
		{[]string{"-timeout", "30m", "-q", "-c", "myprog -n 1; exit 7"}, "myfunc", 7},
		{[]string{"-with", "."}, "-with needs Go and the source: a release has one finished image", machine.StatusUsage},
		{[]string{"-h"}, "usage: sonde-linux-amd64 [options]", 0},
	} {
		cmd := exec.Command(filepath.Join(dir, "sonde-linux-amd64"), c.args...)
		cmd.Dir, cmd.Env = t.TempDir(), []string{"PATH=" + path}
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != c.status || !bytes.Contains(out, []byte(c.out)) {
			t.Errorf("%q: %v, want status %d and %q\n%s", c.args, err, c.status, c.out, out)
		}
	}
}

// booted boots a PC from the stick to the prompt, or from each medium: what package stick makes is booted elsewhere, too.
func booted(t *testing.T, dir, qemu string, each bool) {
	for name, args := range map[string]string{
		"stick": "-drive if=none,id=stick,format=raw,readonly=on,file=" + dir + "/sonde.iso -device qemu-xhci -device usb-storage,drive=stick",
		"CD":    "-boot d -cdrom " + dir + "/sonde.iso",
		"net":   "-boot n -device e1000,netdev=net -netdev user,id=net,tftp=" + dir + "/netboot,bootfile=/boot/grub/i386-pc/core.0",
	} {
		if name != "stick" && !each {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(context.Background(), machine.Patience(30*time.Minute))
			defer cancel()
			cmd := exec.CommandContext(ctx, qemu, append(strings.Fields(args), "-machine", "q35", "-m", "512M", "-display", "none", "-monitor", "none", "-serial", "stdio")...)
			out, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			defer cmd.Wait()
			defer cmd.Process.Kill()
			var said bytes.Buffer
			b := make([]byte, 4096)
			for !strings.Contains(said.String(), "sonde# ") {
				n, err := out.Read(b)
				said.Write(b[:n])
				if err != nil {
					t.Fatalf("no prompt: %v\n%s", err, &said)
				}
			}
			go io.Copy(io.Discard, out)
		})
	}
}
