"use strict";
// The page asks the server by fetch, and hears by a stream of events. It makes no HTML: fragments come from the
// server, and all other text is put in as text.
const $ = id => document.getElementById(id);
const state = {page: 0, boot: "", fn: "", tab: "glass", runs: new Map(), early: new Map(), lines: new Map(), frozen: false, at: 0, player: null, raw: ""};

function say(text, wrong = false) { $("said").textContent = text; $("said").classList.toggle("wrong", wrong); }
function show(command) { $("command").textContent = command; $("copy").disabled = !command; }

async function ask(path, body) {
  const options = body && {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body)};
  const r = await fetch(path, options);
  const v = await r.json().catch(() => ({error: `the server answers ${r.status}`}));
  if (v.error) throw new Error(v.error);
  return v;
}
const told = f => async (...args) => { try { return await f(...args); } catch (e) { say(e.message, true); } };

// What is seen is in the address: f the function, c the lines that count, t the tab, s its script, r a recording, n its step.
function address() { return new URLSearchParams(location.hash.slice(1)); }
function keep(changes) {
  const a = address();
  for (const [k, v] of Object.entries(changes)) v ? a.set(k, v) : a.delete(k);
  history.replaceState(null, "", "#" + a);
}

// Runs

// start starts something; hear gets its events.
async function start(request, hear) {
  const v = await ask("/start", {page: state.page, ...request});
  const run = {id: v.id, hear};
  setTimeout(() => { // the caller knows the run by then
    const early = state.early.get(v.id) ?? [];
    state.early.delete(v.id);
    state.runs.set(v.id, run);
    early.forEach(heard);
  });
  show(v.command);
  return run;
}
function stop(run) { return ask("/stop", {page: state.page, id: run.id}).catch(() => {}); }

function heard(e) {
  if (e.kind === "page") return begin(e.page);
  if (e.kind === "kernel") return kernel(e);
  const run = state.runs.get(e.id);
  if (!run) { // what is started may speak before the answer is here that says which it is
    state.early.set(e.id, [...state.early.get(e.id) ?? [], e]);
    return;
  }
  if (e.kind === "end") state.runs.delete(e.id);
  run.hear(e);
}

function connect() {
  const stream = new EventSource("/events");
  stream.onmessage = m => heard(JSON.parse(m.data));
  stream.addEventListener("full", m => { stream.close(); say(JSON.parse(m.data), true); });
  stream.onerror = () => { // it connects again, and is a new page then
    $("kernel").textContent = "the launcher does not answer";
    $("kernel").classList.add("gone");
  };
}

// begin: a connection is new; what ran in the one before has ended.
async function begin(page) {
  state.page = page;
  state.runs.clear();
  state.early.clear();
}

async function kernel(e) {
  $("kernel").textContent = e.text;
  $("kernel").classList.toggle("gone", !e.here);
  if (!e.here || state.boot === e.boot + " " + state.page) return;
  state.boot = e.boot + " " + state.page;
  await restore();
}

// restore brings back what the address says.
const restore = told(async () => {
  const a = address(), counts = (a.get("c") ?? "").split(",").filter(x => x);
  state.lines.clear();
  select(a.get("t") ?? "glass");
  if (a.get("f")) await open(a.get("f"), false);
  for (const place of counts) await toggle(place, true);
  const panel = $(a.get("t"));
  if (panel?.classList.contains("scripted") && a.get("s")) {
    panel.querySelector("textarea").value = a.get("s");
    await scripted(panel);
  }
  if (a.get("r")) replayed(await ask("/replay", {Kind: a.get("r")}), Number(a.get("n")));
});

// Source

const open = told(async (what, fresh = true) => {
  say("asking the kernel about " + what);
  const v = await ask("/source?f=" + encodeURIComponent(what));
  say("");
  $("about").hidden = true;
  $("source").innerHTML = v.html; // made by html/template
  $("function").textContent = (v.base || "") + " " + v.file + ":" + v.first;
  state.fn = v.function;
  state.base = v.base;
  state.others = v.others;
  for (const [place, line] of state.lines) painted(place, line);
  if (!fresh) return;
  keep({f: what});
  move(0);
  if (v.base) {
    $("record").elements.place.value = v.base;
    if (v.program) $("record").elements.command.value = v.base.split(":")[0];
    for (const [kind, script] of Object.entries(scripts(v.base))) $(kind).querySelector("textarea").value = script;
  }
});

