// Package browser tests the page in Chromium. It is a module of its own, so that the kernel's does not get chromedp.
package browser

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// patience ends what hangs; nothing depends on how fast it is.
const patience = 2 * time.Minute

// address is that of the page, and recordings the file with all recordings, both by TestInBrowser of qemu/web.
var address, recordings = os.Getenv("SONDE_PAGE"), os.Getenv("SONDE_REPLAY")

// chromium is the browser, which all tests share.
var chromium context.Context

func TestMain(m *testing.M) {
	path := os.Getenv("SONDE_CHROMIUM")
	if path == "" || address == "" {
		fmt.Println("skipped: go test ./qemu/web runs these tests, where there is a chromium")
		return
	}
	os.Exit(run(m, path))
}

// run runs all tests in a browser.
func run(m *testing.M, path string) int {
	folder, err := os.MkdirTemp("", "sonde-browser-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.UserDataDir(folder), chromedp.DisableGPU,
		chromedp.Flag("disable-background-networking", true), chromedp.WindowSize(1280, 900))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	defer cancel()
	chromium, cancel = chromedp.NewContext(ctx)
	defer cancel()
	if err := chromedp.Do(chromium); err != nil { // starts it; tabs are of this browser then
		panic(err)
	}
	defer chromedp.Cancel(chromium)
	return m.Run()
}

// A tab is one of the browser's.
type tab struct {
	*testing.T
	ctx context.Context

	mu       sync.Mutex
	wrong    []string // what the browser complains about; guarded by mu
	requests []string // to elsewhere; guarded by mu
}

// browser is a browser of its own to the server: it shares nothing with others.
func browser(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := chromedp.NewContext(chromium, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	return ctx
}

// open opens an address in a new tab.
func open(t *testing.T, ctx context.Context, address string) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &tab{T: t, ctx: ctx}
	if err := chromedp.Listen(ctx, func(e any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch e := e.(type) {
		case *runtime.EventExceptionThrown:
			b.wrong = append(b.wrong, fmt.Sprintf("%+v", e.ExceptionDetails.Exception))
		case *log.EventEntryAdded:
			if e.Entry.Level == log.EntryLevelError {
				b.wrong = append(b.wrong, e.Entry.Text+" "+e.Entry.URL)
			}
		case *network.EventRequestWillBeSent:
			if u := e.Request.URL; !strings.HasPrefix(u, "http://127.0.0.1:") && u != "file://"+recordings && !strings.HasPrefix(u, "data:") && !strings.HasPrefix(u, "blob:") {
				b.requests = append(b.requests, u)
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.Navigate(address))
	t.Cleanup(func() { // before the tab is closed
		if t.Failed() {
			b.picture(filepath.Join(os.TempDir(), "sonde-"+strings.ReplaceAll(t.Name(), "/", "-")+".png"))
		}
	})
	return b
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.Fatal(err)
	}
}

// until waits until an expression is true in the page.
func (b *tab) until(expression string) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.Poll[chromedp.Void]("Boolean("+expression+")", chromedp.WithPollingTimeout(patience))); err != nil {
		said, _ := chromedp.Run(b.ctx, chromedp.Evaluate[string](`document.getElementById("said")?.textContent + " | " + document.getElementById("kernel")?.textContent`))
		b.Fatalf("%s does not become true: %v; the page says %q", expression, err, said)
	}
}

// is evaluates an expression of the page.
func (b *tab) is(expression string) string {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[string]("String("+expression+")"))
	if err != nil {
		b.Fatal(err)
	}
	return v
}

// script executes JavaScript.
func script(text string) chromedp.Action[chromedp.Void] {
	return chromedp.Evaluate[chromedp.Void](text)
}

// scheme has pages be shown as whoever prefers light or dark has set it.
func scheme(name string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, to *chromedp.Target) error {
		_, err := cdp.Call(ctx, to, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}})
		return err
	})
}

