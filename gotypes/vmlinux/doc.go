// Package vmlinux writes the types of the kernel as BTF, for tools that look for them in a file vmlinux
// and expect them to be of C.
//
// Functions and named types have C names (kallsyms.CNames), integers the names of C's that are as long.
// What C does not have looks like this:
//
//	string     struct string { unsigned char *str; long len; }
//	[]T        struct slice_T { T *array; long len; long cap; }
//	interface  struct interface { void *tab; void *data; }, or with the name it has
//	void *     a map, a channel, a function, unsafe.Pointer
//	struct     without a name: what a function with several results returns, one after the other
//
// A generic function has a parameter void *dictionary, as Go passes it. BTF does not say in which
// registers arguments are: they are those of Go, in the order of gotypes.Assign.
package vmlinux
