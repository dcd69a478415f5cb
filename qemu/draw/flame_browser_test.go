package draw

import (
	"fmt"
	"strings"
	"testing"

	"sonde/internal/chromium"
)

// flameCheck zooms and searches in the first picture of a page, and tells how that and the second one look then.
const flameCheck = `
const [one, two] = document.querySelectorAll("svg"), state = {}, of = (svg, name) => [...svg.querySelectorAll('[data-name="' + name + '"]')].pop();
const looks = svg => ["main", "a", "b", "c"].map(n => n + " " + of(svg, n).querySelector("rect").getAttribute("width") + of(svg, n).getAttribute("class").replace("frame", "")).join(", ")
	+ "; " + svg.querySelector(".matched").textContent;
flame(one, state);
of(one, "b").dispatchEvent(new KeyboardEvent("keydown", {key: "Enter"}));
window.prompt = () => "B";
one.querySelector(".search").dispatchEvent(new MouseEvent("click"));
of(one, "b").dispatchEvent(new FocusEvent("focus"));
const says = one.querySelector(".details").textContent;
flame(two, state);
parent.postMessage([says, looks(one), looks(two)].join("\n"), "*");`

// TestFlameInBrowser: a key zooms, a search marks, and a later picture begins with what the one before was asked.
func TestFlameInBrowser(t *testing.T) {
	var page strings.Builder
	fmt.Fprintf(&page, "<!doctype html><style>%s</style>", FlameCSS)
	for n := range int64(2) {
		f := Flame{Root: &Frame{Name: "all"}, Unit: "samples"}
		f.Root.Count(stack("main", "a"), 30+10*n, false)
		f.Root.Count(stack("main", "b", "c"), 50-10*n, false)
		f.Root.Count(stack("a", "b"), 20, false)
		if err := f.Fragment(&page); err != nil {
			t.Fatal(err)
		}
	}
	fmt.Fprintf(&page, "<script>%s%s</script>", FlameJS, flameCheck)
	got := chromium.Tells(t, page.String(), 1280, false)
	const want = `b: 50 samples, 50.00 %
main 1200 parent, a 720 hidden, b 1200 found, c 1200; B: 70.00 %
main 1200 parent, a 1200 hidden, b 1200 found, c 1200; B: 60.00 %`
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}
