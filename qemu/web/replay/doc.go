// Package replay shows recordings of the glass box in a browser: what glass -j and glass -o -j print becomes a
// fragment of HTML that has all frames, with a script that steps through them. It runs on the host and needs no
// kernel.
//
// A Kind is a recording that lies in the tree; Page is all of them in one file, which needs no server and no network.
// It can open further recordings: open.js makes a View of them as view.go does, and puts it into an empty fragment
// (fragment.html) that the page has for this. So there is a second maker of views, in 150 lines of JavaScript, which
// TestInBrowser compares with the first. The first compiled to WebAssembly would bring Go's runtime into the file.
package replay
