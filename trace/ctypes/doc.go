// Package ctypes reads what compilers say of a program in C or C++ (DWARF 3 to 5, of gcc -g): the arguments of
// functions and where they are at the entry, structures, and where the code of a line begins. It makes them
// types of package lang.
//
// Arguments are where the System V ABI has them. That holds for every function but those whose convention
// the compiler has changed, which it says in their names (f.isra.0, f.constprop.0): of these, nothing is known.
//
// Types are looked at when a script asks for them. Files are not trusted: what is wrong in one gives errors,
// and what is too large or too deep is left out.
package ctypes
