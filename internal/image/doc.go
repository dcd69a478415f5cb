// Package image builds the bootable kernel image on the host.
//
// The stock Go linker writes an ordinary static Linux executable. Three things
// are missing before QEMU (or any PVH loader) or GRUB (or any Multiboot2 loader)
// can start it and the kernel can name its own addresses; Finish adds them to
// the linked file:
//
//   - a PT_NOTE with the Xen note PHYS32_ENTRY, the address where a PVH loader
//     enters in 32-bit mode;
//   - a Multiboot2 header in the first page, with such an address of its own;
//   - the symbol table (package kallsyms) as another read-only PT_LOAD behind
//     the bss, with its address and size stored in a variable of the kernel;
//     behind it the addresses that are entered by hidden ways (package
//     kallsyms/entries), if the kernel links the package that reads them.
//
// The program headers grow at the place where they are; the section headers
// that the linker puts right behind them move to the end of the file. Nothing
// else moves, so gdb and objdump read the result as they read the input.
//
// Rejected: an external linker with a linker script (needs a C toolchain and
// loses Go's own layout); a second link with the table as a Go variable
// (addresses change between the links, and the build takes twice as long).
package image
