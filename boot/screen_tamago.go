//go:build tamago

package main

import (
	"unsafe"

	"sonde/arch/amd64"
	"sonde/boot/handoff"
	"sonde/kernel/die"
	"sonde/kernel/mm"
	"sonde/kernel/printk"
	"sonde/kernel/screen"
)

// startScreen makes the loader's framebuffer a console, if there is one of a known kind that boot's
// tables map.
func startScreen() {
	f := &loader.Framebuffer
	if mode, size := pictureMode(f); size != 0 && f.PA+size <= bootMapped {
		mode.Base = unsafe.Pointer(directBase + uintptr(f.PA)) // Safe because: it is mapped, and the loader says it is the screen's
		screen.Main.Start(mode)
	}
}

// mapScreen maps the framebuffer in the kernel's tables. Stores to it may be combined: single
// pixels are slow.
func mapScreen() {
	f := &loader.Framebuffer
	mode, size := pictureMode(f)
	if size == 0 {
		return
	}
	start := f.PA &^ (pageSize - 1)
	end := (f.PA + size + pageSize - 1) &^ (pageSize - 1)
	check(mm.Tables.Map(screenBase, start, end-start, rw|amd64.PTE_PWT), f.PA)
	screenAt = screenBase + uintptr(f.PA-start)
	screenMode = mode
}

// Results of mapScreen for moveScreen.
var (
	screenAt   uintptr
	screenMode screen.Mode
)

// moveScreen switches to the mapping in the kernel's tables.
func moveScreen() {
	if screenAt == 0 {
		return
	}
	base := *(*unsafe.Pointer)(unsafe.Pointer(&screenAt)) // Safe because: it stays mapped
	if screen.Main.On() {
		screen.Main.Move(base)
		return
	}
	screenMode.Base = base
	screen.Main.Start(screenMode)
}

// showCode makes a crash show its essence as a picture, if there is a screen.
func showCode() {
	if !screen.Main.On() {
		return
	}
	if err := die.ShowCode(); err != nil {
		printk.Warn("screen: a crash will show no code: %s", err.Error())
	}
}

// pictureMode returns how to draw on f, and its size in bytes; 0 if its kind is not supported.
func pictureMode(f *handoff.Framebuffer) (m screen.Mode, size uint64) {
	if !f.Drawable() {
		return m, 0
	}
	m = screen.Mode{Pitch: int(f.Pitch), Width: int(f.Width), Height: int(f.Height), Bytes: int(f.Bits+7) / 8,
		Red: screen.Colour(f.Red), Green: screen.Colour(f.Green), Blue: screen.Colour(f.Blue), Text: f.Kind == handoff.Text}
	return m, uint64(f.Pitch) * uint64(f.Height)
}