// refresh asks again what the lines are, and leaves the numbers.
const refresh = told(async () => {
  const what = address().get("f");
  if (!what) return;
  const v = await ask("/source?f=" + encodeURIComponent(what)), fresh = document.createElement("div");
  fresh.innerHTML = v.html;
  for (const li of fresh.querySelectorAll("li[data-mark]")) {
    const old = $(li.id), mark = old?.querySelector(".mark"), now = li.querySelector(".mark");
    if (!mark) continue;
    old.dataset.mark = li.dataset.mark;
    old.toggleAttribute("data-now", li.hasAttribute("data-now"));
    mark.textContent = now.textContent;
    mark.title = now.title;
    mark.setAttribute("aria-label", now.getAttribute("aria-label"));
  }
});

const rowOf = place => [...document.querySelectorAll(".code li[data-place]")].find(li => li.dataset.place === place);
function painted(place, line) {
  const li = rowOf(place);
  if (!li) return;
  li.classList.toggle("counts", Boolean(line.run));
  if (!state.frozen) li.querySelector("output").textContent = line.n ?? "";
}

// toggle counts a line, or stops that; the number stays.
const toggle = told(async (place, quiet = false) => {
  const was = state.lines.get(place);
  if (was?.run) {
    await stop(was.run);
    return;
  }
  if (rowOf(place)?.dataset.mark === "refused") return say(rowOf(place).querySelector(".mark").title, true);
  const line = {n: undefined, run: null};
  state.lines.set(place, line);
  line.run = await start({kind: "count", place}, e => {
    if (e.kind === "count") {
      const first = line.n === undefined;
      line.n = e.n;
      if (first) setTimeout(refresh, 700); // the breakpoint has become a jump by then, if it can
    } else if (e.kind === "lines") say(e.lines.join("\n"));
    else if (e.kind === "end") {
      line.run = null;
      if (e.text) say(e.text, true);
      counting();
      refresh();
    }
    painted(place, line);
  });
  counting();
  painted(place, line);
  if (!quiet) say("counting " + place);
});
function counting() { keep({c: [...state.lines].filter(([, l]) => l.run).map(([p]) => p).join(",")}); }

// move goes to the next line with a mark.
function move(by) {
  const all = [...document.querySelectorAll(".code li[data-place]")];
  if (!all.length) return;
  state.at = Math.min(Math.max(0, by ? state.at + by : 0), all.length - 1);
  document.querySelector(".code li.at")?.classList.remove("at");
  all[state.at].classList.add("at");
  if (by) all[state.at].querySelector(".mark").focus();
  all[state.at].scrollIntoView({block: "nearest"});
}
function current() { return document.activeElement?.closest?.("li[data-place]") ?? document.querySelector(".code li.at"); }

$("source").addEventListener("click", e => {
  const call = e.target.closest("[data-call]"), li = e.target.closest("li[data-place]");
  if (call) {
    e.preventDefault();
    follow(call.dataset.call);
  } else if (li) {
    state.at = [...document.querySelectorAll(".code li[data-place]")].indexOf(li);
    document.querySelector(".code li.at")?.classList.remove("at");
    li.classList.add("at");
    toggle(li.dataset.place);
  }
});
$("source").addEventListener("contextmenu", e => {
  const li = e.target.closest("li[data-place]");
  if (li) { e.preventDefault(); menu(li, e.clientX, e.clientY); }
});
const follow = told(async name => {
  const v = await ask("/find?" + new URLSearchParams({q: name, from: state.fn}));
  const same = v.found.filter(f => f.name.split(/[.:]/).at(-1) === name);
  if (same.length === 1) return open(same[0].base);
  if (!v.found.length) return say(`no function of the kernel is called ${name}: it may be inlined everywhere, or part of the language`, true);
  $("q").value = name;
  list(v);
  $("found").querySelector("button").focus();
});

// The menu of a line