// submit sends a form as its button does.
func submit(form string) chromedp.Action[chromedp.Void] {
	return script("document.querySelector(" + strconv.Quote(form) + ").requestSubmit()")
}

func (b *tab) press(keys ...string) {
	b.Helper()
	b.do(script(`document.activeElement.blur()`))
	for _, k := range keys {
		b.do(chromedp.KeyEvent(k))
	}
}

// zooms has a key zoom the picture of stacks and a search mark frames: so does the next picture, too.
func (b *tab) zooms() {
	b.Helper()
	const looks = `[...document.querySelectorAll("#stacks .frame")].filter(g => g.dataset.name === "vfs.Read").map(g => g.classList.contains("hidden") + g.querySelector("rect").getAttribute("width")).sort().join() +
		"; " + document.querySelector("#stacks .matched").textContent.split(":")[0]`
	b.do(script(`prompt = () => "cat"; document.querySelector("#stacks .search").dispatchEvent(new MouseEvent("click"));
		[...document.querySelectorAll("#stacks .frame")].find(g => g.dataset.name === "shell.cat").dispatchEvent(new KeyboardEvent("keydown", {key: "Enter"}));
		shown = document.querySelector("#stacks svg")`))
	now := b.is(looks)
	if !strings.Contains(now, "false1200") || !strings.Contains(now, "true") || !strings.HasSuffix(now, "; cat") {
		b.Errorf("a key has not zoomed, or a search not marked: %s", now)
	}
	b.until(`document.querySelector("#stacks svg") !== shown`)
	if next := b.is(looks); !strings.Contains(next, "false1200") || !strings.HasSuffix(next, "; cat") {
		b.Errorf("the next picture has %s, not %s", next, now)
	}
}

// complains fails if the browser had to complain of the page, or that has asked others than its server.
func (b *tab) complains() {
	b.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.wrong)+len(b.requests) > 0 {
		b.Errorf("the browser complains: %q; requests to elsewhere: %q", b.wrong, b.requests)
	}
}

func (b *tab) picture(file string) {
	if png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot()); err == nil {
		os.WriteFile(file, png, 0o644)
		b.Logf("see %s", file)
	}
}

const counted = `Number(document.querySelector("#L33 output")?.textContent) `

