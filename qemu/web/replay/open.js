"use strict";
// What view.go does with a recording, so that a page can open one without a server: view makes of a text the same
// View, and fill puts it into an empty fragment, whose hooks (data-t and others) say what goes where.
const view = (() => {
  const clean = s => String(s).replace(/[\p{Cc}\p{Bidi_C}]/gu, ".");
  const hex = n => "0x" + n.toString(16);
  const micros = ns => `+${(Math.floor((Math.max(0, ns) + 50) / 100) / 10).toFixed(1)} µs`;
  const bytes = s => s ? clean(s).split(/\s+/).filter(x => x) : null;
  const names = "AX BX CX DI SI R8 R9 R10 R11 DX R12 R13 R14 R15 BP SP IP FLAGS".split(" ");
  const flags = [[0, "CF"], [2, "PF"], [4, "AF"], [6, "ZF"], [7, "SF"], [8, "TF"], [9, "IF"], [10, "DF"], [11, "OF"], [16, "RF"]];
  const copies = {"to-slot": "slot", "to-step": "slot", "stepped": "slot", "to-detour": "detour"};
  const most = 1 << 20, shown = 10;

  const no = why => { throw new Error("This is not what glass -j or glass -o -j prints: " + why); };

  function parse(text) {
    if (text.length > most) no(`it has ${text.length} bytes; at most ${most} are read`);
    let rec;
    try { rec = JSON.parse(text); } catch (e) { no(e.message); }
    if (rec?.version !== 1) no(`its version is ${rec?.version}, not 1`);
    if (!rec.frames?.length && !rec.steps?.length) no("it has neither frames nor steps");
    return rec;
  }

  function warning(rec) {
    const all = [];
    if (rec.lost > 0) all.push(`${rec.lost} more are lost: there was no room for them.`);
    if (rec.frames && !rec.complete) all.push("The hit was not over when the recording ended.");
    return all.join(" ");
  }

  const letters = w => flags.filter(([bit]) => w >> BigInt(bit) & 1n).map(f => f[1]);

  function reg(known, f, name, before) {
    const was = known.get(name), changed = f.regs[name] !== undefined;
    if (!changed && was === undefined) return null;
    const now = changed ? BigInt(f.regs[name]) : was;
    known.set(name, now);
    const r = {Name: name, Value: hex(now), Letters: name === "FLAGS" ? letters(now).join(" ") : "", Was: ""};
    if (changed && before && was === undefined) r.Was = "new";
    else if (changed && before) {
      const turned = name !== "FLAGS" ? [] : [...letters(now & ~was).map(n => `+${n} `), ...letters(was & ~now).map(n => `−${n} `)];
      r.Was = turned.join("") + "was " + hex(was);
    }
    return r;
  }

  function words(stack, f, sp, before) {
    const changed = new Map();
    for (const w of f.stack ?? []) {
      const addr = BigInt(w.addr), value = hex(BigInt(w.word)), old = stack.get(addr);
      if (before && old && old.Value !== value) changed.set(addr, "was " + old.Value);
      else if (before && !old) changed.set(addr, "new");
      stack.set(addr, {Value: value, Is: clean(w.is)});
    }
    const all = [];
    for (let n = 0n; n < 8n; n++) {
      const addr = (sp ?? 0n) + 8n * n, w = stack.get(addr);
      if (w) all.push({...w, Offset: "SP+" + hex(8n * n), Was: changed.get(addr) ?? ""});
    }
    return all;
  }

  const cells = (b, original, n, at) => b.slice(0, n).map((Byte, i) => ({Byte, Differs: i < original.length && Byte !== original[i], At: i === at}));

  function differ(all) {
    const n = all.filter(c => c.Differs).length;
    if (n === 0) return "the same";
    const first = all[0].Differs ? {cc: ": cc is INT3", e9: ": e9 is JMP"}[all[0].Byte] ?? "" : "";
    return (n === 1 ? "1 byte differs" : `${n} bytes differ`) + first;
  }

  function rows(s, f, was) {
    const original = s.rec.original.flatMap(c => bytes(c.bytes) ?? []), n = Math.max(shown, original.length), all = [];
    const ip = f.ip ? BigInt(f.ip.addr) : null;
    let inSite = false;
    if (original.length > 0) {
      const site = BigInt(s.rec.original[0].addr);
      inSite = ip !== null && ip >= site && ip - site < n;
      all.push({Label: "as compiled", Addr: hex(site), Cells: cells(original, [], n, -1), Note: s.rec.original.map(c => clean(c.asm)).join("; ")});
      if (s.text) {
        const now = {Label: "in memory", Addr: hex(site), Cells: cells(s.text, original, n, inSite ? Number(ip - site) : -1)};
        now.Note = differ(now.Cells) + (was && was.join() !== s.text.join() ? " ◀ changed" : "");
        all.push(now);
      }
    }
    const there = f.ip && bytes(f.ip.bytes), label = copies[f.stage];
    if (!there || inSite) return all;
    const away = at => ip < at || ip - at >= n;
    if (label && (s.copy?.Label !== label || away(s.at))) {
      s.at = ip;
      s.copy = {Label: label, Addr: hex(ip), Cells: cells(there, original, n, -1)};
    }
    if (s.copy && ip >= s.at && ip - s.at < s.copy.Cells.length) {
      const row = {...s.copy, Cells: s.copy.Cells.map((c, i) => ({...c, At: i === Number(ip - s.at)}))};
      row.Note = clean(f.ip.asm);
      return [...all, row];
    }
    return [...all, {Label: "at IP", Addr: hex(ip), Cells: cells(there, [], n, 0), Note: clean(f.ip.asm)}];
  }

  function frame(s, f, i) {
    const Time = micros(f.t - s.last);
    s.last = f.t;
    const was = s.text;
    s.text = bytes(f.text) ?? s.text;
    return {
      N: i + 1, Of: s.rec.frames.length, Stage: clean(f.stage), Says: clean(f.says), Meta: `CPU ${f.cpu} · ${Time}, ${micros(f.t)} in all`, Time,
      Note: !f.ip && Object.keys(f.regs).length === 0 ? "Nothing else is recorded here. What follows is as in the frame before." : "",
      IP: f.ip ? hex(BigInt(f.ip.addr)) : "", Is: clean(f.ip?.is ?? ""), Asm: clean(f.ip?.asm ?? ""),
      Regs: names.map(name => reg(s.regs, f, name, i > 0)).filter(r => r), Rows: rows(s, f, was), Stack: words(s.stack, f, s.regs.get("SP"), i > 0),
      Lanes: [], Code: "",
    };
  }

  function way(rec) {
    const CPUs = Array.from({length: Math.min(rec.cpus, 64)}, (_, i) => "CPU " + i);
    let last = 0, code = null;
    return {Tier: "from INT3 to jump, and back", Facts: rec.cpus + " CPUs", CPUs, Frames: rec.steps.map((s, i) => {
      const Time = micros(s.t - last), Says = clean(s.says), now = bytes(s.text);
      last = s.t;
      code = now ?? code;
      const Rows = code ? [{Label: "at the place", Addr: "", Cells: cells(code, [], shown, -1), Note: now ? "◀ changed" : ""}] : [];
      return {N: i + 1, Of: rec.steps.length, Stage: clean(s.step), Says, Time, Meta: `CPU ${s.cpu} · ${Time}, ${micros(s.t)} in all`, Code: (now ?? []).join(" "), Rows,
        Note: "", IP: "", Is: "", Asm: "", Regs: [], Stack: [], Lanes: CPUs.map((Name, cpu) => ({Name, Says: cpu === s.cpu ? Says : ""}))};
    })};
  }

  function made(rec) {
    const whole = {
      Place: clean(rec.place), Tier: clean(rec.tier ?? ""), Source: rec.file ? `${clean(rec.file)}:${rec.line}` : "", Warning: warning(rec),
      Explain: String(rec.explain ?? "").split("\n").map(l => clean(l.replaceAll("\t", "    "))).join("\n").trim(), CPUs: [],
    };
    if (!rec.frames) return {...whole, ...way(rec)};
    const {goroutine, pid, tid} = rec.frames[0].who, s = {rec, regs: new Map(), stack: new Map(), last: 0, text: null, copy: null, at: 0n};
    whole.Facts = `hit ${rec.hit}, ` + (pid ? `process ${pid}, thread ${tid}` : `goroutine ${goroutine}`);
    return {...whole, Frames: rec.frames.map((f, i) => frame(s, f, i))};
  }

  return text => {
    const rec = parse(text);
    try { return made(rec); } catch (e) { no(e.message); }
  };
})();

function fill(at, value) {
  const of = name => name === "." ? value : value[name], d = at.dataset ?? {};
  if (d.t) at.textContent = of(d.t);
  if (d.if) { const v = of(d.if); at.hidden = Array.isArray(v) ? v.length === 0 : !v; }
  if (d.c) for (const [field, name] of d.c.split(" ").map(c => c.split(":"))) at.classList.toggle(name, Boolean(of(field)));
  if (!d.each) return [...at.children].forEach(child => fill(child, value));
  const first = at.firstElementChild;
  at.replaceChildren(...of(d.each).map(v => { const one = first.cloneNode(true); fill(one, v); return one; }));
}