function menu(li, x, y) {
  const m = $("menu"), box = li.getBoundingClientRect();
  m.hidden = false;
  m.place = li.dataset.place;
  m.style.left = Math.min(x ?? box.left + 40, innerWidth - 220) + "px";
  m.style.top = Math.min(y ?? box.bottom, innerHeight - 170) + "px";
  m.querySelector("button").focus();
}
function script(kind, text) {
  $(kind).querySelector("textarea").value = text;
  select(kind);
  return scripted($(kind));
}
const act = told(async (what, place) => {
  if (what === "count") return toggle(place);
  if (what === "stacks") return script("stacks", `${place} ${state.others}{ @[${stackOf(place)}] = count(); } interval:s:1 { print(@, 200); }`);
  if (what === "who") return script("stacks", `${place} ${state.others}{ @[comm, tid] = count(); } interval:s:1 { print(@); }`);
  if (what === "hist") return script("hist", scripts(state.base).hist);
  select("glass");
  $("record").elements.place.value = place.replace(/^(line|uprobe):/, "");
  return record();
});
$("menu").addEventListener("click", e => {
  const what = e.target.dataset.do;
  $("menu").hidden = true;
  if (what) act(what, $("menu").place);
});

// Finding

function list(v) {
  const items = v.found.map(f => {
    const li = document.createElement("li"), b = document.createElement("button");
    b.type = "button";
    b.textContent = f.name;
    b.dataset.open = f.base;
    li.append(b);
    return li;
  });
  if (v.more) { const li = document.createElement("li"); li.textContent = `and ${v.more} more`; items.push(li); }
  if (!items.length) { const li = document.createElement("li"); li.textContent = "no function has that in its name"; items.push(li); }
  $("found").replaceChildren(...items);
  $("found").hidden = false;
}
let asked = 0;
$("q").addEventListener("input", told(async () => {
  const q = $("q").value.trim(), n = ++asked;
  if (!q || /\.go:/.test(q)) { $("found").hidden = true; return; }
  const v = await ask("/find?" + new URLSearchParams({q}));
  if (n === asked) list(v);
}));
$("find").addEventListener("submit", e => {
  e.preventDefault();
  const q = $("q").value.trim(), first = $("found").hidden || /\.go:/.test(q) ? null : $("found").querySelector("[data-open]");
  asked++; // an answer that is still to come is too late
  $("found").hidden = true;
  if (q) open(first?.dataset.open ?? q);
});
document.addEventListener("click", e => {
  const b = e.target.closest("[data-open]");
  if (b) { asked++; $("found").hidden = true; open(b.dataset.open); }
  else if (!e.target.closest("#find")) $("found").hidden = true;
  if (!e.target.closest("#menu") && e.type === "click") $("menu").hidden = true;
});
$("found").addEventListener("keydown", e => {
  const all = [...$("found").querySelectorAll("button")], i = all.indexOf(document.activeElement);
  const to = e.key === "ArrowDown" ? all[i + 1] : e.key === "ArrowUp" ? all[i - 1] ?? $("q") : null;
  if (to) { e.preventDefault(); to.focus(); }
});
$("q").addEventListener("keydown", e => { if (e.key === "ArrowDown") { e.preventDefault(); $("found").querySelector("button")?.focus(); } });

// Tabs