// TestPage is what a new user does: find a function, click a line, see it count, run a command, record a hit and step
// through it, and stop.
func TestPage(t *testing.T) {
	b := open(t, browser(t), address)
	b.until(`document.querySelector("#kernel").textContent.includes("2 CPUs")`)
	if u := b.is("location.href"); strings.Contains(u, "t=") {
		t.Errorf("the token is in the address: %s", u)
	}
	b.do(chromedp.SendKeys("#q", "vfs.Read"))
	b.until(`document.querySelector("#found button")?.textContent === "sonde/kernel/vfs.Read"`)
	b.do(chromedp.SendKeys("#q", kb.Enter))
	b.until(`document.querySelector("#L33 .mark")?.textContent === "↷"`)
	b.do(chromedp.Click("#L33 .mark"), chromedp.SendKeys("#line", "cat /proc/version"+kb.Enter))
	for n := 0; n < 100 && b.is(counted+"> 0") != "true"; n++ { // a command may end before the script has begun
		b.do(submit("#run"))
		b.until(`document.querySelector("#ran pre").textContent.includes("status 0")`)
	}
	b.until(counted + "> 0")
	b.until(`document.querySelector("#ran pre").textContent.includes("status 0")`)
	if c := b.is(`document.querySelector("#ran pre").textContent`); len(c) < 20 {
		t.Errorf("the command printed %q", c)
	}
	b.do(submit("#record"))
	b.until(`document.querySelectorAll(".rp-frame").length > 3`)
	b.press(kb.ArrowRight, kb.ArrowRight)
	b.until(`document.querySelector(".rp-status").textContent.startsWith("3 of ")`)
	if p := os.Getenv("SONDE_PICTURE"); p != "" {
		b.picture(p)
	}
	b.press("h", kb.ArrowRight)
	b.until(`[...document.querySelectorAll(".rp-guess")].some(at => !at.hidden && at.offsetParent)`)
	b.press("h")
	b.do(script(`give = text => { const files = new DataTransfer(), input = document.querySelector("#kept [name=file]"); files.items.add(new File([text], "x.json")); input.files = files.files; input.dispatchEvent(new Event("change")); };
		document.querySelector("#kept [name=beside]").checked = true; give(state.raw.replace('"vfs.Read+0x0"', '"<b>mine</b>"'))`))
	b.until(`[...document.querySelectorAll("#replays .rp h2")].map(h => h.textContent).join().replace(/\s+/g, " ").includes("<b>mine</b>")`)
	if n := b.is(`document.querySelectorAll("#replays .rp").length`); n != "2" {
		t.Errorf("%s recordings are shown, of two", n)
	}
	b.press(" ")
	frozen := b.is(counted)
	b.until(`document.querySelector("#said").textContent.startsWith("frozen")`)
	if now := b.is(counted); now != frozen {
		t.Errorf("%s, %s: it is frozen", frozen, now)
	}
	b.press(" ")

	b.do(chromedp.Reload()) // the address brings all of it back
	b.until(`state.page > 1 && ` + counted + `>= 0 && document.querySelector("#L33.counts") !== null`)
	b.do(chromedp.Click("#L33 .mark"))
	b.until(`document.querySelector("#L33.counts") === null`)

	for _, kind := range []string{"hist", "stacks", "timeline"} {
		b.do(chromedp.Click("#tab-"+kind), submit("#"+kind+" form"))
		b.do(chromedp.SetValue("#line", "while true; do cat /proc/version; sleep 0.2; done"), submit("#run")) // something has to happen
		b.until(`document.querySelector("#` + kind + ` svg") !== null`)
		if p := os.Getenv("SONDE_PICTURE"); p != "" {
			b.picture(strings.TrimSuffix(p, ".png") + "-" + kind + ".png")
		}
		if kind == "stacks" {
			b.zooms()
		}
		b.do(chromedp.Click("#" + kind + " [name=stop]"))
		b.until(`document.querySelector("#` + kind + ` [name=stop]").disabled`)
	}
	b.do(chromedp.Click("#tab-log"))
	b.until(`document.querySelector("#log pre").textContent.includes("booting")`)
	b.do(chromedp.Click("#tab-probes"))
	b.until(`document.querySelector("#probes pre").textContent.length > 10`)
	b.press("d", "p")
	if b.is(`document.body.className + document.documentElement.dataset.theme`) != "presentsdark" {
		t.Error("no presentation in the dark")
	}
	b.complains()
}

// TestReboot: when the kernel ends, the page says so and keeps what it has; when it is back, the page counts again.
func TestReboot(t *testing.T) {
	b := open(t, browser(t), address+"#f=vfs.Read&c=line:kernel/vfs/io.go:33")
	b.until(counted + "> 0")
	b.do(script(`kernels = []; new MutationObserver(() => kernels.push(document.querySelector("#kernel").textContent)).observe(document.querySelector("#kernel"), {childList: true})`))
	before := b.is(`state.lines.get("line:kernel/vfs/io.go:33").run.id`)
	b.do(chromedp.SetValue("#line", "reboot"), submit("#run"))
	b.until(`kernels.includes("the kernel has ended")`)
	b.until(`kernels.at(-1).includes("CPUs") && (state.lines.get("line:kernel/vfs/io.go:33")?.run?.id ?? ` + before + `) > ` + before + ` && ` + counted + `> 0`)
	b.complains()
}

