// Package replay shows recordings of the glass box in a browser: what glass -j and glass -o -j print becomes a
// fragment of HTML that has all frames, with a script that steps through them. It runs on the host and needs no
// kernel.
//
// A Kind is a recording that lies in the tree; Page is all of them in one file, which needs no server and no network. It
// opens no others: the page of qemu/web does, without a kernel by go run ./qemu/web -fake. A second maker of views, in
// JavaScript, was in the file for that, and was as long as the first.
package replay