const tabs = [...document.querySelectorAll("[role=tab]")];
let looking = 0, log = null;
function select(name) {
  if (!$("tab-" + name)) name = "glass";
  state.tab = name;
  for (const t of tabs) {
    const on = t.id === "tab-" + name;
    t.setAttribute("aria-selected", on);
    t.tabIndex = on ? 0 : -1;
    $(t.getAttribute("aria-controls")).hidden = !on;
  }
  clearInterval(looking);
  if (name === "probes") { probes(); looking = setInterval(probes, 2000); }
  if (name === "log" && !log && state.page) follows();
}
for (const t of tabs) t.addEventListener("click", () => { select(t.id.slice(4)); keep({t: state.tab}); });
document.querySelector("[role=tablist]").addEventListener("keydown", e => {
  const by = {ArrowRight: 1, ArrowLeft: -1}[e.key];
  if (!by) return;
  e.stopPropagation();
  const to = tabs[(tabs.findIndex(t => t.id === "tab-" + state.tab) + by + tabs.length) % tabs.length];
  to.click();
  to.focus();
});
const probes = told(async () => {
  const command = $("command").textContent;
  let text = "";
  await start({kind: "probes"}, e => {
    if (e.kind === "lines") text += e.lines.join("\n") + "\n";
    if (e.kind === "end" && !state.frozen) $("probes").querySelector("pre").textContent = text || e.text;
  });
  if (command) show(command);
});
function print(pre, lines, most = 2000) {
  const all = (pre.textContent + lines.join("\n") + "\n").split("\n");
  pre.textContent = all.slice(-most).join("\n");
  pre.scrollTop = pre.scrollHeight;
}
const follows = told(async () => {
  const pre = $("log").querySelector("pre");
  pre.textContent = "";
  log = await start({kind: "log"}, e => {
    if (e.kind === "lines") print(pre, e.lines);
    if (e.kind === "end") log = null;
  });
});
$("log").addEventListener("click", () => { // FILE:LINE under the pointer
  const s = getSelection(), line = s.anchorNode?.textContent.slice(0, s.anchorOffset).split("\n").at(-1) + s.anchorNode?.textContent.slice(s.anchorOffset).split("\n")[0];
  const at = /([\w/.-]+\.go):(\d+)/.exec(line ?? "");
  if (at) open(`${at[1]}:${Math.max(1, at[2] - 10)}-${Number(at[2]) + 10}`);
});

// Scripts

const stackOf = place => place.startsWith("uprobe:") ? "ustack" : "kstack";
const scripts = (fn, of = fn.startsWith("/") ? "u" : "k") => ({
  hist: `${of}probe:${fn} { @start[tid] = nsecs; } ${of}retprobe:${fn} /@start[tid]/ { @ns = hist(nsecs - @start[tid]); delete(@start[tid]); } interval:ms:500 { print(@ns); }`,
  stacks: `${of}probe:${fn} { @[${of}stack] = count(); } interval:s:1 { print(@, 200); }`,
  timeline: `${of}probe:${fn} { printf("${fn.replaceAll('"', "")}"); } ${of}retprobe:${fn} { printf("${fn.replaceAll('"', "")}"); }`,
});
for (const [kind, text] of Object.entries(scripts("vfs.Read"))) $(kind).querySelector("textarea").value = text;

const scripted = told(async panel => {
  const form = panel.querySelector("form"), picture = panel.querySelector(".picture"), pre = panel.querySelector("pre");
  if (panel.run) await stop(panel.run);
  pre.textContent = "";
  const run = await start({kind: panel.id, script: form.elements.script.value}, e => {
    if (e.kind === "lines") print(pre, e.lines);
    if (e.kind === "picture" && !state.frozen) put(picture, e.html);
    if (e.kind === "end" && panel.run === run) {
      panel.run = null;
      form.elements.stop.disabled = form.elements.remember.disabled = true;
      if (e.text) print(pre, [e.text]);
    }
  });
  panel.run = run;
  form.elements.stop.disabled = form.elements.remember.disabled = false;
  for (const [name, as] of [["save", "svg"], ["json", "json"], ["folded", "folded"]]) {
    const a = form.querySelector("." + name);
    if (!a) continue;
    a.hidden = false;
    a.href = "/save?" + new URLSearchParams({page: state.page, id: run.id, as});
  }
  keep({t: panel.id, s: form.elements.script.value});
  say("running");
});
// put shows a picture; the zoom of a flame graph stays.
function put(at, html) {
  at.innerHTML = html; // made by package draw
  at.flame ??= {};
  for (const svg of at.querySelectorAll("svg.flame")) flame(svg, at.flame);
}
for (const panel of document.querySelectorAll(".scripted")) {
  const form = panel.querySelector("form");
  form.addEventListener("submit", e => { e.preventDefault(); scripted(panel); });
  form.elements.stop.addEventListener("click", () => panel.run && stop(panel.run));
  form.elements.remember.addEventListener("click", told(async () => {
    await ask("/remember", {page: state.page, id: panel.run.id});
    say("remembered: from now on the picture shows what has changed");
  }));
}