// TestReplay has testdata/replay.js use the page of all recordings, on a wide screen and on a narrow one, light and dark.
func TestReplay(t *testing.T) {
	check, err := os.ReadFile("testdata/replay.js")
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, browser(t), "file://"+recordings)
	for as, width := range map[string]int64{"light": 1280, "dark": 360} {
		b.do(chromedp.EmulateViewport(width, 900), scheme(as), chromedp.Navigate("file://"+recordings))
		b.do(chromedp.Reload())
		shown := b.is(`innerWidth + (matchMedia("(prefers-color-scheme: dark)").matches ? " dark" : " light")`)
		if want := fmt.Sprintf("%d %s", width, as); shown != want {
			t.Errorf("%s is shown, not %s", shown, want)
		}
		b.do(script(string(check) + `; checked().then(text => { globalThis.told = text; })`))
		b.until(`globalThis.told`)
		got, took, _ := strings.Cut(b.is("told"), "; a step takes ")
		if got != "" {
			t.Errorf("%s: %s", shown, got)
		}
		t.Logf("%s: a step takes %s", shown, took)
	}
	b.complains()
}

// TestNarrow: on 360 pixels nothing is wider than the screen, everything has a name and is reached by Tab.
func TestNarrow(t *testing.T) {
	b := open(t, browser(t), address)
	b.do(chromedp.EmulateViewport(360, 740))
	b.until(`document.querySelector("#kernel").textContent.includes("CPUs")`)
	b.do(chromedp.SetValue("#q", "vfs.Read"), submit("#find"))
	b.until(`document.querySelector("#L33 .mark") !== null`)
	if w := b.is("document.documentElement.scrollWidth"); w != "360" {
		t.Errorf("the page is %s pixels wide, on 360: %s", w, b.is(`[...document.querySelectorAll("*")].filter(e => e.getBoundingClientRect().right > 361 && !e.closest(".code")).map(e => e.tagName + "#" + e.id + "." + e.className).join()`))
	}
	nameless := b.is(`[...document.querySelectorAll("button, input, select, textarea, [role=tab], svg")].filter(e => !(e.getAttribute("aria-label") || e.labels?.length || e.textContent.trim() || e.title)).map(e => e.outerHTML).join()`)
	if nameless != "" {
		t.Errorf("without a name: %s", nameless)
	}
	if p := os.Getenv("SONDE_PICTURE"); p != "" {
		b.picture(strings.TrimSuffix(p, ".png") + "-narrow.png")
	}
}

// TestTabs: a fifth tab is told why it gets nothing, a closed one makes room, and a stranger's browser gets nothing.
func TestTabs(t *testing.T) {
	ctx := browser(t)
	first := open(t, ctx, address)
	base := first.is("location.origin")
	tabs := []*tab{first}
	for range 3 {
		tabs = append(tabs, open(t, ctx, base))
	}
	for _, b := range tabs {
		b.until(`document.querySelector("#kernel").textContent.includes("CPUs")`)
	}
	fifth := open(t, ctx, base)
	fifth.until(`document.querySelector("#said").textContent.includes("close one")`)
	chromedp.Cancel(tabs[3].ctx)
	fifth.until(`fetch("/", {method: "HEAD"}) && true`)
	for n := 0; ; n++ {
		fifth.do(chromedp.Reload())
		fifth.until(`/close one/.test(document.querySelector("#said").textContent) || document.querySelector("#kernel").textContent.includes("CPUs")`)
		if strings.Contains(fifth.is(`document.querySelector("#kernel").textContent`), "CPUs") {
			break
		}
		if n > 100 {
			t.Fatal("a tab was closed, and its place is not free")
		}
	}
	stranger := open(t, browser(t), base)
	if !strings.Contains(stranger.is("document.body.textContent"), "open the address that the launcher has printed") {
		t.Error("a browser without the token sees a page")
	}
	wrong := open(t, browser(t), base+"/?t="+fmt.Sprintf("%032d", 7))
	if !strings.Contains(wrong.is("document.body.textContent"), "not the address") {
		t.Error("a wrong token is let in")
	}
}