// Commands

let ran = null;
$("run").addEventListener("submit", told(async e => {
  e.preventDefault();
  const text = $("line").value.trim(), pre = $("ran").querySelector("pre");
  if (!text) return;
  if (ran) await stop(ran);
  $("ran").hidden = false;
  pre.textContent = "";
  const run = await start({kind: "line", script: text}, e => {
    if (e.kind === "lines") print(pre, e.lines);
    if (e.kind === "end" && ran === run) {
      ran = null;
      $("interrupt").disabled = true;
      print(pre, [e.text, `status ${e.n}`].filter(x => x));
    }
  });
  ran = run;
  $("interrupt").disabled = false;
}));
$("interrupt").addEventListener("click", () => ran && stop(ran));
$("copy").addEventListener("click", told(async () => {
  await navigator.clipboard.writeText($("command").textContent);
  say("copied");
}));

// Replay

function replayed(v, n = 1) {
  const beside = $("kept").elements.beside.checked && $("replays").children.length > 0, box = document.createElement("div");
  box.innerHTML = v.html; // made by html/template
  if (beside) $("replays").lastElementChild.replaceWith($("replays").firstElementChild, box);
  else $("replays").replaceChildren(box);
  state.player?.end();
  state.player = replay([...$("replays").querySelectorAll(".rp")], {f: n || 1, changed: s => keep({n: s.f > 1 ? s.f : ""})});
  state.raw = v.text;
  $("save-glass").disabled = false;
  if (v.command) show(v.command);
}
const record = told(async () => {
  const f = $("record").elements;
  say("waiting for a hit of " + f.place.value);
  const v = await ask("/glass", {place: f.place.value.trim(), tier: f.tier.value, hit: Number(f.hit.value), way: f.way.checked, command: f.command.value});
  keep({r: "", n: ""});
  replayed(v);
  say("recorded; ← and → step through it");
});
$("record").addEventListener("submit", e => { e.preventDefault(); record(); });
$("kept").elements.kind.addEventListener("change", told(async e => {
  if (!e.target.value) return;
  replayed(await ask("/replay", {Kind: e.target.value}));
  keep({r: e.target.value});
}));
$("kept").elements.file.addEventListener("change", told(async e => {
  const text = await e.target.files[0]?.text();
  if (text) replayed(await ask("/replay", {Text: text}));
}));
$("save-glass").addEventListener("click", () => {
  const a = document.createElement("a");
  a.href = URL.createObjectURL(new Blob([state.raw], {type: "application/json"}));
  a.download = "recording.json";
  a.click();
  URL.revokeObjectURL(a.href);
});

// Keys

const does = {
  "/": () => $("q").focus(), j: () => move(1), k: () => move(-1), "?": () => $("help").showModal(),
  m: () => current() && menu(current()), g: () => current() && act("glass", current().dataset.place),
  Enter: () => current() && toggle(current().dataset.place),
  " ": () => { state.frozen = !state.frozen; say(state.frozen ? "frozen; counting goes on" : ""); for (const [p, l] of state.lines) painted(p, l); },
  p: () => document.body.classList.toggle("presents"),
  d: () => { const r = document.documentElement, dark = r.dataset.theme ? r.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches; r.dataset.theme = dark ? "light" : "dark"; },
};
document.addEventListener("keydown", e => {
  if (e.key === "Escape") { $("found").hidden = true; $("menu").hidden = true; return; }
  if (e.ctrlKey || e.altKey || e.metaKey || e.target.closest("input, select, textarea, dialog, #menu")) return;
  if ((e.key === "Enter" || e.key === " ") && e.target.closest("button, a, .button, .frame")) return;
  const act = does[e.key];
  if (act) { e.preventDefault(); act(); }
});
$("menu").addEventListener("keydown", e => {
  const all = [...$("menu").querySelectorAll("button")], i = all.indexOf(document.activeElement), by = {ArrowDown: 1, ArrowUp: -1}[e.key];
  if (by) { e.preventDefault(); all[(i + by + all.length) % all.length].focus(); }
});
$("keys").addEventListener("click", () => $("help").showModal());

connect();
